"""From a request to what the engine is asked."""

from __future__ import annotations

from typing import Any

import pytest

from hybridge.core.backend import Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.request import Request
from hybridge.edge.asking import Asked, asked
from hybridge.edge.refused import Refused

HELLO = [{"role": "user", "content": "Hello"}]
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {}}}}}


def ask(*, want_logprobs: bool = False, max_tokens: int | None = None, **body: Any) -> Asked:
    request = Request(
        id="r", model="auto", messages=(), body={"messages": HELLO, **body}, max_tokens=max_tokens
    )
    deadline = Deadline.after(30, SystemClock())
    return asked(Call(request, deadline, want_logprobs=want_logprobs), 100)


def refused(**body: Any) -> str:
    with pytest.raises(Refused) as caught:
        ask(**body)
    assert f"`{caught.value.param}`" in str(caught.value)
    return caught.value.param


def test_zeros_arrive_as_zeros_and_what_is_not_said_is_absent() -> None:
    zeros = {"temperature": 0, "top_p": 0, "seed": 0, "presence_penalty": 0, "logprobs": False}
    body = ask(**zeros).body
    assert {key: body[key] for key in ("temperature", "top_p", "seed", "presence_penalty")} == {
        "temperature": 0,
        "top_p": 0,
        "seed": 0,
        "presence_penalty": 0,
    }
    plain = ask(temperature=None, stop=None, seed=None).body
    assert not plain.keys() & {"temperature", "top_p", "seed", "stop", "n_probs", "tools"}
    assert None not in plain.values()


def test_a_caller_cannot_reach_into_the_engine() -> None:
    body = ask(n_predict=9, id_slot=3, cache_prompt=False, user="me", metadata={}, store=True).body
    assert not body.keys() & {"n_predict", "id_slot", "cache_prompt", "user", "metadata", "store"}


def test_a_limit_is_the_requests_or_else_the_configured_one() -> None:
    assert ask(max_tokens=7).body["max_tokens"] == 7
    assert ask().body["max_tokens"] == 100


@pytest.mark.parametrize("seed", [-1, 2**32 - 1, 2**64, 5])
def test_every_seed_is_one_that_the_engine_keeps(seed: int) -> None:
    assert 0 <= ask(seed=seed).body["seed"] < 2**32 - 1


@pytest.mark.parametrize(
    ("stop", "sent"), [("x", ["x"]), (["a", ""], ["a"]), ("", None), ([], None), ([""], None)]
)
def test_an_empty_stop_string_stops_nothing(stop: Any, sent: Any) -> None:
    assert ask(stop=stop).body.get("stop") == sent


@pytest.mark.parametrize(
    ("body", "shown", "sent"),
    [
        ({}, None, None),
        ({"want_logprobs": True}, None, 1),
        ({"logprobs": True}, 0, 1),
        ({"logprobs": True, "top_logprobs": 0}, 0, 1),
        ({"logprobs": True, "top_logprobs": 4}, 4, 4),
    ],
)
def test_probabilities(body: dict[str, Any], shown: int | None, sent: int | None) -> None:
    wanted = ask(**body)
    assert (wanted.top_logprobs, wanted.body.get("n_probs")) == (shown, sent)


@pytest.mark.parametrize(
    "body",
    [
        {"functions": [{"name": "f"}]},
        {"function_call": {"name": "f"}},
        {"web_search_options": {}},
        {"audio": {"voice": "x"}},
        {"modalities": ["text", "audio"]},
        {"reasoning_effort": "high"},
        {"verbosity": "low"},
        {"logit_bias": {"Paris": -100}},
        {"logit_bias": {"12": "much"}},
        {"tool_choice": "required"},
    ],
)
def test_what_it_cannot_do_is_refused_by_name(body: dict[str, Any]) -> None:
    assert refused(**body) == next(iter(body))


@pytest.mark.parametrize(
    "body",
    [
        {"functions": []},
        {"function_call": "none"},
        {"modalities": ["text"]},
        {"reasoning_effort": "minimal"},
        {"verbosity": "medium"},
        {"logit_bias": {"12": -100}},
        {"tool_choice": "none"},
        {"tools": []},
        {"web_search_options": None},
    ],
)
def test_what_asks_for_nothing_special_is_fine(body: dict[str, Any]) -> None:
    assert not ask(**body).tools


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"tools": [{"type": "custom", "custom": {"name": "f"}}]}, "tools[0].type"),
        ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools[0].function.name"),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": [1]}}]},
            "tools[0].function.parameters",
        ),
        ({"tools": [TOOL], "tool_choice": "any"}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "allowed_tools"}}, "tool_choice"),
        (
            {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "g"}}},
            "tool_choice",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": True}}},
            "response_format.json_schema.schema",
        ),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema.schema"),
        ({"grammar": 'root ::= "a"{5,2}'}, "grammar"),
        ({"grammar": 'root ::= "a"', "tools": [TOOL]}, "grammar"),
        ({"grammar": 7}, "grammar"),
    ],
)
def test_malformed_wishes_are_named(body: dict[str, Any], param: str) -> None:
    assert refused(**body) == param


def test_tools_are_told_to_the_template_and_held_by_a_grammar() -> None:
    wanted = ask(tools=[TOOL])
    assert wanted.tools == {"f"}
    assert not wanted.must_call
    assert (wanted.body["tools"], wanted.body["tool_choice"]) == ([TOOL], "none")
    assert len(wanted.grammars) == 2  # the second for schemas that no grammar can hold
    strict = TOOL | {"function": TOOL["function"] | {"strict": True}}  # type: ignore[operator]
    assert len(ask(tools=[strict]).grammars) == 1


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "f"}}])
def test_a_call_may_be_required(choice: Any) -> None:
    other = {"type": "function", "function": {"name": "other"}}
    wanted = ask(tools=[TOOL, other], tool_choice=choice)
    assert wanted.must_call
    assert wanted.tools == ({"f", "other"} if choice == "required" else {"f"})


def test_no_tool_is_offered_where_none_may_be_called() -> None:
    wanted = ask(tools=[TOOL], tool_choice="none")
    assert not wanted.tools
    assert not wanted.grammars
    assert "tools" not in wanted.body


@pytest.mark.parametrize(
    "form",
    [
        {"type": "json_object"},
        {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "string"}}},
        {"type": "json_schema", "json_schema": {"name": "x"}},
    ],
)
def test_json_is_held_by_a_grammar_and_not_thought_about(form: dict[str, Any]) -> None:
    wanted = ask(response_format=form)
    assert (len(wanted.grammars), wanted.held_by, wanted.is_json) == (1, "response_format", True)
    assert wanted.body["chat_template_kwargs"] == {"enable_thinking": False}
    assert not ask(response_format=form, stop="}").is_json
    assert not ask(response_format={"type": "text"}).grammars


def test_choices() -> None:
    assert (ask().choices, ask(n=3).choices) == (1, 3)
