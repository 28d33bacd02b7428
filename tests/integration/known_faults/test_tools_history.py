"""Conversations with tool calls in them, sent back: to the same backend, and to a stricter one."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from tests.integration.known_faults.common import BACKENDS, BOTH_WAYS, PATIENT, port_of
from tests.integration.known_faults.vocabularies import (
    CHAT,
    MESSAGES,
    RESPONSES,
    SHAPES_WITH_TOOLS,
    asking,
    told,
    tools_of,
)
from tests.integration.running import Running, running

from hybridge.testing import anthropic
from hybridge.testing.http import ask
from hybridge.testing.replies import Received, Reply, Step, answers, fails, says, streams
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
LONG = ("call_abcdefghijklmnopqrstuvwx", "call_ABCDEFGHIJKLMNOPQRSTUVWX")
ODD = ("functions.weather:0", "functions.weather:1")
RIGHT = ("Ab3dE6gH9", "Zy9xW8vU7")
NINE = re.compile(r"[A-Za-z0-9]{9}")
HEAD = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
GIVEN = '{"city": "Oslo"}'


def calling(id_: str) -> Reply:
    """An answer that calls one tool, and says nothing."""
    call = {"id": id_, "type": "function", "function": {"name": "weather", "arguments": GIVEN}}

    def reply(received: Received) -> Iterator[Step]:
        if received.json.get("stream"):
            delta = {"role": "assistant", "content": None, "tool_calls": [call | {"index": 0}]}
            first = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
            kind = {"object": "chat.completion.chunk"}
            yield from streams(HEAD | kind | first, HEAD | kind | last)(received)
            return
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        yield from answers(HEAD | {"choices": [choice]})(received)

    return reply


def ids_in(messages: list[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Ids of the calls, and those that results name."""
    calls = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    return calls, [str(m["tool_call_id"]) for m in messages if m["role"] == "tool"]


def strict(reply: Reply) -> Reply:
    """Refuses, as Mistral does, ids that are not of its own form, and results of no call."""

    def picky(received: Received) -> Iterator[Step]:
        calls, results = ids_in(received.json["messages"])
        if odd := [id_ for id_ in (*calls, *results) if not NINE.fullmatch(id_)]:
            what = f"Tool call id was {odd[0]} but must be a-z, A-Z, 0-9, with a length of 9."
            yield from fails(400, what, type="invalid_request_message_order")(received)
        elif calls != results:
            what = "Not the same number of function calls and responses"
            yield from fails(400, what, type="invalid_request_message_order")(received)
        else:
            yield from reply(received)

    return picky


def history(path: str, ids: tuple[str, str]) -> dict[str, Any]:
    """Two calls of one turn, and their results."""
    match path:
        case "/v1/messages":
            used = [anthropic.use("weather", {"city": "Oslo"}, id_) for id_ in ids]
            results = [{"type": "tool_result", "tool_use_id": i, "content": "cold"} for i in ids]
            turns = [("user", "Weather?"), ("assistant", used), ("user", results)]
            return {"messages": [{"role": role, "content": said} for role, said in turns]}
        case "/v1/responses":
            call = {"type": "function_call", "name": "weather", "arguments": GIVEN}
            items = [{"role": "user", "content": "Weather?"}]
            items += [call | {"call_id": id_} for id_ in ids]
            result = {"type": "function_call_output", "output": "cold"}
            return {"input": [*items, *(result | {"call_id": id_} for id_ in ids)]}
    function = {"name": "weather", "arguments": GIVEN}
    calls = [{"id": id_, "type": "function", "function": function} for id_ in ids]
    return {
        "messages": [
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            *({"role": "tool", "tool_call_id": id_, "content": "cold"} for id_ in ids),
        ]
    }


@dataclass(frozen=True, slots=True)
class House:
    """A gateway before a primary, a strict server, and Anthropic."""

    gateway: Running
    primary: Upstream
    strict: Upstream
    claude: Upstream


DEPUTIES = {
    "learnt": {},
    "named": {"tool_ids": "alphanumeric9"},
    "mistral": {"provider": "mistral"},
}


