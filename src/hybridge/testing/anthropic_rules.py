"""What the Messages API refuses, and in which words, as far as a translation can get it wrong.

Taken from the API's reference and from the errors of the service itself.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from hybridge.testing.replies import Received

_FIELDS = frozenset(
    {
        "cache_control", "max_tokens", "messages", "metadata", "model", "output_config",
        "service_tier", "stop_sequences", "stream", "system", "temperature", "thinking",
        "tool_choice", "tools", "top_k", "top_p",
    }
)  # fmt: skip
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
LEAST_THOUGHT = 1024


class Model(Struct, frozen=True):
    """What a model understands; models differ."""

    adaptive: bool = True
    """Thinks adaptively, and takes no budget; older ones take nothing but a budget."""
    formats: bool = True
    """Takes a JSON schema as `output_config.format`."""


class Refusal(Struct, frozen=True):
    """How a request is refused."""

    status: int
    type: str
    message: str


def refusal(received: Received, model: Model) -> Refusal | None:
    """The first thing wrong with a request; None where nothing is."""
    if not (received.headers.get("x-api-key") or received.headers.get("authorization")):
        return Refusal(401, "authentication_error", "x-api-key header is required")
    if not received.target.endswith("/v1/messages"):
        return Refusal(404, "not_found_error", "Not Found")
    if not received.headers.get("anthropic-version"):
        return _wrong("anthropic-version: header is required")
    said = next(_complaints(received.json, model), None)
    return None if said is None else _wrong(said)


def _wrong(message: str) -> Refusal:
    return Refusal(400, "invalid_request_error", message)


def _complaints(body: dict[str, Any], model: Model) -> Iterator[str]:
    for name in body.keys() - _FIELDS:
        yield f"{name}: Extra inputs are not permitted"
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or limit < 1:
        yield "max_tokens: Field required"
        return
    if not 0 <= body.get("temperature", 1) <= 1:
        yield "temperature: range: 0..1"
    yield from _of_turns(body.get("messages") or [])
    yield from _of_thinking(body, limit, model)
    if (body.get("output_config") or {}).get("format") and not model.formats:
        yield "output_config.format: this model does not take an output format"
    for tool in body.get("tools") or ():
        if (tool.get("input_schema") or {}).get("type") != "object":
            yield "tools.0.input_schema.type: Field required"


def _of_turns(turns: list[Any]) -> Iterator[str]:
    if not turns:
        yield "messages: at least one message is required"
    due: list[str] = []
    for turn in turns:
        if turn.get("role") not in ("user", "assistant"):
            yield 'messages: Input should be "user" or "assistant"'
        content = turn.get("content")
        if not content:
            yield "messages: all messages must have non-empty content"
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        results = [str(b.get("tool_use_id")) for b in blocks if b.get("type") == "tool_result"]
        if sorted(results) != sorted(due):
            yield "messages: `tool_use` ids were found without `tool_result` blocks right after"
        due = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        for block in blocks:
            yield from _of_block(block)


def _of_block(block: dict[str, Any]) -> Iterator[str]:
    match block.get("type"):
        case "text":
            if not (block.get("text") or "").strip():
                yield "messages: text content blocks must contain non-whitespace text"
        case "tool_use":
            if not _ID.fullmatch(str(block.get("id"))):
                yield "messages: String should match pattern '^[a-zA-Z0-9_-]+$'"
            if not isinstance(block.get("input"), dict):
                yield "messages: tool_use.input: Input should be a valid dictionary"
        case "image" | "document":
            yield from _of_source(block)
        case "tool_result" | "thinking" | "redacted_thinking":
            return
        case other:
            yield f"messages: Input tag {other!r} found does not match any of the expected tags"


def _of_source(block: dict[str, Any]) -> Iterator[str]:
    source = block.get("source") or {}
    if source.get("type") == "url":
        return
    if block["type"] == "image" and source.get("media_type") not in _PICTURES:
        yield "messages: image.source.base64.media_type: Input should be 'image/jpeg' or so"
    try:
        b64decode(source.get("data") or "", validate=True)
    except NotBase64:
        yield "messages: image.source.base64: invalid base64 data"


def _of_thinking(body: dict[str, Any], limit: int, model: Model) -> Iterator[str]:
    thinking = body.get("thinking") or {}
    if (body.get("output_config") or {}).get("effort") and not model.adaptive:
        yield "output_config.effort: This model does not take an effort"
    if not thinking:
        return
    if (thinking["type"] == "adaptive") is not model.adaptive:
        yield f'"thinking.type.{thinking["type"]}" is not supported for this model.'
    if (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
        yield "Thinking may not be enabled when tool_choice forces tool use."
    if thinking["type"] != "enabled":
        return
    if not LEAST_THOUGHT <= thinking.get("budget_tokens", 0) < limit:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`"
    answers = [turn["content"] for turn in body["messages"] if turn["role"] == "assistant"]
    kinds = [block["type"] for block in answers[-1]] if answers else []
    if "tool_use" in kinds and kinds[0] not in ("thinking", "redacted_thinking"):
        yield "Expected `thinking` or `redacted_thinking`, but found `tool_use`"
