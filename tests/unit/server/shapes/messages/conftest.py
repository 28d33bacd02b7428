"""Requests, answers and streams of the messages vocabulary, without a server around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import pytest

from hybridge.core.response import Chunk, Completion, Usage
from hybridge.core.wire import chunk, completion
from hybridge.server.shapes.messages import Messages
from hybridge.server.shapes.shape import Asked, Asker

ESTIMATE = Usage(4, 6, estimated=True)
Events = list[tuple[str, dict[str, Any]]]


@pytest.fixture(scope="session")
def body() -> Callable[..., dict[str, Any]]:
    """A messages request's body; `members` are added, None takes one away."""

    def made(*content: Any, **members: Any) -> dict[str, Any]:
        turns = [{"role": "user", "content": list(content) or "Hi"}]
        said = {"model": "auto", "max_tokens": 64, "messages": turns} | members
        return {name: value for name, value in said.items() if value is not None}

    return made


@pytest.fixture(scope="session")
def read() -> Callable[[dict[str, Any]], Asked]:
    """What the shape makes of a body. A prompt counts 7 tokens here."""

    def asked(said: dict[str, Any], **headers: str) -> Asked:
        given = {name.replace("_", "-").encode(): v.encode() for name, v in headers.items()}
        return Messages(lambda _: 7).read(said, Asker("req-0a", "tenant", given, 1.0))

    return asked


@pytest.fixture(scope="session")
def sent(read) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The chat request that a body becomes."""
    return lambda said: dict(read(said).request.body)


@pytest.fixture(scope="session")
def answer() -> Callable[..., Completion]:
    """A backend's whole answer; `members` are those of its message."""

    def made(finish: str = "stop", *, choice: dict[str, Any] | None = None, **members: Any):
        message = {"role": "assistant", "content": None} | members
        told = {"index": 0, "message": message, "finish_reason": finish} | (choice or {})
        return completion(msgspec.json.encode({"model": "m-1", "choices": [told]}))

    return made


@pytest.fixture(scope="session")
def delta() -> Callable[..., Chunk]:
    """A backend's chunk; `members` are those of its delta."""

    def made(finish: str | None = None, *, choice: dict[str, Any] | None = None, **members: Any):
        told = {"index": 0, "delta": members, "finish_reason": finish} | (choice or {})
        return chunk(msgspec.json.encode({"model": "m-1", "choices": [told]}))

    return made


@pytest.fixture(scope="session")
def fragment(delta) -> Callable[..., Chunk]:
    """A chunk that holds a piece of one tool call."""

    def made(index: int, arguments: str, *, call: str | None = None, name: str | None = None):
        function = {"arguments": arguments} | ({"name": name} if name else {})
        told = {"index": index, "function": function} | ({"id": call} if call else {})
        return delta(tool_calls=[told])

    return made


@pytest.fixture(scope="session")
def events() -> Callable[[bytes], Events]:
    """The events in a stream's bytes, each with its name; the name must be the data's type."""

    def heard(stream: bytes) -> Events:
        *blocks, rest = stream.decode().split("\n\n")
        assert rest == ""
        found = []
        for block in blocks:
            name, data = block.split("\n")
            told = msgspec.json.decode(data.removeprefix("data: "))
            assert name == f"event: {told['type']}"
            found.append((told["type"], told))
        return found

    return heard


@pytest.fixture(scope="session")
def stream(read, body, events) -> Callable[..., Events]:
    """The events by which chunks are told."""

    def told(chunks: Iterable[Chunk], report: bytes | None = None, **members: Any) -> Events:
        writer = read(body(stream=True, **members)).writer
        written = [writer.chunk(piece) for piece in chunks]
        assert writer.finished
        return events(b"".join([*written, writer.end(ESTIMATE, report)]))

    return told


@pytest.fixture(scope="session")
def whole(read, body) -> Callable[..., dict[str, Any]]:
    """The message by which an answer is told."""

    def told(given: Completion, report: bytes | None = None, **members: Any) -> dict[str, Any]:
        writer = read(body(**members)).writer
        return msgspec.json.decode(writer.whole(given, ESTIMATE, report))

    return told


@pytest.fixture(scope="session")
def gathered() -> Callable[[Events], dict[str, Any]]:
    """The message that a client makes of a stream; the stream must be well formed."""
    return _gather


def _gather(heard: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    (first, begun), *middle, (last_but_one, ending), (last, _) = heard
    assert (first, last_but_one, last) == ("message_start", "message_delta", "message_stop")
    message, content = begun["message"], []
    is_open = False
    for kind, told in middle:
        if kind == "content_block_start":
            assert not is_open
            assert told["index"] == len(content)
            content.append({**told["content_block"], "json": ""})
        else:
            assert is_open
            assert told["index"] == len(content) - 1
            assert kind in ("content_block_delta", "content_block_stop")
        is_open = kind != "content_block_stop"
        _grow(content[-1], told.get("delta", {}))
    assert not is_open
    for block in content:
        arguments = block.pop("json")
        if block["type"] == "tool_use" and arguments:
            block["input"] = msgspec.json.decode(arguments)
    return message | {"content": content} | ending["delta"] | {"usage": ending["usage"]}


def _grow(block: dict[str, Any], delta: dict[str, Any]) -> None:
    match delta.get("type"):
        case "input_json_delta":
            assert block["type"] == "tool_use"
            block["json"] += delta["partial_json"]
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
