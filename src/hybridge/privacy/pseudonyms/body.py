"""Walks through a request's body: the strings that may be changed, and all that could be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Hide = Callable[[str], str]

_AS_IS = frozenset(
    {
        *("cache_control", "data", "file_data", "file_id", "id", "image_url", "role", "signature"),
        *("thinking_blocks", "tool_call_id", "type", "url"),
    }
)
"""Members of turns that mean something to the upstream as they are: what is fetched, decoded,
referred to, or signed."""
_TEXTS = frozenset({"$comment", "default", "description", "example", "examples", "title"})
"""Members of a tool or a schema that say something; all others say what must come back."""
_NAMED = frozenset({"$defs", "definitions", "patternProperties", "properties"})
"""Members of a schema whose own members have names of the caller's choice."""
_FORMS = ("format", "maxLength", "pattern")
_SCHEMATIC = frozenset({"functions", "response_format", "tools"})
_PLAIN = frozenset({"logit_bias", "model", "tool_choice", "function_call"})


def hidden(body: Mapping[str, Any], hide: Hide) -> dict[str, Any]:
    """The body with `hide` applied to each string that may be changed."""
    return {_key(key, hide): _member(key, value, hide) for key, value in body.items()}


def leaves(body: Mapping[str, Any]) -> Iterator[str]:
    """All that anyone could read in a body: keys, strings, numbers, and the text of a turn that
    comes in parts as one. The model's name is left out, for every backend puts its own there."""
    yield from _leaves({key: value for key, value in body.items() if key != "model"})
    for message in body.get("messages") or ():
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            yield "".join(part["text"] for part in content if _is_text(part))


def binds(body: Mapping[str, Any]) -> bool:
    """Whether a schema that the upstream may enforce asks for strings of a form that placeholders
    do not have, such as `format: email`."""
    strict = [tool for tool in body.get("tools") or () if _is_strict(tool)]
    return _has_form([body.get("response_format"), *strict])


def _is_strict(tool: Any) -> bool:
    function = tool.get("function") if isinstance(tool, dict) else None
    return isinstance(function, dict) and bool(function.get("strict"))


def _has_form(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_form, value))
    if not isinstance(value, dict):
        return False
    formed = any(isinstance(value.get(key), str | int) for key in _FORMS)
    return formed or any(map(_has_form, value.values()))


def _key(key: str, hide: Hide) -> str:
    return key if key == "messages" or key in _SCHEMATIC or key in _PLAIN else hide(key)


def _member(key: str, value: Any, hide: Hide) -> Any:
    if key in _PLAIN:
        return value
    if key in _SCHEMATIC:
        return _schema(value, hide)
    if key in ("messages", "prediction"):
        return _turn(value, hide)
    return _free(value, hide)


def _free(value: Any, hide: Hide) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {hide(str(key)): _free(item, hide) for key, item in value.items()}
    return [_free(item, hide) for item in value] if isinstance(value, list) else value


def _turn(value: Any, hide: Hide) -> Any:
    """A turn, a part of one, or several. The name of a tool that was called is kept."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, list):
        return [_turn(item, hide) for item in value]
    if not isinstance(value, dict) or value.get("signature"):
        return value
    fixed = _AS_IS | {"name"} if "arguments" in value else _AS_IS
    return {
        hide(str(key)): item if _is_fixed(key, item, fixed) else _turn(item, hide)
        for key, item in value.items()
    }


def _is_fixed(key: str, item: Any, fixed: frozenset[str]) -> bool:
    """An image's URL may stand in an object of its own, beside its other members."""
    return key in fixed and not (key == "image_url" and isinstance(item, dict))


def _schema(value: Any, hide: Hide) -> Any:
    if isinstance(value, list):
        return [_schema(item, hide) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _keyword(key, item, hide) for key, item in value.items()}


def _keyword(key: str, item: Any, hide: Hide) -> Any:
    if key in _NAMED and isinstance(item, dict):
        return {name: _schema(inner, hide) for name, inner in item.items()}
    return _free(item, hide) if key in _TEXTS else _schema(item, hide)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, float):
        yield f"{value:.0f}"
        yield str(value)
    elif isinstance(value, int):
        yield str(value)


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)
