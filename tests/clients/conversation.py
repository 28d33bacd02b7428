"""What can be read off the messages of a chat request."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

Message = dict[str, Any]


def text_of(message: Message) -> str:
    """Its text parts, joined by line breaks."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def texts(messages: list[Message], *roles: str) -> list[str]:
    """The text of every turn in one of these roles."""
    return [text_of(message) for message in messages if message["role"] in roles]


def pictures(messages: list[Message]) -> Iterator[str]:
    """Media type and SHA-256 of every picture."""
    for message in messages:
        content = message.get("content")
        for part in content if isinstance(content, list) else ():
            if part["type"] == "image_url":
                head, _, data = part["image_url"]["url"].partition(";base64,")
                digest = hashlib.sha256(base64.b64decode(data, validate=True)).hexdigest()
                yield f"{head.removeprefix('data:')} {digest}"


def tool_results(messages: list[Message]) -> Iterator[str]:
    """The results of the last calls, in the order of the calls."""
    last = max(i for i, message in enumerate(messages) if message.get("tool_calls"))
    results = {m["tool_call_id"]: text_of(m) for m in messages[last + 1 :]}
    return (results[call["id"]] for call in messages[last]["tool_calls"])


def unanswered(messages: list[Message]) -> str | None:
    """What is wrong when not every call has its result, or a result has no call (as OpenAI)."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return f"no call has the id {message['tool_call_id']}"
            waiting.remove(message["tool_call_id"])
        elif waiting:
            break
        waiting |= {call["id"] for call in message.get("tool_calls") or ()}
    return f"no result for the calls {sorted(waiting)}" if waiting else None
