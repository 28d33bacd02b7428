"""A stream of the API's events as `chat.completion.chunk`s.

Events: https://docs.anthropic.com/en/docs/build-with-claude/streaming. Each names itself in its
data, so that the `event:` lines need not be read; those of unknown types are passed over, as the
API asks of its clients.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from hybridge.cloud.anthropic import shape
from hybridge.cloud.anthropic.meaning import finish_reason, is_answer, refusal, usage
from hybridge.cloud.anthropic.turns import THOUGHTS
from hybridge.cloud.sse import EventTooLarge, SseReader
from hybridge.core import wire
from hybridge.core.response import Chunk

Body = dict[str, Any]


@dataclass(slots=True)
class _Block:
    """One block of the answer, as far as it has come."""

    told: dict[str, Any]
    """As it began."""
    call: int | None = None
    """Its place among the tool calls."""
    pieces: list[str] = field(default_factory=list)
    """Of its thoughts, or of a call's arguments."""
    signature: str = ""


class EventReader:
    """Implements `cloud.dialect.Reader`."""

    def __init__(self, *, created: int, schema_as_tool: bool) -> None:
        self.finished = False
        self.done = False
        self._sse = SseReader()
        self._schema_as_tool = schema_as_tool
        self._head: Body = {"id": "", "object": "chat.completion.chunk", "created": created}
        self._blocks: dict[int, _Block] = {}
        self._calls = 0
        self._usage: dict[str, Any] = {}

    def feed(self, piece: bytes) -> Iterator[Chunk]:
        """See `Reader`."""
        return self._read(self._sse.feed(piece))

    def close(self) -> Iterator[Chunk]:
        """See `Reader`."""
        return self._read(self._sse.close())

    def _read(self, events: Iterable[bytes]) -> Iterator[Chunk]:
        """Each chunk waits for the next, to know whether that came with it."""
        held: Body | None = None
        try:
            for data in events:
                if self.done:
                    break
                for body in self._on_event(shape.event(data)):
                    if held is not None:
                        yield self._chunk(held, more=True)
                    held = body
        except (wire.Malformed, wire.ErrorInBand, EventTooLarge):
            if held is not None:
                yield self._chunk(held, more=False)
            raise
        if held is not None:
            yield self._chunk(held, more=False)

    def _on_event(self, event: dict[str, Any]) -> Iterator[Body]:
        match event.get("type"):
            case "message_start":
                yield from self._started(event["message"])
            case "content_block_start":
                yield from self._block_started(event["index"], event["content_block"])
            case "content_block_delta":
                yield from self._block_went_on(event["index"], event["delta"])
            case "content_block_stop":
                yield from self._block_ended(event["index"])
            case "message_delta":
                yield from self._ending(event["delta"], event.get("usage") or {})
            case "message_stop":
                self.done = True

    def _started(self, message: dict[str, Any]) -> Iterator[Body]:
        self._head |= {"id": message.get("id") or "", "model": message.get("model") or ""}
        self._count(message.get("usage") or {})
        yield _delta({"role": "assistant", "content": ""})

    def _block_started(self, index: int, told: dict[str, Any]) -> Iterator[Body]:
        block = self._blocks[index] = _Block(told)
        match told.get("type"):
            case "text":
                if told.get("text"):
                    yield _delta({"content": told["text"]})
            case "thinking":
                yield from self._thought(block, told.get("thinking") or "")
            case "tool_use" if not is_answer(told, schema_as_tool=self._schema_as_tool):
                block.call, self._calls = self._calls, self._calls + 1
                function = {"name": told.get("name"), "arguments": ""}
                named = {"id": told.get("id"), "type": "function", "function": function}
                yield _delta({"tool_calls": [{"index": block.call, **named}]})

    def _block_went_on(self, index: int, delta: dict[str, Any]) -> Iterator[Body]:
        block = self._blocks.get(index)
        if block is None:
            raise wire.Malformed("a piece of a block that did not begin")
        match delta.get("type"):
            case "text_delta":
                yield _delta({"content": delta.get("text") or ""})
            case "thinking_delta":
                yield from self._thought(block, delta.get("thinking") or "")
            case "signature_delta":
                block.signature += delta.get("signature") or ""
            case "input_json_delta":
                yield from self._argument(block, delta.get("partial_json") or "")

    def _block_ended(self, index: int) -> Iterator[Body]:
        block = self._blocks.get(index)
        kind = block.told.get("type") if block else None
        if block is None or kind not in ("thinking", "redacted_thinking", "tool_use"):
            return
        if kind == "tool_use":
            if not block.pieces:  # the input stood in the beginning, or there is none
                given = msgspec.json.encode(block.told.get("input") or {}).decode()
                yield from self._argument(block, given)
        else:
            yield _delta({THOUGHTS: [_signed(block)]})

    def _ending(self, delta: dict[str, Any], counted: dict[str, Any]) -> Iterator[Body]:
        self._count(counted)
        if delta.get("stop_reason") is None:
            return
        self.finished = True
        yield _delta(refusal(delta), finish_reason(delta["stop_reason"], calls=self._calls))
        yield {"choices": [], "usage": usage(self._usage)}

    def _thought(self, block: _Block, piece: str) -> Iterator[Body]:
        if piece:
            block.pieces.append(piece)
            yield _delta({"reasoning_content": piece})

    def _argument(self, block: _Block, piece: str) -> Iterator[Body]:
        if not piece:
            return
        block.pieces.append(piece)
        if block.call is None:
            if block.told.get("type") == "tool_use":
                yield _delta({"content": piece})
        else:
            yield _delta({"tool_calls": [{"index": block.call, "function": {"arguments": piece}}]})

    def _count(self, counted: dict[str, Any]) -> None:
        """Counts are cumulative; what an event leaves out stays as it was."""
        self._usage |= {name: value for name, value in counted.items() if value is not None}

    def _chunk(self, body: Body, *, more: bool) -> Chunk:
        return wire.chunk(msgspec.json.encode(self._head | body), more=more)


def _signed(block: _Block) -> dict[str, Any]:
    """A thought as it has to come back, should the conversation go on."""
    if block.told.get("type") == "redacted_thinking":
        return block.told
    return {"type": "thinking", "thinking": "".join(block.pieces), "signature": block.signature}


def _delta(delta: dict[str, Any], finish: str | None = None) -> Body:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
