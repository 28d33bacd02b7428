"""Streams and whole answers are two forms of one thing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.assembly import as_chunks, assemble
from hybridge.core.response import Usage
from hybridge.core.wire import Malformed, chunk, completion

USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


def piece(*choices: dict[str, Any], **more: Any):
    return chunk(json.dumps({"id": "x", "model": "m", "choices": list(choices)} | more).encode())


def told(delta: dict[str, Any], index: int = 0, finish: str | None = None, **more: Any):
    return {"index": index, "delta": delta, "finish_reason": finish} | more


def fragment(index: int, arguments: str, **head: str):
    function = {"arguments": arguments} | ({"name": head["name"]} if "name" in head else {})
    start = {"id": head["id"], "type": "function"} if "id" in head else {}
    return {"index": index, "function": function} | start


def test_text_is_joined_and_the_last_word_on_usage_holds():
    whole = assemble(
        [
            piece(told({"role": "assistant", "content": ""})),
            piece(told({"content": "你"})),
            piece(told({"content": "好"}), usage={"prompt_tokens": 1, "completion_tokens": 1}),
            piece(told({}, finish="stop")),
            piece(usage=USAGE),
        ]
    )
    body = json.loads(whole.wire)
    assert (whole.text, whole.finish_reason, whole.model) == ("你好", "stop", "m")
    assert whole.usage == Usage(9, 4)
    assert (body["object"], body["id"]) == ("chat.completion", "x")
    assert body["choices"][0]["message"] == {"role": "assistant", "content": "你好"}


def test_interleaved_tool_calls_are_merged_by_index():
    whole = assemble(
        [
            piece(told({"tool_calls": [fragment(1, "", id="b", name="two")]})),
            piece(told({"tool_calls": [fragment(0, '{"x"', id="a", name="one")]})),
            piece(told({"tool_calls": [fragment(1, "{}"), fragment(0, ": 1}")]})),
            piece(told({}, finish="tool_calls")),
        ]
    )
    message = json.loads(whole.wire)["choices"][0]["message"]
    calls = [
        (c["id"], c["function"]["name"], c["function"]["arguments"]) for c in message["tool_calls"]
    ]
    assert calls == [("a", "one", '{"x": 1}'), ("b", "two", "{}")]
    assert message["content"] is None
    assert whole.has_tool_calls


def test_thoughts_and_refusals_are_joined_but_are_not_the_text():
    whole = assemble(
        [
            piece(told({"reasoning_content": "hm", "refusal": "n"})),
            piece(told({"reasoning_content": "m", "refusal": "o", "content": None})),
        ]
    )
    message = json.loads(whole.wire)["choices"][0]["message"]
    assert (message["reasoning_content"], message["refusal"]) == ("hmm", "no")
    assert whole.text == ""


def test_choices_stay_apart():
    whole = assemble([piece(told({"content": "a"})), piece(told({"content": "b"}, 1, "length"))])
    choices = json.loads(whole.wire)["choices"]
    assert [(c["message"]["content"], c["finish_reason"]) for c in choices] == [
        ("a", None),
        ("b", "length"),
    ]


def test_logprobs_are_strung_together():
    def token(text: str):
        return {"content": [{"token": text, "logprob": -1.0}], "refusal": None}

    whole = assemble([piece(told({"content": t}, logprobs=token(t))) for t in "ab"])
    assert [t.text for t in whole.tokens] == ["a", "b"]


def test_nothing_said_is_no_answer():
    with pytest.raises(Malformed):
        assemble([piece(usage=USAGE)])


TEXTS = st.none() | st.text()
LOGPROBS = st.none() | st.lists(
    st.fixed_dictionaries({"token": st.text(), "logprob": st.floats(-9, 0)}), min_size=1
).map(lambda tokens: {"content": tokens})
CALLS = st.lists(
    st.builds(
        lambda name, arguments: (name, json.dumps(arguments)),
        st.text(min_size=1),
        st.dictionaries(st.text(), st.integers()),
    ),
    max_size=3,
).map(
    lambda calls: [
        {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for i, (name, arguments) in enumerate(calls)
    ]
)


@st.composite
def answers(draw):
    choices = []
    for index in range(draw(st.integers(1, 3))):
        message: dict[str, Any] = {"role": "assistant", "content": draw(TEXTS)}
        if calls := draw(CALLS):
            message["tool_calls"] = calls
            message["content"] = message["content"] or None
        choice = {
            "index": index,
            "message": message,
            "finish_reason": draw(st.sampled_from(["stop", "length", "tool_calls"])),
        }
        if (logprobs := draw(LOGPROBS)) is not None and message["content"]:
            choice["logprobs"] = logprobs
        choices.append(choice)
    usage = {} if draw(st.booleans()) else {"usage": USAGE}
    body = {"object": "chat.completion", "id": "x", "created": 1, "model": "m", "choices": choices}
    return body | usage


@given(answers())
def test_a_whole_answer_survives_being_streamed(body):
    whole = completion(json.dumps(body).encode())
    chunks = as_chunks(whole)
    again = json.loads(assemble(chunks).wire)
    for choice in body["choices"]:  # a stream cannot tell an empty text from none
        choice["message"]["content"] = choice["message"]["content"] or None
    for choice in again["choices"]:
        choice["message"]["content"] = choice["message"]["content"] or None
    assert again == body


@given(answers())
def test_a_stream_is_told_in_the_order_that_clients_expect(body):
    chunks = as_chunks(completion(json.dumps(body).encode()))
    bodies = [json.loads(c.wire) for c in chunks]
    assert all(b["object"] == "chat.completion.chunk" and b["id"] == "x" for b in bodies)
    for index in range(len(body["choices"])):
        mine = [c for b in bodies for c in b["choices"] if c["index"] == index]
        assert mine[0]["delta"] == {"role": "assistant", "content": ""}
        assert [c["finish_reason"] is not None for c in mine] == [False] * (len(mine) - 1) + [True]
    assert ["usage" in b for b in bodies[:-1]] == [False] * (len(bodies) - 1)
    assert (bodies[-1]["choices"] == []) == ("usage" in body)
