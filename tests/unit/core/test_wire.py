"""Reading the chat-completions format, and rewriting no more of it than needed."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.response import Token, Usage
from hybridge.core.wire import (
    ErrorInBand,
    Malformed,
    chunk,
    completion,
    hide_logprobs,
    splice,
)

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)
OBJECTS = st.dictionaries(st.text(), VALUES)


def wire(**body) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


def delta(content=None, *, index=0, finish_reason=None, **more):
    said = {"content": content} | more.pop("delta", {})
    return {"index": index, "delta": said, "finish_reason": finish_reason} | more


def test_a_chunk_keeps_its_bytes_and_shows_what_is_read_of_it():
    tokens = [{"token": "你好", "logprob": -0.5, "bytes": None, "top_logprobs": []}]
    sent = wire(model="m", choices=[delta("你好", logprobs={"content": tokens})], unknown={"a": 1})
    piece = chunk(sent)
    assert piece.wire is sent
    assert (piece.text, piece.model, piece.finish_reason) == ("你好", "m", None)
    assert piece.tokens == (Token("你好", -0.5),)
    assert piece.has_choices
    assert not piece.has_tool_calls


def test_only_choice_0_is_read_wherever_it_stands():
    assert chunk(wire(choices=[delta("b", index=1), delta("a")])).text == "a"
    other = chunk(wire(choices=[delta("b", index=1, finish_reason="stop")]))
    assert (other.text, other.finish_reason, other.has_choices) == ("", None, True)


def test_the_trailing_usage_chunk_has_no_choices():
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    piece = chunk(wire(choices=[], usage=usage))
    assert not piece.has_choices
    assert piece.usage == Usage(9, 4)


@pytest.mark.parametrize(
    "where",
    [
        {"prompt_tokens_details": {"cached_tokens": 3}},
        {"cached_tokens": 3},
        {"prompt_cache_hit_tokens": 3, "prompt_cache_miss_tokens": 6},
        {"prompt_tokens_details": None, "cached_tokens": 3},
    ],
)
def test_cached_tokens_are_found_where_providers_put_them(where):
    usage = {"prompt_tokens": 9, "completion_tokens": 4} | where
    assert chunk(wire(choices=[], usage=usage)).usage == Usage(9, 4, cached_tokens=3)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None, "completion_tokens": None}])
def test_usage_that_says_nothing_is_none(usage):
    assert chunk(wire(choices=[delta("a")], usage=usage)).usage is None


def test_text_in_parts_is_joined():
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}, {"text": "b"}]
    assert chunk(wire(choices=[delta(parts)])).text == "ab"


def test_a_tool_call_shows():
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    assert chunk(wire(choices=[delta(delta={"tool_calls": [call]})])).has_tool_calls
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    whole = completion(wire(choices=[{"message": message, "finish_reason": "tool_calls"}]))
    assert whole.has_tool_calls
    assert whole.text == ""


@pytest.mark.parametrize("read", [chunk, completion])
@pytest.mark.parametrize("error", [{"message": "no"}, "no", {"message": "no", "code": 429}])
def test_an_error_in_an_answers_place_is_told_apart(read, error):
    with pytest.raises(ErrorInBand) as caught:
        read(wire(error=error))
    assert caught.value.body["message"] == "no"


@pytest.mark.parametrize("read", [chunk, completion])
@pytest.mark.parametrize(
    "bare",
    [
        {"object": "error", "message": "no", "type": "BadRequestError", "code": 400},
        {"message": "no", "code": "overloaded"},
    ],
)
def test_an_error_that_stands_by_itself_is_told_apart(read, bare):
    with pytest.raises(ErrorInBand) as caught:
        read(wire(**bare))
    assert caught.value.body["message"] == "no"


def test_a_chunk_that_says_nothing_is_no_error():
    assert not chunk(b'{"id": "x", "object": "chat.completion.chunk"}').has_choices


def test_an_empty_error_member_is_no_error():
    assert chunk(wire(choices=[delta("a")], error=None)).text == "a"


@pytest.mark.parametrize("read", [chunk, completion])
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"<html></html>",
        b"[]",
        b"null",
        b'{"choices":',
        b'{"choices": 5}',
        b'{"choices": [{"delta": {"content": 5}, "message": {"content": 5}}]}',
        b'{"choices": [{"delta": {"tool_calls": [5]}, "message": {"tool_calls": [5]}}]}',
        b'{"choices": [{"delta": {"content": "\xff"}, "message": {"content": "\xff"}}]}',
        b"[" * 100_000,
    ],
)
def test_anything_else_is_malformed(read, sent):
    with pytest.raises(Malformed):
        read(sent)


@pytest.mark.parametrize("choices", [None, [], [{"index": 0}], [{"index": 1, "message": {}}]])
def test_a_whole_answer_needs_a_message(choices):
    with pytest.raises(Malformed):
        completion(wire(choices=choices))


@given(VALUES)
def test_any_json_is_read_or_malformed(value):
    sent = json.dumps(value).encode()
    for read in (chunk, completion):
        with suppress(Malformed):
            assert read(sent).wire == sent


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(sent):
    for read in (chunk, completion):
        with suppress(Malformed):
            read(sent)


@given(OBJECTS, st.text(), VALUES, st.text(" \t\r\n"), st.booleans())
def test_splicing_adds_one_member_and_touches_no_other_byte(body, key, value, space, indented):
    body.pop(key, None)
    before = json.dumps(body, indent=2 if indented else None).encode() + space.encode()
    after = splice(before, key, json.dumps(value).encode())
    assert json.loads(after) == body | {key: value}
    assert list(json.loads(after)) == [*body, key]
    assert after.startswith(before.rstrip()[:-1].rstrip())
    assert after.endswith(space.encode())


@pytest.mark.parametrize("sent", [b"", b"}", b"[]", b"  ", b'"{"', b"5"])
def test_only_an_object_can_be_spliced(sent):
    with pytest.raises(Malformed):
        splice(sent, "a", b"1")


def test_hidden_logprobs_stay_known_to_the_judge():
    logprobs = {"content": [{"token": "a", "logprob": -1.0}]}
    piece = hide_logprobs(chunk(wire(id="x", choices=[delta("a", logprobs=logprobs)])))
    assert b"logprob" not in piece.wire
    assert piece.tokens == (Token("a", -1.0),)
    assert json.loads(piece.wire)["id"] == "x"


def test_nothing_to_hide_leaves_the_bytes_alone():
    piece = chunk(wire(choices=[delta("a")]))
    assert hide_logprobs(piece) is piece
