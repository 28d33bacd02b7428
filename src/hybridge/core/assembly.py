"""From a stream's chunks to one whole answer, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from hybridge.core.response import Chunk, Completion
from hybridge.core.wire import Malformed, chunk, completion, parse

_HEAD = ("id", "created", "model", "system_fingerprint", "service_tier")
_JOINED = ("content", "refusal", "reasoning_content", "reasoning")
"""String members of a delta, whose pieces are joined; thoughts lie in the last two."""
_STRUNG = ("thinking_blocks", "annotations")
"""List members of a delta, whose items are strung together; thoughts with their signatures too."""


def assemble(chunks: Sequence[Chunk]) -> Completion:
    """One `chat.completion` that says what the chunks said.

    Text is joined, tool calls are merged by index, log-probabilities are strung together; the last
    finish reason and the last usage hold. Raises `Malformed` when there is no choice at all.
    """
    head: dict[str, Any] = {"object": "chat.completion"}
    choices: dict[int, dict[str, Any]] = {}
    usage = None
    for piece in chunks:
        body = parse(piece.wire)
        for key in _HEAD:
            if body.get(key) is not None:
                head.setdefault(key, body[key])
        for choice in body.get("choices") or ():
            _add(choices.setdefault(choice.get("index", 0), _blank(choice.get("index", 0))), choice)
        usage = body.get("usage") or usage
    if not choices:
        raise Malformed("a stream without a single choice")
    whole = head | {"choices": [_finished(choices[index]) for index in sorted(choices)]}
    if usage is not None:
        whole["usage"] = usage
    return completion(msgspec.json.encode(whole))


def as_chunks(answer: Completion) -> list[Chunk]:
    """The whole answer as a stream would have told it.

    For each choice a chunk with the role, one with what is said, one with the finish reason; then
    the usage with empty `choices`, where the answer has one. Raises `Malformed`.
    """
    body = parse(answer.wire)
    head = {key: body[key] for key in _HEAD if body.get(key) is not None}
    head["object"] = "chat.completion.chunk"
    pieces = [{"choices": [told]} for choice in body["choices"] for told in _told(choice)]
    if body.get("usage"):
        pieces.append({"choices": [], "usage": body["usage"]})
    return [chunk(msgspec.json.encode(head | piece)) for piece in pieces]


def _blank(index: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    return {"index": index, "message": message, "finish_reason": None, "tool_calls": {}}


def _add(whole: dict[str, Any], choice: dict[str, Any]) -> None:
    delta = choice.get("delta") or {}
    message = whole["message"]
    message["role"] = delta.get("role") or message["role"]
    for key in _JOINED:
        if isinstance(delta.get(key), str):
            message[key] = (message.get(key) or "") + delta[key]
    for key in _STRUNG:
        if isinstance(delta.get(key), list):
            message[key] = [*message.get(key, ()), *delta[key]]
    for position, call in enumerate(delta.get("tool_calls") or ()):
        _add_call(whole["tool_calls"], call.get("index", position), call)
    for kind, tokens in (choice.get("logprobs") or {}).items():
        if isinstance(tokens, list):
            whole.setdefault("logprobs", {}).setdefault(kind, []).extend(tokens)
    whole["finish_reason"] = choice.get("finish_reason") or whole["finish_reason"]


def _add_call(calls: dict[int, dict[str, Any]], index: int, piece: dict[str, Any]) -> None:
    function = piece.get("function") or {}
    call = calls.setdefault(
        index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
    )
    call["id"] = call["id"] or piece.get("id") or ""
    call["type"] = piece.get("type") or call["type"]
    call["function"]["name"] = call["function"]["name"] or function.get("name") or ""
    call["function"]["arguments"] += function.get("arguments") or ""


def _finished(whole: dict[str, Any]) -> dict[str, Any]:
    calls = whole.pop("tool_calls")
    if calls:
        whole["message"]["tool_calls"] = [calls[index] for index in sorted(calls)]
        whole["message"]["content"] = whole["message"]["content"] or None
    return whole


def _told(choice: dict[str, Any]) -> Iterator[dict[str, Any]]:
    index = choice.get("index", 0)
    message = dict(choice.get("message") or {})
    role = message.pop("role", None) or "assistant"
    if message.get("tool_calls"):
        message["tool_calls"] = [{"index": i} | c for i, c in enumerate(message["tool_calls"])]
    said = {key: value for key, value in message.items() if value is not None}
    yield _delta(index, {"role": role, "content": ""})
    if said:
        yield _delta(index, said, logprobs=choice.get("logprobs"))
    yield _delta(index, {}, finish_reason=choice.get("finish_reason"))


def _delta(
    index: int, delta: dict[str, Any], *, finish_reason: str | None = None, logprobs: Any = None
) -> dict[str, Any]:
    told: dict[str, Any] = {"index": index, "delta": delta, "finish_reason": finish_reason}
    return told if logprobs is None else told | {"logprobs": logprobs}
