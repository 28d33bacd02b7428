"""From a chat-completions request to the Messages API: nothing lost, nothing added in silence."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.cloud.anthropic.request import request
from hybridge.cloud.dialect import NoWord
from hybridge.cloud.tolerance import PLAIN, Change
from hybridge.testing.anthropic_rules import Model, refusal
from hybridge.testing.replies import Received

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ASK = [{"role": "user", "content": "Hi"}]
BUDGET = frozenset({Change.THINKING_BUDGET})
BY_TOOL = frozenset({Change.SCHEMA_AS_TOOL})
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
FORMAT = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strict": True}}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def made(messages=None, manner=PLAIN, **body):
    return request({"messages": messages or ASK, **body}, "claude", 8192, manner)


def said(messages):
    return made(messages)["messages"]


def complaint(body, **model):
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    received = Received("POST", "/v1/messages", headers, json.dumps(body).encode())
    return refusal(received, Model(**model))


def test_the_least_request():
    assert made() == {
        "model": "claude",
        "max_tokens": 8192,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    }


def test_zeros_arrive_and_nulls_stay_away():
    body = made(temperature=0, top_p=0, stop=None, tools=None, seed=None, user=None)
    assert (body["temperature"], body["top_p"]) == (0, 0)
    assert not body.keys() & {"stop", "stop_sequences", "tools", "seed", "metadata"}
    assert None not in body.values()


@pytest.mark.parametrize(("asked", "sent"), [(0.3, 0.3), (1, 1), (1.7, 1.0), (2, 1.0)])
def test_temperature_ends_at_one(asked, sent):
    assert made(temperature=asked)["temperature"] == sent


@pytest.mark.parametrize(
    ("limits", "sent"),
    [
        ({}, 8192),
        ({"max_tokens": 5}, 5),
        ({"max_completion_tokens": 6}, 6),
        ({"max_tokens": 5, "max_completion_tokens": 6}, 6),
    ],
)
def test_a_limit_always_goes_out(limits, sent):
    body = made(**limits)
    assert body["max_tokens"] == sent
    assert "max_completion_tokens" not in body


@pytest.mark.parametrize(("stop", "sent"), [("x", ["x"]), (["x", "y"], ["x", "y"])])
def test_stop(stop, sent):
    assert made(stop=stop)["stop_sequences"] == sent


def test_the_systems_words_are_lifted_out_and_turns_are_merged_by_role():
    body = made(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "One."},
            {"role": "user", "content": [{"type": "text", "text": "Two."}]},
            {"role": "developer", "content": "In French."},
            {"role": "assistant", "content": "Un."},
            {"role": "user", "content": "Three."},
        ]
    )
    assert [block["text"] for block in body["system"]] == ["Be brief.", "In French."]
    told = [(t["role"], [b["text"] for b in t["content"]]) for t in body["messages"]]
    assert told == [("user", ["One.", "Two."]), ("assistant", ["Un."]), ("user", ["Three."])]


def test_a_system_message_alone_is_the_question():
    body = made([{"role": "system", "content": "Say hi."}])
    assert "system" not in body
    assert body["messages"][0]["role"] == "user"


def test_pictures_arrive_byte_for_byte():
    parts = [
        {"type": "text", "text": "What is it?"},
        {
            "type": "image_url",
            "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"},
        },
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
        },
    ]
    _, data, url, pdf = said([{"role": "user", "content": parts}])[0]["content"]
    assert data["source"] == {"type": "base64", "media_type": "image/png", "data": PNG}
    assert url["source"] == {"type": "url", "url": "https://example.org/a.png"}
    assert (pdf["type"], pdf["title"], pdf["source"]["data"]) == ("document", "a.pdf", "JVBERi0=")


def test_tools_there_and_back():
    body = made(
        [
            {"role": "user", "content": "Go."},
            {
                "role": "assistant",
                "content": "Well.",
                "tool_calls": [CALL, CALL | {"id": "functions.f:1"}],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "one"},
            {
                "role": "tool",
                "tool_call_id": "functions.f:1",
                "content": [{"type": "text", "text": "two"}],
            },
            {"role": "user", "content": "And?"},
        ],
        tools=[TOOL],
    )
    assert body["tools"] == [{"name": "f", "description": "d", "input_schema": SCHEMA}]
    _, answer, results = body["messages"]
    assert [block["type"] for block in answer["content"]] == ["text", "tool_use", "tool_use"]
    assert answer["content"][1] == {
        "type": "tool_use",
        "id": "call_1",
        "name": "f",
        "input": {"a": 1},
    }
    kinds = [block["type"] for block in results["content"]]
    assert kinds == ["tool_result", "tool_result", "text"]
    assert results["content"][1]["tool_use_id"] == answer["content"][2]["id"] != "functions.f:1"
    assert complaint(body) is None


@pytest.mark.parametrize(
    ("choice", "more", "sent"),
    [
        (None, {}, None),
        ("auto", {}, {"type": "auto"}),
        ("none", {}, {"type": "none"}),
        ("required", {}, {"type": "any"}),
        ({"type": "function", "function": {"name": "f"}}, {}, {"type": "tool", "name": "f"}),
        (None, {"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
        (
            "required",
            {"parallel_tool_calls": False},
            {"type": "any", "disable_parallel_tool_use": True},
        ),
        ("none", {"parallel_tool_calls": False}, {"type": "none"}),
        ("auto", {"parallel_tool_calls": True}, {"type": "auto"}),
    ],
)
def test_which_tools_are_to_be_used(choice, more, sent):
    assert made(tools=[TOOL], tool_choice=choice, **more).get("tool_choice") == sent


def test_a_choice_without_tools_says_nothing():
    assert "tool_choice" not in made(tool_choice="auto", parallel_tool_calls=False)


DEEP = "[" * 100_000


@pytest.mark.parametrize("arguments", ["", None, "{}", "not json", "[1]", '{"a":', DEEP, 5])
def test_arguments_become_an_object_whatever_a_model_once_wrote(arguments):
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    turns = said([*ASK, {"role": "assistant", "tool_calls": [call]}])
    given = turns[1]["content"][0]["input"]
    assert isinstance(given, dict)
    assert not arguments or arguments == "{}" or given == {"arguments": arguments}


def test_arguments_that_are_an_object_already_are_taken_as_they_are():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
    turns = said([*ASK, {"role": "assistant", "tool_calls": [call]}])
    assert turns[1]["content"][0]["input"] == {"a": 1}


def test_a_schema_is_asked_for_in_either_way():
    assert made(response_format=FORMAT)["output_config"]["format"] == {
        "type": "json_schema",
        "schema": SCHEMA,
    }
    body = made(response_format=FORMAT, manner=BY_TOOL)
    assert body["tool_choice"] == {"type": "tool", "name": body["tools"][0]["name"]}
    assert "output_config" not in body
    with_tools = made(response_format=FORMAT, manner=BY_TOOL, tools=[TOOL])
    assert with_tools["tool_choice"] == {"type": "any"}
    assert complaint(body, formats=False) is complaint(with_tools, formats=False) is None


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
def test_reasoning_is_asked_for_in_either_way(effort):
    body = made(reasoning_effort=effort)
    assert (body["thinking"], body["output_config"]) == ({"type": "adaptive"}, {"effort": effort})
    old = made(reasoning_effort=effort, manner=BUDGET)
    assert old["max_tokens"] == 8192 + old["thinking"]["budget_tokens"]
    assert complaint(body) is complaint(old, adaptive=False) is None


@pytest.mark.parametrize("effort", ["none", "minimal", None])
def test_no_reasoning_is_none(effort):
    assert not made(reasoning_effort=effort).keys() & {"thinking", "output_config"}


THOUGHTS = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
LOOP = [
    *ASK,
    {"role": "assistant", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "1"},
]
KEPT = [ASK[0], LOOP[1] | {"thinking_blocks": THOUGHTS}, LOOP[2]]


@pytest.mark.parametrize("manner", [PLAIN, BUDGET])
@pytest.mark.parametrize("messages", [ASK, LOOP, KEPT], ids=["plain", "loop", "kept"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"max_tokens": 10},
        {"max_tokens": 1500},
        {"max_tokens": 50000},
        {"tool_choice": "required"},
    ],
    ids=str,
)
def test_thinking_is_only_asked_for_where_it_may_be(manner, messages, more):
    body = made(messages, manner, reasoning_effort="high", tools=[TOOL], **more)
    assert complaint(body, adaptive=manner is PLAIN) is None
    named = more.get("max_tokens")
    assert named is None or body["max_tokens"] == named, "a limit that was named is kept to"


def test_thoughts_that_were_kept_come_back_first():
    assert said(KEPT)[1]["content"][0] == THOUGHTS[0]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seed", 0),
        ("n", 2),
        ("logprobs", True),
        ("presence_penalty", 0.5),
        ("frequency_penalty", -1),
        ("logit_bias", {"1": 5}),
        ("functions", [{}]),
        ("verbosity", "low"),
        ("modalities", ["text", "audio"]),
        ("response_format", {"type": "json_object"}),
        ("tools", [{"type": "custom", "custom": {}}]),
        ("tools", [{"type": "function", "function": {"name": "f", "parameters": "none"}}]),
        ("messages", [{"role": "assistant", "content": "Hm.", "thinking_blocks": 5}]),
    ],
)
def test_what_there_is_no_word_for_is_refused_by_its_name(field, value):
    with pytest.raises(NoWord) as refused:
        made(**{field: value})
    assert refused.value.param == field


@pytest.mark.parametrize("schema", ["x", [1], {"type": "array"}])
def test_a_tool_gives_nothing_but_objects(schema):
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    with pytest.raises(NoWord, match="response_format|schema"):
        made(manner=frozenset({Change.SCHEMA_AS_TOOL}), response_format=wanted)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "image_url", "image_url": {"url": "data:image/png,raw"}},
    ],
)
def test_parts_that_there_is_no_word_for(part):
    with pytest.raises(NoWord, match="take"):
        made([{"role": "user", "content": [part]}])


@pytest.mark.parametrize(
    "neutral",
    [
        {
            "n": 1,
            "presence_penalty": 0,
            "frequency_penalty": 0.0,
            "logprobs": False,
            "logit_bias": {},
        },
        {"store": True, "service_tier": "auto", "prompt_cache_key": "k", "safety_identifier": "s"},
        {"response_format": {"type": "text"}, "modalities": ["text"]},
    ],
)
def test_what_asks_for_nothing_is_left_out(neutral):
    assert made(**neutral) == made()


def test_the_apis_own_fields_pass():
    assert made(top_k=5, thinking={"type": "disabled"})["top_k"] == 5
    own = made(thinking={"type": "disabled"}, reasoning_effort="high")
    assert own["thinking"] == {"type": "disabled"}


def test_an_answer_to_be_gone_on_with_does_not_end_in_white_space():
    assert said([*ASK, {"role": "assistant", "content": "The answer is: \n"}])[1]["content"] == [
        {"type": "text", "text": "The answer is:"}
    ]
    assert len(said([*ASK, {"role": "assistant", "content": " \n"}])) == 1


TEXTS = st.text(max_size=20)
TURNS = st.lists(
    st.one_of(
        st.builds(lambda t: [{"role": "user", "content": t}], TEXTS),
        st.builds(lambda t: [{"role": "system", "content": t}], TEXTS),
        st.builds(lambda t: [{"role": "assistant", "content": t}], TEXTS),
        st.builds(
            lambda ids, t: [
                {"role": "assistant", "content": t, "tool_calls": [CALL | {"id": i} for i in ids]},
                *({"role": "tool", "tool_call_id": i, "content": t} for i in ids),
            ],
            st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3, unique=True),
            TEXTS,
        ),
    ),
    max_size=6,
).map(lambda parts: [*ASK, *(turn for part in parts for turn in part), *ASK])


@given(TURNS)
def test_any_conversation_is_one_that_the_api_takes(messages):
    before = json.dumps(messages)
    body = made(messages)
    assert complaint(body) is None
    assert json.dumps(messages) == before
    roles = [turn["role"] for turn in body["messages"]]
    assert all(a != b for a, b in pairwise(roles))
