"""The wire is read without being changed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.assembly import as_chunks, assemble
from hybridge.core.wire import ErrorInBand, Malformed, chunk, completion, splice
from hybridge.testing.backend import whole

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(body=st.dictionaries(st.text(), values, max_size=5), added=values, space=st.sampled_from(["", " ", "\n"]))
def test_splicing_adds_one_member_and_leaves_the_others_alone(body, added, space):
    body.pop("hybridge", None)
    raw = (json.dumps(body, ensure_ascii=False) + space).encode()
    spliced = splice(raw, "hybridge", json.dumps(added).encode())
    assert json.loads(spliced) == body | {"hybridge": added}
    assert spliced.startswith(raw.rstrip()[:-1].rstrip())


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"}", b'"x"'])
def test_splicing_into_what_is_no_object_is_refused(raw):
    with pytest.raises(Malformed):
        splice(raw, "a", b"1")


@given(st.text(min_size=1))
def test_a_whole_answer_told_as_a_stream_says_the_same(text):
    answer = whole(text, logprob=-0.5)
    chunks = as_chunks(answer)
    assert "".join(piece.text for piece in chunks) == text
    again = assemble(chunks)
    assert (again.text, again.finish_reason, again.usage) == (text, "stop", answer.usage)
    assert again.tokens == answer.tokens


def test_tool_calls_of_a_stream_are_merged_by_their_index():
    def piece(index, **function):
        call = {"index": index, "function": function}
        if "name" in function:
            call |= {"id": f"call_{index}", "type": "function"}
        delta = {"tool_calls": [call]}
        return chunk(json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode())

    told = [
        piece(0, name="a", arguments='{"x"'),
        piece(1, name="b", arguments='{"y"'),
        piece(0, arguments=":1}"),
        piece(1, arguments=":2}"),
        chunk(b'{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}'),
    ]
    calls = json.loads(assemble(told).wire)["choices"][0]["message"]["tool_calls"]
    assert [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in calls] == [
        ("call_0", "a", '{"x":1}'),
        ("call_1", "b", '{"y":2}'),
    ]


@pytest.mark.parametrize("read", [chunk, completion])
def test_an_error_in_the_place_of_an_answer_is_one(read):
    with pytest.raises(ErrorInBand) as raised:
        read(b'{"error": {"message": "no", "code": 500}}')
    assert raised.value.body["message"] == "no"


@pytest.mark.parametrize("raw", [b"", b"<html>", b'{"choices": 3}', b"\xff\xfe"])
def test_what_is_no_answer_is_malformed(raw):
    with pytest.raises(Malformed):
        completion(raw)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(raw):
    for read in (chunk, completion):
        try:
            read(raw)
        except Malformed:
            pass
