"""R70, B11-B16, B19: what is read of a request, and how a wrong one is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.errors import HybridgeError, RequestError
from hybridge.core.request import Feature, Request, Tier
from hybridge.server.intake import json_object
from hybridge.server.shapes.chat.parse import read_request
from hybridge.server.shapes.shape import Asker

USER = {"role": "user", "content": "Hi"}


def parsed(body: Any, tenant: str = "team", **headers: str) -> Request:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {k.replace("_", "-").encode(): v.encode() for k, v in headers.items()}
    return read_request(json_object(raw), Asker("req-1", tenant, given, 0.0))


def refused(body: Any, **headers: str) -> RequestError:
    with pytest.raises(RequestError) as caught:
        parsed(body, **headers)
    return caught.value


def chat(**members: Any) -> dict[str, Any]:
    return {"model": "auto", "messages": [USER], **members}


def turns(*messages: Any) -> dict[str, Any]:
    return {"messages": list(messages)}


def test_fields():
    said = chat(
        model="gpt",
        stream=True,
        stream_options={"include_usage": True},
        max_tokens=7,
        max_completion_tokens=5,
        temperature=0,
        seed=0,
        top_p=0,
        an_unknown_field={"kept": None},
    )
    request = parsed(said)
    assert (request.model, request.tenant) == ("gpt", "team")
    assert (request.stream, request.include_usage, request.max_tokens) == (True, True, 5)
    assert request.body == said, "what is not read is kept as it is (B14)"
    assert request.features == frozenset()


def test_model_defaults_to_auto():
    assert parsed({"messages": [USER]}).model == "auto"


def test_null_means_not_given():
    names = ("model", "stream", "max_tokens", "tools", "response_format", "stop", "n", "user")
    request = parsed(chat(**dict.fromkeys(names)))
    assert (request.model, request.stream, request.max_tokens) == ("auto", False, None)


@pytest.mark.parametrize(
    ("members", "feature"),
    [
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, Feature.TOOLS),
        ({"functions": [{"name": "f"}]}, Feature.TOOLS),
        ({"web_search_options": {}}, Feature.TOOLS),
        ({"response_format": {"type": "json_object"}}, Feature.JSON),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, Feature.JSON_SCHEMA),
        ({"n": 3}, Feature.CHOICES),
        ({"logprobs": True, "top_logprobs": 2}, Feature.LOGPROBS),
        ({"reasoning_effort": "high"}, Feature.REASONING),
        ({"modalities": ["text", "audio"]}, Feature.AUDIO),
    ],
)
def test_parameters_need_features(members, feature):
    assert parsed(chat(**members)).features == {feature}


@pytest.mark.parametrize(
    "members",
    [
        {"n": 1},
        {"logprobs": False, "top_logprobs": 0},
        {"tools": []},
        {"reasoning_effort": "minimal"},
        {"response_format": {"type": "text"}},
    ],
)
def test_parameters_at_their_defaults_need_nothing(members):
    assert parsed(chat(**members)).features == frozenset()


@pytest.mark.parametrize(
    ("part", "feature"),
    [
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}, Feature.IMAGES),
        ({"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}, Feature.AUDIO),
        ({"type": "file", "file": {"file_id": "f"}}, Feature.FILES),
        ({"type": "video_url", "video_url": {"url": "x"}}, Feature.FILES),
    ],
)
def test_parts_need_features_and_are_never_dropped(part, feature):
    """B13."""
    text = {"type": "text", "text": "看这个"}
    request = parsed(turns({"role": "user", "content": [text, part, text]}))
    assert request.features == {feature}
    assert request.last_user_text == "看这个\n看这个"
    assert request.messages[0].images == (feature is Feature.IMAGES)


@pytest.mark.parametrize("content", [{"content": None}, {}, {"content": ""}, {"content": []}])
def test_an_assistant_that_only_called_a_tool(content):
    """B11."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = {"role": "assistant", "tool_calls": [call], **content}
    result = {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "42"}]}
    request = parsed(turns(USER, said, result))
    assert [(m.text, m.tool_calls) for m in request.messages] == [("Hi", 0), ("", 1), ("42", 0)]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "messages"),
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "Hi"}, "messages"),
        (turns("Hi"), "messages[0]"),
        (turns(USER, {"content": "Hi"}), "messages[1].role"),
        (turns({"role": "robot", "content": "Hi"}), "messages[0].role"),
        (turns({"role": ["user"], "content": "Hi"}), "messages[0].role"),
        (turns({"role": "user"}), "messages[0].content"),
        (turns({"role": "user", "content": []}), "messages[0].content"),
        (turns({"role": "user", "content": 5}), "messages[0].content"),
        (turns({"role": "user", "content": ["Hi"]}), "messages[0].content[0]"),
        (turns({"role": "user", "content": [{"text": "Hi"}]}), "messages[0].content[0].type"),
        (turns({"role": "user", "content": [{"type": "text"}]}), "messages[0].content[0].text"),
        (
            turns({"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}),
            "messages[0].content[0].image_url",
        ),
        (
            turns({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}),
            "messages[0].content[0].image_url.url",
        ),
        (turns({"role": "assistant", "tool_calls": {}}), "messages[0].tool_calls"),
        (turns({"role": "assistant", "tool_calls": [{}]}), "messages[0].tool_calls[0].function"),
        (
            turns({"role": "assistant", "tool_calls": [{"function": {}}]}),
            "messages[0].tool_calls[0].function.name",
        ),
        (chat(model=5), "model"),
        (chat(max_tokens=0), "max_tokens"),
        (chat(max_tokens=-1), "max_tokens"),
        (chat(max_tokens="10"), "max_tokens"),
        (chat(max_tokens=1.5), "max_tokens"),
        (chat(max_tokens=True), "max_tokens"),
        (chat(max_completion_tokens=0), "max_completion_tokens"),
        (chat(n=0), "n"),
        (chat(stream="yes"), "stream"),
        (chat(stream_options={"include_usage": True}), "stream_options"),
        (chat(temperature="0"), "temperature"),
        (chat(tools={}), "tools"),
        (chat(tools=["f"]), "tools"),
        (chat(stop=[1]), "stop"),
        (chat(logprobs=True, top_logprobs=21), "top_logprobs"),
        (chat(top_logprobs=2), "top_logprobs"),
        (chat(response_format="json"), "response_format"),
        (chat(response_format={"type": "xml"}), "response_format.type"),
        (chat(response_format={"type": ["text"]}), "response_format.type"),
    ],
)
def test_what_is_wrong_is_named(body, param):
    error = refused(body)
    assert error.param == param
    assert param in error.message


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"x"', b"{}{}", b"\xff\xfe", b'{"a": NaN}', b"[" * 100_000],
)
def test_what_is_no_json_object(body):
    assert refused(body).code == "invalid_json"


