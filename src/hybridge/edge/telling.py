"""The engine's pieces as the caller gets them: choices, tool calls, probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from hybridge.core.response import Chunk
from hybridge.core.wire import Malformed, chunk, parse
from hybridge.edge.asking import Asked
from hybridge.edge.tool_text import ToolText

NEXT_CHOICE = ""
"""Stands between the pieces of one choice and those of the next."""
_PROGRESS = '"prompt_progress"'
"""Marks a piece that only says how much of the prompt has been read. In a text the quotation marks
would be escaped, so that no answer can hold this."""

Piece = dict[str, Any]


class Telling:
    """Reads the pieces of one answer. Plain text passes as it came."""

    def __init__(self, asked: Asked, request_id: str, *, build: str, version: str) -> None:
        """In answers the engine names its `build`; there the weights' `version` is worth more."""
        self._asked = asked
        self._request_id = request_id
        field = '"system_fingerprint":"'
        self._fingerprint = (f'{field}{build}"', f'{field}{version}"')
        self._plain = not asked.tools and asked.choices == 1 and asked.top_logprobs is None
        self._index = 0
        self._tools = self._reader()
        self._tokens: list[Any] = []
        """Of text that is held back."""
        self._text = ""
        self._head: Piece = {}
        self._usage: dict[str, Any] = {}
        self._ended = 0

    @property
    def finished(self) -> bool:
        """Whether every choice came to its end."""
        return self._ended == self._asked.choices

    def read(self, said: str) -> Sequence[Chunk]:
        """The chunks in one piece of the engine's. Raises `Malformed` and `ErrorInBand`."""
        if said == NEXT_CHOICE:
            self._index += 1
            self._tools, self._text = self._reader(), ""
            return ()
        if _PROGRESS in said:
            return ()
        piece = chunk(said.replace(*self._fingerprint, 1).encode())
        self._check_json(piece)
        if self._plain:
            self._ended += piece.finish_reason is not None
            return (piece,)
        return tuple(chunk(msgspec.json.encode(told)) for told in self._told(parse(piece.wire)))

    def _check_json(self, piece: Chunk) -> None:
        """A grammar that grows too large is given up by the engine while it writes."""
        if not self._asked.is_json:
            return
        self._text += piece.text
        if piece.finish_reason == "stop" and not _is_json(self._text):
            raise Malformed("it did not keep to the JSON that was asked for")

    def _told(self, body: Piece) -> Iterator[Piece]:
        self._head = self._head or {key: body[key] for key in ("id", "created") if key in body}
        body |= self._head  # one answer, however many generations it took
        if body.get("usage"):
            self._add(body["usage"])
        for choice in body["choices"]:
            yield from (body | {"choices": [one]} for one in self._choices(choice))
        if self.finished and not body["choices"]:
            yield body | {"usage": self._usage}

    def _choices(self, choice: Piece) -> Iterator[Piece]:
        choice["index"] = self._index
        logprobs = choice.pop("logprobs", None) or {}
        if not self._is_scaffolding():
            self._tokens += [self._token(token) for token in logprobs.get("content") or ()]
        reason, delta = choice.get("finish_reason"), choice["delta"]
        tools = self._tools
        if tools is not None and "role" not in delta:
            deltas = _deltas(tools, delta, reason)
        else:
            deltas = [delta] if delta else []
        for one in deltas:
            yield self._with_tokens(choice | {"delta": one, "finish_reason": None})
        if reason is not None:
            self._ended += 1
            yield choice | {"delta": {}, "finish_reason": self._reason(reason)}

    def _with_tokens(self, choice: Piece) -> Piece:
        tokens, self._tokens = self._tokens, []
        return choice | {"logprobs": {"content": tokens}} if tokens else choice

    def _reason(self, reason: str) -> str:
        if self._tools is None or reason != "stop" or not self._tools.calls:
            return reason
        return "length" if self._tools.cut else "tool_calls"

    def _is_scaffolding(self) -> bool:
        """Whether the model has to write this, so that its doubts about it say nothing."""
        return self._asked.must_call and self._tools is not None and not self._tools.calls

    def _reader(self) -> ToolText | None:
        return ToolText(self._asked.tools, self._call_id) if self._asked.tools else None

    def _call_id(self, call: int) -> str:
        return f"call_{self._request_id}_{self._index}_{call}"

    def _token(self, token: Piece) -> Piece:
        """In OpenAI's shape, with as many alternatives as were asked for."""
        others = token.get("top_logprobs") or ()
        return _shaped(token) | {
            "top_logprobs": [_shaped(other) for other in others[: self._asked.top_logprobs or 0]]
        }

    def _add(self, usage: Piece) -> None:
        """The prompt counts once, what was generated in all."""
        so_far = self._usage or usage | {"completion_tokens": 0}
        completion = so_far["completion_tokens"] + usage["completion_tokens"]
        total = so_far["prompt_tokens"] + completion
        self._usage = so_far | {"completion_tokens": completion, "total_tokens": total}


def _deltas(tools: ToolText, delta: Piece, reason: str | None) -> list[Piece]:
    deltas = tools.feed(delta.get("content") or "")
    if thought := delta.get("reasoning_content"):
        deltas.insert(0, {"reasoning_content": thought})
    return deltas if reason is None else deltas + tools.close(reason)


def _shaped(token: Piece) -> Piece:
    """A part of a character is no text; then its bytes are named, as OpenAI names them."""
    raw = bytes(token.get("bytes") or ())
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = "bytes:" + "".join(f"\\x{byte:02x}" for byte in raw)
    return {"token": text, "logprob": token.get("logprob"), "bytes": list(raw)}


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
