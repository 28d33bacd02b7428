"""Every field of a messages request, as the chat request that goes on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.errors import RequestError
from hybridge.core.request import AUTO, Feature, Tier

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


def test_the_plainest_request(body, sent):
    assert sent(body()) == {
        "model": "auto",
        "max_tokens": 64,
        "messages": [{"role": "user", "content": "Hi"}],
    }


def test_fields_that_only_have_another_name(body, sent):
    told = sent(
        body(
            temperature=0,
            top_p=0.0,
            top_k=0,
            stop_sequences=["END"],
            metadata={"user_id": "u-1"},
            stream=True,
        )
    )
    assert told["temperature"] == told["top_p"] == told["top_k"] == 0
    assert told["stop"] == ["END"]
    assert told["user"] == "u-1"
    assert (told["stream"], told["stream_options"]) == (True, {"include_usage": True})


def test_what_does_not_stream_asks_for_no_stream(body, read):
    asked = read(body(stream=False))
    assert not asked.request.stream
    assert "stream_options" not in asked.request.body


def test_typed_fields(body, read):
    asked = read(body(stream=True), x_hybridge_route="edge", anthropic_version="2023-06-01")
    request = asked.request
    assert (request.id, request.tenant, request.received_s) == ("req-0a", "tenant", 1.0)
    assert (request.stream, request.include_usage, request.max_tokens) == (True, True, 64)
    assert request.wish.tier is Tier.EDGE
    assert request.session is not None


def test_a_missing_model_means_auto(body, read):
    assert read(body(model=None)).request.model == AUTO


@pytest.mark.parametrize(
    "members",
    [
        {"service_tier": "auto"},
        {"cache_control": {"type": "ephemeral"}},
        {"speed": "standard"},
        {"anthropic_version": "bedrock-2023-05-31", "anthropic_beta": ["x-1"]},
        {"diagnostics": {"previous_message_id": "msg_1"}},
        {"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}},
        {"fallbacks": "default"},
        {"safeguards": [{"type": "dangerous_tool_use", "classifier_context": {"cwd": "/"}}]},
        {"metadata": {}},
        {"tools": []},
        {"stop_sequences": []},
    ],
)
def test_what_changes_no_answer_is_accepted_and_left_out(body, sent, members):
    assert sent(body(**members)) == sent(body())


def test_null_asks_for_nothing(body, sent):
    given = body() | dict.fromkeys(("container", "temperature", "tools", "system", "thinking"))
    assert sent(given) == sent(body())


@pytest.mark.parametrize(
    ("system", "told"),
    [
        ("Be brief.", "Be brief."),
        (
            [
                {"type": "text", "text": "Be", "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": "brief."},
            ],
            "Be\nbrief.",
        ),
    ],
)
def test_the_system_prompt_comes_first(body, sent, system, told):
    assert sent(body(system=system))["messages"][0] == {"role": "system", "content": told}


@pytest.mark.parametrize("system", ["", []])
def test_an_empty_system_prompt_is_none(body, sent, system):
    assert sent(body(system=system)) == sent(body())


@pytest.mark.parametrize(
    ("members", "effort"),
    [
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "low"),
        ({"thinking": {"type": "enabled", "budget_tokens": 4608}}, "low"),
        ({"thinking": {"type": "enabled", "budget_tokens": 10_000}}, "medium"),
        ({"thinking": {"type": "enabled", "budget_tokens": 31_999}}, "high"),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}}, "high"),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}, "low"),
        (
            {
                "thinking": {"type": "enabled", "budget_tokens": 31_999},
                "output_config": {"effort": "medium"},
            },
            "medium",
        ),
        ({"output_config": {"effort": "medium"}}, "medium"),
        ({"output_config": {"effort": "high"}}, None),
        ({"thinking": {"type": "adaptive"}}, None),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}, None),
        ({"thinking": {"type": "between_tools"}}, None),
        ({"thinking": {"type": "between_tools"}, "output_config": {"effort": "low"}}, None),
        ({"thinking": {"type": "disabled"}}, None),
        ({"thinking": {"type": "disabled"}, "output_config": {"effort": "max"}}, None),
    ],
)
def test_how_hard_to_think(body, read, members, effort):
    request = read(body(**members)).request
    assert request.body.get("reasoning_effort") == effort
    assert (Feature.REASONING in request.features) == (effort is not None)


@pytest.mark.parametrize("place", ["output_config", "output_format"])
def test_a_schema_for_the_answer(body, read, place):
    form = {"type": "json_schema", "schema": SCHEMA}
    request = read(body(**{place: form if place == "output_format" else {"format": form}})).request
    assert request.body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
    }
    assert request.features == {Feature.JSON_SCHEMA}


@pytest.mark.parametrize(
    ("members", "param", "code"),
    [
        ({"max_tokens": None}, "max_tokens", "missing_required_parameter"),
        ({"max_tokens": 0}, "max_tokens", "invalid_value"),
        ({"max_tokens": "9"}, "max_tokens", "invalid_value"),
        ({"messages": None}, "messages", "invalid_value"),
        ({"messages": []}, "messages", "invalid_value"),
        ({"messages": "Hi"}, "messages", "invalid_value"),
        ({"model": 3}, "model", "invalid_value"),
        ({"system": 3}, "system", "invalid_value"),
        ({"system": [{"type": "image"}]}, "system.0.type", "invalid_value"),
        ({"temperature": 1.5}, "temperature", "invalid_value"),
        ({"top_p": -1}, "top_p", "invalid_value"),
        ({"top_k": -1}, "top_k", "invalid_value"),
        ({"stop_sequences": "x"}, "stop_sequences", "invalid_value"),
        ({"stop_sequences": [""]}, "stop_sequences", "invalid_value"),
        ({"stream": "yes"}, "stream", "invalid_value"),
        ({"metadata": {"user_id": 3}}, "metadata.user_id", "invalid_value"),
        ({"thinking": {}}, "thinking.type", "invalid_value"),
        ({"thinking": {"type": "enabled"}}, "thinking.budget_tokens", "invalid_value"),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 9}},
            "thinking.budget_tokens",
            "invalid_value",
        ),
        (
            {"thinking": {"type": "adaptive", "display": "loud"}},
            "thinking.display",
            "invalid_value",
        ),
        ({"thinking": {"type": "adaptive", "x": 1}}, "thinking.x", "unknown_parameter"),
        ({"output_config": {"effort": "some"}}, "output_config.effort", "invalid_value"),
        ({"output_config": {"x": 1}}, "output_config.x", "unknown_parameter"),
        (
            {"output_config": {"format": {"type": "text"}}},
            "output_config.format.type",
            "invalid_value",
        ),
        ({"output_config": {"format": "json"}}, "output_config.format", "invalid_value"),
        ({"output_format": {"type": "json_schema"}}, "output_format.schema", "invalid_value"),
        ({"fallbacks": [{"model": "other"}]}, "fallbacks", "invalid_value"),
        ({"container": "c-1"}, "container", "unknown_parameter"),
        ({"thread": {"type": "create"}}, "thread", "thread_unsupported_request"),
        ({"mcp_servers": [{}]}, "mcp_servers", "unknown_parameter"),
        ({"seed": 1}, "seed", "unknown_parameter"),
        ({"context_management": {"edits": 3}}, "context_management.edits", "invalid_value"),
        (
            {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}},
            "context_management.edits.0.type",
            "unsupported_parameter",
        ),
    ],
)
def test_the_field_at_fault_is_named(body, read, members, param, code):
    with pytest.raises(RequestError) as caught:
        read(body(**members))
    assert (caught.value.param, caught.value.code) == (param, code)
    assert f"`{param}`" in caught.value.message


CLAUDE_CODE = {
    "model": "auto",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "system", "content": "# Environment"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": ""},
                {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1"}]},
        {"role": "system", "content": [{"type": "text", "text": "9 tokens left"}]},
    ],
    "system": [{"type": "text", "text": "Be.", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "Read", "description": "Reads.", "input_schema": SCHEMA}],
    "metadata": {"user_id": '{"device_id":"' + "d" * 64 + '","session_id":"s-1"}'},
    "max_tokens": 32_000,
    "thinking": {"type": "adaptive", "display": "updates"},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "output_config": {"effort": "high"},
    "safeguards": [{"type": "dangerous_tool_use", "classifier_context": {}}],
    "stream": True,
}
"""All members of its requests (version 2.1.294)."""


def test_claude_codes_own_request_needs_tools_and_nothing_more(read):
    request = read(CLAUDE_CODE, anthropic_beta="claude-code-20250219").request
    assert request.features == {Feature.TOOLS}
    roles = [message.role for message in request.messages]
    assert roles == ["system", "user", "system", "assistant", "tool", "system"]


@given(users=st.tuples(st.text(min_size=1), st.text(min_size=1)))
def test_whoever_asks_keeps_a_name_that_every_provider_takes(body, sent, users):
    for size in (1, 64):
        one, other = (sent(body(metadata={"user_id": size * u}))["user"] for u in users)
        assert max(len(one), len(other)) <= 64
        assert (one == other) == (size * users[0] == size * users[1])
    short = users[0][:64]
    assert sent(body(metadata={"user_id": short}))["user"] == short


def test_two_schemas_for_one_answer_are_refused(body, read):
    form = {"type": "json_schema", "schema": SCHEMA}
    with pytest.raises(RequestError, match="output_config"):
        read(body(output_format=form, output_config={"format": form}))


def test_a_header_is_checked_like_anywhere(body, read):
    with pytest.raises(RequestError, match="x-hybridge-route"):
        read(body(), x_hybridge_route="moon")
