"""Streams that are told as they should be: the usage chunk, and characters that are whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.integration.known_faults.common import BACKENDS, PATIENT, port_of
from tests.integration.known_faults.vocabularies import (
    CHAT,
    EVERY_SHAPE,
    MESSAGES,
    RESPONSES,
    SHAPES_WITH_TOOLS,
    TEXTS,
    asking,
    events_of,
    told,
    tools_of,
)

from hybridge.testing.http import ask
from hybridge.testing.replies import Reply, byte_by_byte, says, streams

pytestmark = pytest.mark.anyio
CONFIG = {"execution": PATIENT}
HEAD = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
USAGE = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}


def chunk(delta: dict[str, Any], finish: str | None = None, **members: Any) -> dict[str, Any]:
    return HEAD | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]} | members


def with_a_dummy_choice(_: Any) -> Any:
    """The symptom itself, an upstream's: usage comes with a choice that says nothing."""
    said = [chunk({"role": "assistant", "content": ""}), chunk({"content": "Good day"})]
    return streams(*said, chunk({}, "stop"), chunk({}, usage=USAGE))(_)


def on_every_chunk(_: Any) -> Any:
    said = [chunk({"role": "assistant", "content": "Good"}, usage=USAGE | {"completion_tokens": 1})]
    said += [chunk({"content": " day"}, usage=USAGE), chunk({}, "stop", usage=USAGE)]
    return streams(*said, HEAD | {"choices": [], "usage": USAGE})(_)


PLACES: dict[str, Reply] = {
    "own": says("Good day", usage="own"),
    "finish": says("Good day", usage="finish"),
    "none": says("Good day", usage="none"),
    "dummy": with_a_dummy_choice,
    "every": on_every_chunk,
}
USAGE_PLACES = pytest.mark.parametrize("place", PLACES)


@pytest.mark.fault("B01")
@BACKENDS
@USAGE_PLACES
@pytest.mark.parametrize("path", [CHAT, TEXTS])
async def test_usage_comes_once_behind_the_finish_and_without_a_choice(scene, path, place, model):
    scene.edge.then(PLACES[place])
    scene.cloud.then(PLACES[place])
    body = asking(path, stream=True, model=model, stream_options={"include_usage": True})
    *events, last = events_of((await ask(port_of(scene.gateway), path, body)).body)
    assert last == "[DONE]"
    assert [bool(event.get("usage")) for event in events] == [False] * (len(events) - 1) + [True]
    finish, usage = events[-2:]
    assert finish["choices"][0]["finish_reason"] == "stop"
    assert usage["choices"] == []
    counted = usage["usage"]
    assert counted["total_tokens"] == counted["prompt_tokens"] + counted["completion_tokens"] > 2
    assert bool(counted.get("estimated")) is (place == "none")
    assert all(event["choices"] for event in events[:-1])


@pytest.mark.fault("B01")
@BACKENDS
@USAGE_PLACES
@pytest.mark.parametrize("options", [None, {}, {"include_usage": False}], ids=str)
@pytest.mark.parametrize("path", [CHAT, TEXTS])
async def test_unasked_for_no_chunk_is_without_a_choice(scene, path, options, place, model):
    scene.edge.then(PLACES[place])
    scene.cloud.then(PLACES[place])
    more = {} if options is None else {"stream_options": options}
    body = asking(path, stream=True, model=model, **more)
    *events, last = events_of((await ask(port_of(scene.gateway), path, body)).body)
    assert last == "[DONE]"
    assert all(event["choices"] for event in events)
    assert not any("usage" in event for event in events)
    assert [event["choices"][0]["finish_reason"] for event in events[-2:]] == [None, "stop"]


