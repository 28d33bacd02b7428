"""Replies of a server that speaks Anthropic's Messages API, for `hybridge.testing.Upstream`.

`Upstream(anthropic.says("Hi"))` is that server: strict about what it is sent, as the service is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hybridge.testing.anthropic_rules import Model, refusal
from hybridge.testing.replies import END, Received, Reply, Step, answers, framed, head

Block = Mapping[str, Any]
USAGE: Mapping[str, Any] = {"input_tokens": 7, "output_tokens": 3}
_ID = "msg_013Zva2CMHLNnjNJJKqJ2EF"
_SEEN = {"request-id": "req_011CSHoEeqs5C35K2UUqR7Fy"}
_STREAM = {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"}
_PIECE = 5
"""Characters of one piece of a stream, so that words and arguments are torn."""


def text(said: str) -> Block:
    """A block of text."""
    return {"type": "text", "text": said}


def thought(said: str, signature: str = "EqQBCgIYAg==") -> Block:
    """A block of signed thought."""
    return {"type": "thinking", "thinking": said, "signature": signature}


def use(name: str, given: Mapping[str, Any], id_: str = "toolu_01A09q90qw90lq917835lq9") -> Block:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def says(
    *blocks: Block | str,
    stop_reason: str | None = None,
    usage: Mapping[str, Any] = USAGE,
    model: Model = Model(),  # noqa: B008 - frozen
    **members: Any,
) -> Reply:
    """A good answer, whole or as a stream, whichever is asked for; texts may stand for blocks.

    A request that the API refuses is refused in its words. `members` are added to the message.
    """
    content = [text(block) if isinstance(block, str) else block for block in blocks]
    calls = any(block["type"] == "tool_use" for block in content)
    ending = stop_reason or ("tool_use" if calls else "end_turn")

    def reply(received: Received) -> Iterator[Step]:
        wrong = refusal(received, model)
        if wrong is not None:
            yield from fails(wrong.status, wrong.type, wrong.message)(received)
            return
        message = _message(received, usage) | {"stop_reason": ending} | members
        if received.json.get("stream"):
            yield from events(*_told(message, content))(received)
        else:
            yield from answers(message | {"content": content}, headers=_SEEN)(received)

    return reply


def fails(
    status: int,
    type: str,  # noqa: A002 - the wire's word
    message: str = "told to fail",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """An error in the API's shape."""
    return answers(error(type, message), status, {**_SEEN, **(headers or {})})


def error(type: str, message: str = "told to fail") -> dict[str, Any]:  # noqa: A002
    """An error object, as a response or as an event in a stream."""
    inner = {"type": type, "message": message}
    return {"type": "error", "error": inner, "request_id": _SEEN["request-id"]}


def events(*told: Mapping[str, Any]) -> Reply:
    """A stream of these events, each with its name, and a `ping` after the first."""

    def reply(_: Received) -> Iterator[Step]:
        yield head(200, _STREAM, _SEEN)
        for sent, event in enumerate(told):
            yield framed(_event(event))
            if not sent:
                yield framed(_event({"type": "ping"}))
        yield END

    return reply


def stream_of(*blocks: Block | str, stop_reason: str = "end_turn") -> list[dict[str, Any]]:
    """The events that tell these blocks, to be cut or mixed with others."""
    content = [text(block) if isinstance(block, str) else block for block in blocks]
    message = {"id": _ID, "type": "message", "role": "assistant", "model": "claude"}
    return list(_told(message | {"stop_reason": stop_reason, "usage": dict(USAGE)}, content))


def _message(received: Received, usage: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": _ID,
        "type": "message",
        "role": "assistant",
        "model": received.json.get("model"),
        "stop_sequence": None,
        "usage": dict(usage),
    }


def _told(message: dict[str, Any], content: Sequence[Block]) -> Iterator[dict[str, Any]]:
    usage = message["usage"]
    begun = message | {"content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(content):
        yield {"type": "content_block_start", "index": index, "content_block": _empty(block)}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {key: message[key] for key in ("stop_reason", "stop_details") if key in message}
    counted = {"output_tokens": usage["output_tokens"]}
    yield {"type": "message_delta", "delta": ending, "usage": counted}
    yield {"type": "message_stop"}


def _empty(block: Block) -> dict[str, Any]:
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case "tool_use":
            return {**block, "input": {}}
        case _:
            return dict(block)


def _deltas(block: Block) -> Iterator[dict[str, Any]]:
    match block["type"]:
        case "text":
            for piece in _pieces(block["text"]):
                yield {"type": "text_delta", "text": piece}
        case "thinking":
            for piece in _pieces(block["thinking"]):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use":
            yield {"type": "input_json_delta", "partial_json": ""}
            given = msgspec.json.encode(block["input"]).decode() if block["input"] else ""
            for piece in _pieces(given):
                yield {"type": "input_json_delta", "partial_json": piece}


def _pieces(said: str) -> Iterator[str]:
    return (said[at : at + _PIECE] for at in range(0, len(said), _PIECE))


def _event(event: Mapping[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: ".encode() + msgspec.json.encode(event) + b"\n\n"
