"""Reading a conversation: its form is checked, its text and its needs are taken out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hybridge.core.errors import RequestError
from hybridge.core.request import Feature, Message
from hybridge.server.shapes.forms import is_object, is_text, wrong
from hybridge.server.shapes.images import picture_fault

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_ROLES = frozenset(ROLES)
SILENT = frozenset(("assistant", "tool", "function"))
"""Roles whose content may be null or missing: a tool call or its empty result says enough."""

_WHERE: Mapping[str, tuple[str, str | None]] = {
    "text": ("text", None),
    "refusal": ("refusal", None),
    "image_url": ("image_url", "url"),
    "input_audio": ("input_audio", "data"),
    "file": ("file", None),
}
"""Type of a content part, the member that holds it, and the string that must lie in that."""
_NEEDS = {
    "text": None,
    "refusal": None,
    "image_url": Feature.IMAGES,
    "input_audio": Feature.AUDIO,
}
"""What a part needs of a backend; any other type of part counts as a file, so that it is never
dropped by a model that has no use for it."""


def read_messages(value: Any) -> tuple[tuple[Message, ...], frozenset[Feature]]:
    """The turns, and what they need of a backend. Raises `RequestError` that names the place."""
    if not isinstance(value, list) or not value:
        raise wrong("messages", "an array of at least one message", value)
    needs: set[Feature] = set()
    return tuple(_message(i, said, needs) for i, said in enumerate(value)), frozenset(needs)


def _message(index: int, said: Any, needs: set[Feature]) -> Message:
    if not isinstance(said, dict):
        raise wrong(f"messages[{index}]", "an object", said)
    role, content = said.get("role"), said.get("content")
    if not isinstance(role, str) or role not in _ROLES:
        raise RequestError(
            f"`messages[{index}].role` must be one of {', '.join(ROLES)}",
            param=f"messages[{index}].role",
            code="invalid_value",
        )
    calls = said.get("tool_calls")
    count = 0 if calls is None else _count_calls(calls, f"messages[{index}].tool_calls")
    if isinstance(content, str):
        return Message(role, content, 0, count)
    if content is None and role in SILENT:
        return Message(role, "", 0, count)
    where = f"messages[{index}].content"
    if not isinstance(content, list) or (not content and role not in SILENT):
        raise wrong(where, "a string or an array of parts", content)
    return _of_parts(role, list(_parts(content, where)), count, needs)


def _of_parts(
    role: str, parts: Sequence[tuple[str, Any]], calls: int, needs: set[Feature]
) -> Message:
    kinds = [kind for kind, _ in parts]
    needs.update(need for kind in kinds if (need := _NEEDS.get(kind, Feature.FILES)))
    text = "\n".join(said for kind, said in parts if kind in ("text", "refusal"))
    return Message(role, text, kinds.count("image_url"), calls)


def _parts(content: list[Any], where: str) -> Iterator[tuple[str, Any]]:
    for index, part in enumerate(content):
        here = f"{where}[{index}]"
        if not isinstance(part, dict):
            raise wrong(here, "an object", part)
        kind = part.get("type")
        if not isinstance(kind, str):
            raise wrong(f"{here}.type", "a string", kind)
        yield kind, _held(kind, part, here)


def _held(kind: str, part: Mapping[str, Any], here: str) -> Any:
    """What a part of a known kind holds, checked."""
    if kind not in _WHERE:
        return None
    member, inner = _WHERE[kind]
    held, here = part.get(member), f"{here}.{member}"
    if kind in ("text", "refusal"):
        if not is_text(held):
            raise wrong(here, "a string", held)
    elif not isinstance(held, dict):
        raise wrong(here, "an object", held)
    elif inner is not None and not is_text(held.get(inner)):
        raise wrong(f"{here}.{inner}", "a string", held.get(inner))
    elif kind == "image_url" and (fault := picture_fault(held["url"])) is not None:
        raise RequestError(f"`{here}.url` {fault}", param=f"{here}.url", code="invalid_image")
    return held


def _count_calls(calls: Any, where: str) -> int:
    if not isinstance(calls, list):
        raise wrong(where, "an array", calls)
    for index, call in enumerate(calls):
        here = f"{where}[{index}]"
        if not is_object(call):
            raise wrong(here, "an object", call)
        kind, function = call.get("type", "function"), call.get("function")
        for name in ("type", "id"):
            if not is_text(call.get(name, "")):
                raise wrong(f"{here}.{name}", "a string", call[name])
        if kind == "function" or "function" in call:
            _check_function(function, f"{here}.function")
    return len(calls)


def _check_function(function: Any, where: str) -> None:
    if not is_object(function):
        raise wrong(where, "an object", function)
    if not is_text(function.get("name")):
        raise wrong(f"{where}.name", "a string", function.get("name"))
    if not is_text(function.get("arguments", "")):
        raise wrong(f"{where}.arguments", "a string that holds JSON", function["arguments"])