@pytest.mark.fault("B01")
@BACKENDS
@USAGE_PLACES
@pytest.mark.parametrize("path", [MESSAGES, RESPONSES])
async def test_where_usage_is_always_told_it_is_told_once(scene, path, place, model):
    scene.edge.then(PLACES[place])
    scene.cloud.then(PLACES[place])
    got = await ask(port_of(scene.gateway), path, asking(path, stream=True, model=model))
    said = told(path, got)
    assert said.text == "Good day"
    [usage] = said.usages
    assert usage["input_tokens"] > 0
    assert usage["output_tokens"] > 0


HARD = "你好，世界 😀 👨‍👩‍👧‍👦 𠮷野家 café ﷽"
ARGUMENTS = json.dumps({"city": HARD}, ensure_ascii=False)


def texts(text: str, size: int) -> list[dict[str, Any]]:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    opening = chunk({"role": "assistant", "content": ""})
    return [opening, *(chunk({"content": piece}) for piece in pieces), chunk({}, "stop")]


def calls(arguments: str) -> list[dict[str, Any]]:
    def of(function: dict[str, str], **more: Any) -> dict[str, Any]:
        return chunk({"tool_calls": [{"index": 0, "function": function, **more}]})

    first = of({"name": "weather", "arguments": ""}, id="call_1", type="function")
    pieces = (of({"arguments": arguments[at : at + 3]}) for at in range(0, len(arguments), 3))
    return [chunk({"role": "assistant"}), first, *pieces, chunk({}, "tool_calls")]


def framed_in(ending: str, *, escaped: bool = False, lines: bool = False) -> Any:
    """How a server may write its events: line ends, escapes, data of several lines."""

    def write(event: dict[str, Any]) -> bytes:
        text = json.dumps(event, ensure_ascii=escaped, indent=1 if lines else None)
        data = [f"data: {line}" for line in text.split("\n")]
        return ending.join(["event: message", *data, "", ""]).encode()

    return write


WAYS = {
    "lf": framed_in("\n"),
    "crlf": framed_in("\r\n"),
    "cr": framed_in("\r"),
    "escaped": framed_in("\n", escaped=True),
    "lines": framed_in("\n", lines=True),
    "crlf-lines": framed_in("\r\n", lines=True),
}
FRAMING = pytest.mark.parametrize("way", WAYS)


def dripped(way: str, events: list[dict[str, Any]]) -> Reply:
    return byte_by_byte(streams(*(WAYS[way](event) for event in events)))


@pytest.mark.fault("B03")
@BACKENDS
@FRAMING
@EVERY_SHAPE
async def test_text_that_comes_byte_by_byte_stays_whole(scene, path, way, model):
    reply = dripped(way, texts(HARD, 1))
    scene.edge.then(reply)
    scene.cloud.then(reply)
    got = await ask(port_of(scene.gateway), path, asking(path, stream=True, model=model))
    said = told(path, got)
    assert (said.text, said.ending, said.done) == (HARD, "stop", True)
    assert "\ufffd" not in got.body.decode()


@pytest.mark.fault("B03")
@BACKENDS
@FRAMING
@SHAPES_WITH_TOOLS
async def test_arguments_that_come_byte_by_byte_stay_whole(scene, path, way, model):
    reply = dripped(way, calls(ARGUMENTS))
    scene.edge.then(reply)
    scene.cloud.then(reply)
    body = asking(path, stream=True, model=model, tools=tools_of(path, "weather"))
    got = await ask(port_of(scene.gateway), path, body)
    said = told(path, got)
    [(_, name, arguments)] = said.calls
    assert (name, arguments, said.ending) == ("weather", ARGUMENTS, "tool_calls")
    assert "\ufffd" not in got.body.decode()


@pytest.mark.fault("B03")
@BACKENDS
@EVERY_SHAPE
async def test_a_whole_answer_that_comes_byte_by_byte_stays_whole(scene, path, model):
    reply = byte_by_byte(says(HARD))
    scene.edge.then(reply)
    scene.cloud.then(reply)
    got = await ask(port_of(scene.gateway), path, asking(path, model=model))
    assert told(path, got).text == HARD