@pytest.fixture(scope="module")
async def house(tmp_path_factory, anyio_backend) -> AsyncIterator[House]:
    async with Upstream() as primary, Upstream() as picky, Upstream() as claude:
        price = {"input_usd": 1, "output_usd": 1}

        def row(name: str, up: Upstream, **more: Any) -> dict[str, Any]:
            base = {"name": name, "base_url": up.base_url, "model": name, "price": price}
            return base | {"api_key_env": "K"} | more

        rows = [row(name, picky, **more) for name, more in DEPUTIES.items()]
        rows += [row(f"for-{name}", primary) for name in (*DEPUTIES, "claude")]
        rows.append(row("claude", claude, provider="anthropic"))
        config = {
            "edge": {"backends": []},
            "cloud": {"backends": rows},
            "execution": PATIENT,
            "routing": {"fallbacks": {f"for-{name}": [name] for name in (*DEPUTIES, "claude")}},
        }
        folder = tmp_path_factory.mktemp("house")
        async with running(folder, config, env={"K": "some-key"}) as gateway:
            yield House(gateway, primary, picky, claude)


def cleared(house: House) -> House:
    for upstream in (house.primary, house.strict, house.claude):
        upstream.requests.clear()
    return house


@pytest.mark.fault("B10")
@BOTH_WAYS
@pytest.mark.parametrize("ids", [LONG, ODD, (LONG[0], RIGHT[1])], ids=["long", "odd", "one right"])
@pytest.mark.parametrize("deputy", DEPUTIES)
@SHAPES_WITH_TOOLS
async def test_a_stricter_deputy_gets_ids_that_it_takes(house, path, deputy, ids, stream):
    h = cleared(house)
    h.primary.then(fails(503))
    h.strict.then(strict(calling(RIGHT[0])))
    body = asking(path, stream=stream, model=f"for-{deputy}") | history(path, ids)
    got = await ask(port_of(h.gateway), path, body | {"tools": tools_of(path, "weather")})
    assert got.status == 200, got.body
    assert [call[:2] for call in told(path, got).calls] == [(RIGHT[0], "weather")]
    assert ids_in(h.primary.posts[0].json["messages"]) == ([*ids], [*ids])
    calls, results = ids_in(h.strict.posts[-1].json["messages"])
    assert calls == results
    assert len(set(calls)) == 2
    assert all(NINE.fullmatch(id_) for id_ in calls)
    assert all(new == old for old, new in zip(ids, calls, strict=True) if NINE.fullmatch(old))


@pytest.mark.fault("B10")
@BOTH_WAYS
@pytest.mark.parametrize("ids", [LONG, ODD], ids=["long", "odd"])
@SHAPES_WITH_TOOLS
async def test_so_does_an_anthropic_deputy(house, path, ids, stream):
    h = cleared(house)
    h.primary.then(fails(503))
    h.claude.then(anthropic.says(anthropic.use("weather", {"city": "Oslo"})))
    body = asking(path, stream=stream, model="for-claude") | history(path, ids)
    got = await ask(port_of(h.gateway), path, body | {"tools": tools_of(path, "weather")})
    assert got.status == 200, got.body
    assert told(path, got).calls[0][0] == "toolu_01A09q90qw90lq917835lq9"
    assert ids_in(h.primary.posts[0].json["messages"]) == ([*ids], [*ids])


@pytest.mark.fault("B10")
async def test_the_primarys_request_is_the_callers_own_and_so_are_its_ids(house):
    h = cleared(house)
    h.primary.then(calling(LONG[0]))
    asked = asking(CHAT, model="for-mistral") | history(CHAT, LONG)
    asked["tools"] = tools_of(CHAT, "weather")
    got = await ask(port_of(h.gateway), CHAT, asked)
    assert told(CHAT, got).calls[0][0] == LONG[0]
    assert h.primary.posts[0].json == asked | {"model": "for-mistral"}
    assert h.strict.posts == []


NOTHING: Mapping[str, Mapping[str, Any]] = {
    "null": {"content": None},
    "missing": {},
    "empty": {"content": ""},
    "no parts": {"content": []},
}
PARTS = [{"type": "text", "text": "cold, "}, {"type": "text", "text": "very"}]


