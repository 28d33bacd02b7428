"""Tools and the choice among them."""

from __future__ import annotations

import pytest

from hybridge.core.errors import RequestError
from hybridge.core.request import Feature

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = {"name": "weather", "description": "Tells it.", "input_schema": SCHEMA}
TIME = {"name": "time", "input_schema": {"type": "object"}}


def test_tools_become_functions(body, read):
    request = read(body(tools=[WEATHER, {"type": "custom", **TIME}])).request
    assert request.body["tools"] == [
        {
            "type": "function",
            "function": {"name": "weather", "description": "Tells it.", "parameters": SCHEMA},
        },
        {"type": "function", "function": {"name": "time", "parameters": {"type": "object"}}},
    ]
    assert request.features == {Feature.TOOLS}


def test_what_a_tool_may_hold_besides(body, sent):
    tool = TIME | {
        "strict": True,
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
        "eager_input_streaming": True,
        "input_examples": [{"zone": "UTC"}],
        "defer_loading": False,
        "allowed_callers": ["direct"],
    }
    (told,) = sent(body(tools=[tool]))["tools"]
    assert told["function"] == {
        "name": "time",
        "strict": True,
        "parameters": {"type": "object", "examples": [{"zone": "UTC"}]},
    }


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({"type": "auto"}, {"tool_choice": "auto"}),
        ({"type": "any"}, {"tool_choice": "required"}),
        ({"type": "none"}, {"tool_choice": "none"}),
        (
            {"type": "tool", "name": "time"},
            {"tool_choice": {"type": "function", "function": {"name": "time"}}},
        ),
        (
            {"type": "auto", "disable_parallel_tool_use": True},
            {"tool_choice": "auto", "parallel_tool_calls": False},
        ),
        ({"type": "any", "disable_parallel_tool_use": False}, {"tool_choice": "required"}),
    ],
)
def test_the_choice(body, sent, choice, told):
    given = sent(body(tools=[WEATHER, TIME], tool_choice=choice))
    assert {k: v for k, v in given.items() if k in ("tool_choice", "parallel_tool_calls")} == told


@pytest.mark.parametrize(
    "kind",
    ["web_search_20250305", "bash_20250124", "computer_20250124", "text_editor_20250728", 3],
)
def test_tools_of_anthropics_own_are_refused(body, read, kind):
    with pytest.raises(RequestError, match="custom") as caught:
        read(body(tools=[TIME, {"type": kind, "name": "it"}]))
    assert caught.value.param == "tools.1.type"


@pytest.mark.parametrize(
    ("tool", "param"),
    [
        ({"input_schema": {}}, "tools.0.name"),
        ({"name": "", "input_schema": {}}, "tools.0.name"),
        ({"name": "it"}, "tools.0.input_schema"),
        (TIME | {"description": 3}, "tools.0.description"),
        (TIME | {"strict": "yes"}, "tools.0.strict"),
        (TIME | {"defer_loading": True}, "tools.0.defer_loading"),
        (TIME | {"allowed_callers": ["code_execution_20250825"]}, "tools.0.allowed_callers"),
        (TIME | {"input_examples": [3]}, "tools.0.input_examples"),
        (TIME | {"function": {}}, "tools.0.function"),
    ],
)
def test_a_tool_of_a_wrong_form(body, read, tool, param):
    with pytest.raises(RequestError) as caught:
        read(body(tools=[tool]))
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("choice", "param"),
    [
        ({}, "tool_choice.type"),
        ({"type": "required"}, "tool_choice.type"),
        ({"type": "tool"}, "tool_choice.name"),
        ({"type": "tool", "name": "weather"}, "tool_choice.name"),
        ({"type": "any", "x": 1}, "tool_choice.x"),
        (
            {"type": "any", "disable_parallel_tool_use": 1},
            "tool_choice.disable_parallel_tool_use",
        ),
    ],
)
def test_a_choice_of_a_wrong_form(body, read, choice, param):
    with pytest.raises(RequestError) as caught:
        read(body(tools=[TIME], tool_choice=choice))
    assert caught.value.param == param


def test_a_choice_needs_tools(body, read):
    with pytest.raises(RequestError, match="together with `tools`"):
        read(body(tool_choice={"type": "auto"}))
