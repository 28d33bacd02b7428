"""What the loopback upstream can be told to answer, byte by byte.

A `Reply` makes the steps of one HTTP answer from the request it answers. Replies that misbehave are
made by wrapping one that behaves: `cut(says("one two three"), after=2, end=Cut.RESET)`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import msgspec

from hybridge.core.assembly import as_chunks
from hybridge.core.wire import completion


class Cut(Enum):
    """How a connection can end before its answer does."""

    RESET = "reset"
    """At once, as when the server's process is killed."""
    CLOSE = "close"
    """Closed in good order, in the middle of the answer's framing."""


Step = bytes | float | Cut
"""Bytes are sent, a float waits that many seconds (infinity: for ever), a `Cut` ends it."""


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived."""

    method: str
    target: str
    """As on the request line: a path, or a whole URL when this server is used as a proxy."""
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes = field(repr=False)
    gone: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Set when the client hung up before the answer's end."""

    @property
    def json(self) -> dict[str, Any]:
        """The body's JSON object; empty when there is no body."""
        return msgspec.json.decode(self.body, type=dict[str, Any]) if self.body else {}


Reply = Callable[[Received], Iterator[Step]]

END = b"0\r\n\r\n"
"""The end of a chunked HTTP body (RFC 9112, 7.1)."""


def says(
    text: str = "Hello from upstream.",
    *,
    logprob: float | None = None,
    finish_reason: str = "stop",
    usage: Literal["own", "finish", "none"] = "own",
    model: str | None = None,
    extra: Mapping[str, Any] | None = None,
) -> Reply:
    """A good answer, as JSON or as a stream of its words, whichever the request asks for.

    `logprob` is each token's, given only to a request that asks for `logprobs`. `usage` comes in a
    chunk of its own when asked for, on the finish chunk always, or nowhere. `extra` adds members to
    the message.
    """

    def reply(received: Received) -> Iterator[Step]:
        asked = received.json
        body = _completion(text, finish_reason, model or str(asked.get("model", "")), extra or {})
        if asked.get("logprobs") and logprob is not None:
            body["choices"][0]["logprobs"] = {"content": _tokens(text, logprob)}
        if not asked.get("stream"):
            if usage == "none":
                del body["usage"]
            yield from answers(body)(received)
            return
        wants_usage = bool((asked.get("stream_options") or {}).get("include_usage"))
        yield from streams(*_events(body, text, usage, wants_usage))(received)

    return reply


def answers(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """Any JSON value with any status."""
    return raw(msgspec.json.encode(body), status, {"content-type": "application/json"}, headers)


def fails(
    status: int,
    message: str = "told to fail",
    *,
    type: str = "server_error",  # noqa: A002 - the wire's word
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> Reply:
    """An error in OpenAI's shape; `members` are added to the error object."""
    error = {"message": message, "type": type, "param": None, "code": code, **members}
    return answers({"error": error}, status, headers)


def page(status: int = 502) -> Reply:
    """An HTML page, as a proxy on the way sends it."""
    html = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
    return raw(html, status, {"content-type": "text/html"})


def raw(body: bytes, status: int = 200, *headers: Mapping[str, str] | None) -> Reply:
    """These bytes as the body."""

    def reply(_: Received) -> Iterator[Step]:
        length = {"content-length": str(len(body))}
        yield head(status, length, *headers) + body

    return reply


def streams(*events: Mapping[str, Any] | bytes, done: bool = True) -> Reply:
    """Server-sent events, one HTTP chunk each: JSON objects, or bytes exactly as they are.

    `done` adds `data: [DONE]`.
    """

    def reply(_: Received) -> Iterator[Step]:
        yield head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        for event in events:
            yield framed(event if isinstance(event, bytes) else sse(event))
        if done:
            yield framed(b"data: [DONE]\n\n")
        yield END

    return reply


def hangs(after: Reply | None = None) -> Reply:
    """Says nothing for ever, or nothing more once `after` is said."""

    def reply(received: Received) -> Iterator[Step]:
        if after is not None:
            yield from after(received)
        yield float("inf")

    return reply


def cut(reply: Reply, *, after: int, end: Step) -> Reply:
    """`reply` up to `after` content chunks, then `end`: a `Cut`, more bytes, or a wait.

    `end=END` closes the stream tidily though nothing was finished.
    """

    def shortened(received: Received) -> Iterator[Step]:
        for sent, step in enumerate(reply(received)):
            if sent == after + 2:  # the head and the chunk with the role come first
                break
            yield step
        yield end

    return shortened


def slowly(reply: Reply, *, first_s: float = 0.0, between_s: float = 0.0) -> Reply:
    """`reply`, with a wait before its first byte and before each further step."""

    def slow(received: Received) -> Iterator[Step]:
        yield first_s
        for sent, step in enumerate(reply(received)):
            if sent:
                yield between_s
            yield step

    return slow


def byte_by_byte(reply: Reply) -> Reply:
    """`reply`, each byte sent on its own."""

    def split(received: Received) -> Iterator[Step]:
        for step in reply(received):
            if not isinstance(step, bytes):
                yield step
                continue
            for at in range(len(step)):
                yield step[at : at + 1]
                yield 0.0

    return split


def sse(event: Mapping[str, Any]) -> bytes:
    """One server-sent event."""
    return b"data: " + msgspec.json.encode(event) + b"\n\n"


def framed(data: bytes) -> bytes:
    """One chunk of a chunked HTTP body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def head(status: int, *headers: Mapping[str, str] | None) -> bytes:
    """Status line and headers."""
    lines = [f"HTTP/1.1 {status} Told"]
    lines += [f"{name}: {value}" for some in headers if some for name, value in some.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _completion(
    text: str, finish_reason: str, model: str, extra: Mapping[str, Any]
) -> dict[str, Any]:
    words = len(_words(text))
    message = {"role": "assistant", "content": text, **extra}
    return {
        "id": "chatcmpl-upstream",
        "object": "chat.completion",
        "created": 1893456000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 7, "completion_tokens": words, "total_tokens": 7 + words},
    }


def _events(
    body: dict[str, Any], text: str, usage: str, wants_usage: bool
) -> Iterator[dict[str, Any]]:
    """The stream's objects: as many content chunks as there are words."""
    told = [msgspec.json.decode(c.wire) for c in as_chunks(completion(msgspec.json.encode(body)))]
    role, said, finish, total = told
    tokens = (said["choices"][0].pop("logprobs", None) or {}).get("content")
    yield role
    for position, word in enumerate(_words(text)):
        delta = {"content": word} if position else said["choices"][0]["delta"] | {"content": word}
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        if tokens:
            choice["logprobs"] = {"content": [tokens[position]]}
        yield said | {"choices": [choice]}
    yield finish | {"usage": total["usage"]} if usage == "finish" else finish
    if usage == "own" and wants_usage:
        yield total


def _words(text: str) -> list[str]:
    first, *rest = text.split(" ")
    return [first, *(f" {word}" for word in rest)]


def _tokens(text: str, logprob: float) -> list[dict[str, Any]]:
    return [{"token": word, "logprob": logprob, "top_logprobs": []} for word in _words(text)]