@pytest.mark.fault("B11")
@BOTH_WAYS
@BACKENDS
@pytest.mark.parametrize("result", ["cold", PARTS, "", []], ids=["text", "parts", "empty", "none"])
@pytest.mark.parametrize("nothing", NOTHING)
async def test_what_the_server_said_itself_is_taken_back(scene, nothing, result, model, stream):
    """The answer's own message is replayed, its content spelled in every way."""
    scene.edge.then(calling(LONG[0]))
    scene.cloud.then(calling(LONG[0]))
    tools = tools_of(CHAT, "weather")
    body = asking(CHAT, "Weather?", model=model, tools=tools)
    first = await ask(port_of(scene.gateway), CHAT, body)
    message = first.json["choices"][0]["message"]
    assert message["content"] is None
    scene.edge.then(says("It is cold."))
    scene.cloud.then(says("It is cold."))
    said = {"role": "assistant", "tool_calls": message["tool_calls"], **NOTHING[nothing]}
    turn = {"role": "tool", "tool_call_id": LONG[0], "content": result}
    again = body | {"messages": [*body["messages"], said, turn]}
    again |= {"stream": True} if stream else {}
    got = await ask(port_of(scene.gateway), CHAT, again)
    assert (got.status, told(CHAT, got).text) == (200, "It is cold.")
    _, called, answered = (scene.edge if model == "e" else scene.cloud).posts[-1].json["messages"]
    assert called["tool_calls"] == message["tool_calls"]
    assert not called.get("content")
    assert answered == turn


@pytest.mark.fault("B11")
@BOTH_WAYS
@BACKENDS
@SHAPES_WITH_TOOLS
async def test_no_content_is_never_the_word_null(scene, path, model, stream):
    scene.edge.then(calling(LONG[0]))
    scene.cloud.then(calling(LONG[0]))
    body = asking(path, stream=stream, model=model, tools=tools_of(path, "weather"))
    got = await ask(port_of(scene.gateway), path, body)
    said = told(path, got)
    assert (said.text, len(said.calls), said.ending) == ("", 1, "tool_calls")
    if path == MESSAGES and not stream:
        assert [block["type"] for block in got.json["content"]] == ["tool_use"]
    if path == RESPONSES and not stream:
        assert [item["type"] for item in got.json["output"]] == ["function_call"]


@pytest.mark.fault("B11")
@BACKENDS
@pytest.mark.parametrize("path", [MESSAGES, RESPONSES])
async def test_other_vocabularies_turns_become_the_same_conversation(scene, path, model):
    scene.edge.then(says("It is cold."))
    scene.cloud.then(says("It is cold."))
    ids = ("call_1", "call_2")
    body = asking(path, model=model) | history(path, ids) | {"tools": tools_of(path, "weather")}
    got = await ask(port_of(scene.gateway), path, body)
    assert (got.status, told(path, got).text) == (200, "It is cold.")
    user, called, *results = (scene.edge if model == "e" else scene.cloud).posts[0].json["messages"]
    assert user == {"role": "user", "content": "Weather?"}
    given = [(call["id"], call["function"]["name"]) for call in called["tool_calls"]]
    assert given == [(id_, "weather") for id_ in ids]
    assert not called.get("content")
    decoded = [msgspec.json.decode(call["function"]["arguments"]) for call in called["tool_calls"]]
    assert decoded == [{"city": "Oslo"}] * 2
    assert [(r["role"], r["tool_call_id"], r["content"]) for r in results] == [
        ("tool", id_, "cold") for id_ in ids
    ]


RESULTS: Mapping[str, Mapping[str, Any]] = {
    "text": {"content": "cold"},
    "parts": {"content": [{"type": "text", "text": "cold"}]},
    "missing": {},
    "empty": {"content": ""},
    "none": {"content": []},
}


@pytest.mark.fault("B11")
@BACKENDS
@pytest.mark.parametrize("result", RESULTS)
async def test_a_tool_result_of_messages_comes_in_every_spelling(scene, result, model):
    scene.edge.then(says("It is cold."))
    scene.cloud.then(says("It is cold."))
    body = asking(MESSAGES, model=model) | history(MESSAGES, ("t_1", "t_2"))
    body["tools"] = tools_of(MESSAGES, "weather")
    body["messages"][2]["content"] = [
        {"type": "tool_result", "tool_use_id": id_, **RESULTS[result]} for id_ in ("t_1", "t_2")
    ]
    got = await ask(port_of(scene.gateway), MESSAGES, body)
    assert got.status == 200, got.body
    results = (scene.edge if model == "e" else scene.cloud).posts[0].json["messages"][2:]
    text = "cold" if result in ("text", "parts") else ""
    assert [turn["content"] for turn in results] == [text, text]
