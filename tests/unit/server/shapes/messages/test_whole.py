"""Whole answers, as messages."""

from __future__ import annotations

import msgspec
import pytest

from hybridge.core.response import Usage
from hybridge.core.wire import completion
from hybridge.server.shapes.messages.message import usage_object

ENABLED = {"thinking": {"type": "enabled", "budget_tokens": 2048}}


def call(arguments: str, name: str = "weather", call_id: str = "call_1"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_plain_answer(answer, whole):
    assert whole(answer(content="Hello.")) == {
        "id": "msg_0a",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": [{"type": "text", "text": "Hello."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 4,
            "output_tokens": 6,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "estimated": True,
        },
    }


def test_the_report_is_a_member(answer, whole):
    told = whole(answer(content="Hi"), report=b'{"route":"edge"}')
    assert told["hybridge"] == {"route": "edge"}


def test_a_model_that_does_not_say_its_name_has_the_one_that_was_asked_for(whole):
    bare = completion(b'{"choices":[{"message":{"content":"Hi"}}]}')
    assert whole(bare, model="mine")["model"] == "mine"


def test_words_and_calls(answer, whole):
    told = whole(
        answer(
            "tool_calls",
            content="Let me look.",
            tool_calls=[call('{"city":"北京"}'), call("", "time", "call_2")],
        )
    )
    assert told["content"] == [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "北京"}},
        {"type": "tool_use", "id": "call_2", "name": "time", "input": {}},
    ]
    assert told["stop_reason"] == "tool_use"


@pytest.mark.parametrize("arguments", ["", "{}", "null", None])
def test_a_call_without_arguments_has_an_empty_input(answer, whole, arguments):
    assert whole(answer("tool_calls", tool_calls=[call(arguments)]))["content"][0]["input"] == {}


def test_a_call_without_an_id_gets_one(answer, whole):
    told = whole(answer("tool_calls", tool_calls=[call("{}", call_id=""), call("{}", call_id="")]))
    assert [block["id"] for block in told["content"]] == ["toolu_0a_0", "toolu_0a_1"]


@pytest.mark.parametrize("arguments", ['{"city": "Bei', '"Beijing"', "[1]", "call me"])
def test_arguments_that_are_no_object_travel_in_one(answer, whole, arguments):
    told = whole(answer("length", tool_calls=[call(arguments)]))
    assert told["content"][0]["input"] == {"INVALID_JSON": arguments}
    assert told["stop_reason"] == "max_tokens"


@pytest.mark.parametrize("member", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize(
    ("members", "shown"),
    [
        (ENABLED, True),
        ({"thinking": {"type": "adaptive"}}, True),
        ({"thinking": {"type": "adaptive", "display": "omitted"}}, False),
        ({"thinking": {"type": "adaptive", "display": "updates"}}, False),
        ({"thinking": {"type": "disabled"}}, False),
        ({"thinking": {"type": "between_tools"}}, False),
        ({}, False),
    ],
)
def test_thoughts_are_shown_to_who_asked_for_them(answer, whole, member, members, shown):
    told = whole(answer(content="Yes.", **{member: "Hm."}), **members)
    thought = {"type": "thinking", "thinking": "Hm.", "signature": ""}
    text = {"type": "text", "text": "Yes."}
    assert told["content"] == ([thought, text] if shown else [text])


def test_an_empty_answer_has_no_blocks(answer, whole):
    told = whole(answer(content=""))
    assert (told["content"], told["stop_reason"]) == ([], "end_turn")


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("function_call", "tool_use"),
        ("eos", "end_turn"),
    ],
)
def test_endings(answer, whole, finish, reason):
    assert whole(answer(finish, content="Hi"))["stop_reason"] == reason


def test_a_call_that_was_asked_for_ends_with_stop_at_some(answer, whole):
    assert whole(answer("stop", tool_calls=[call("{}")]))["stop_reason"] == "tool_use"


def test_a_refusal_is_text_that_says_so(answer, whole):
    told = whole(answer(refusal="I can't."))
    assert told["content"] == [{"type": "text", "text": "I can't."}]
    assert told["stop_reason"] == "refusal"


@pytest.mark.parametrize("member", ["stop_reason", "matched_stop"])
@pytest.mark.parametrize(
    ("met", "reason", "sequence"),
    [
        ("END", "stop_sequence", "END"),
        ("</tool>", "end_turn", None),
        (151645, "end_turn", None),
        (None, "end_turn", None),
    ],
)
def test_a_stop_sequence_that_the_backend_names(answer, whole, member, met, reason, sequence):
    told = whole(answer(content="Hi", choice={member: met}), stop_sequences=["END", "\n\n"])
    assert (told["stop_reason"], told["stop_sequence"]) == (reason, sequence)


def test_a_stop_that_the_backend_does_not_explain_ends_the_turn(answer, whole):
    assert whole(answer(content="Hi"), stop_sequences=["END"])["stop_reason"] == "end_turn"


def test_a_stop_sequence_that_nobody_asked_for_is_none(answer, whole):
    told = whole(answer(content="Hi", choice={"stop_reason": "END"}))
    assert told["stop_reason"] == "end_turn"


def test_usage_of_the_backend(answer, whole):
    given = msgspec.json.decode(answer(content="Hi").wire)
    given["usage"] = {
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    assert whole(completion(msgspec.json.encode(given)))["usage"] == {
        "input_tokens": 2,
        "output_tokens": 2,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 8,
    }


def test_tokens_are_never_fewer_than_none():
    assert usage_object(Usage(3, 1, cached_tokens=5))["input_tokens"] == 0