def test_an_error_never_repeats_the_callers_words():
    secret = "my password is 12345"
    for body in (
        chat(max_tokens=secret),
        turns({"role": secret}),
        turns(secret),
        chat(stop=[[secret]]),
    ):
        assert "password" not in refused(body).message


def test_wishes():
    request = parsed(
        chat(),
        x_hybridge_route="EDGE",
        x_hybridge_max_latency_ms="250.5",
        x_hybridge_privacy="high",
    )
    wish = request.wish
    assert (wish.tier, wish.max_latency_s, wish.private) == (Tier.EDGE, 0.2505, True)
    assert parsed(chat(), x_hybridge_route="auto").wish.tier is None
    assert parsed(chat(), x_hybridge_privacy="low").wish.private is False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-hybridge-route", "moon"),
        ("x-hybridge-route", ""),
        ("x-hybridge-max-latency-ms", "fast"),
        ("x-hybridge-max-latency-ms", "0"),
        ("x-hybridge-max-latency-ms", "-1"),
        ("x-hybridge-max-latency-ms", "nan"),
        ("x-hybridge-max-latency-ms", "inf"),
        ("x-hybridge-privacy", "medium"),
    ],
)
def test_a_wrong_wish_names_its_header(name, value):
    error = refused(chat(), **{name.replace("-", "_"): value})
    assert error.param == name
    assert name in error.message


def follow_up(first: dict[str, Any]) -> dict[str, Any]:
    more = [{"role": "assistant", "content": "Hello"}, {"role": "user", "content": "继续"}]
    return first | {"messages": [*first["messages"], *more]}


def test_a_follow_up_is_in_the_session_of_its_opening():
    first = turns({"role": "system", "content": "Be brief."}, USER)
    assert parsed(first).session == parsed(follow_up(first)).session
    assert parsed(first).session != parsed(turns(USER)).session


@pytest.mark.parametrize(
    ("members", "headers"),
    [({"user": "u1"}, {}), ({"metadata": {"session_id": "s"}}, {}), ({}, {"x_session_id": "s"})],
)
def test_a_named_session_outweighs_the_opening(members, headers):
    named = parsed(chat(**members), **headers).session
    other = parsed(turns({"role": "user", "content": "Other"}) | members, **headers).session
    assert named == other
    assert named != parsed(chat()).session


def test_sessions_belong_to_their_tenant_and_hide_their_name():
    mine = parsed(chat(user="alice"), tenant="a").session
    theirs = parsed(chat(user="alice"), tenant="b").session
    assert mine != theirs
    assert mine is not None
    assert "alice" not in mine


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "type", "text", "tool_calls"]), inner)
    ),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["messages", "model", "stream", "stream_options", "tools", "response_format", "metadata",
     "user", "n", "stop", "modalities", "reasoning_effort", "max_tokens", "logprobs"]
)  # fmt: skip


@given(st.dictionaries(KEYS, JSON))
def test_any_json_is_read_or_refused(body):
    """Nothing but a `HybridgeError` ever comes out of parsing."""
    try:
        request = parsed(body)
    except HybridgeError:
        return
    assert request.messages


@given(st.dictionaries(KEYS, JSON), st.text())
def test_any_options_beside_good_messages(body, text):
    try:
        request = parsed(body | turns({"role": "user", "content": text}))
    except HybridgeError:
        return
    assert request.last_user_text == text
