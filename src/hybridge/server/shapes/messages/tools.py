"""Tools, and whether the model must use them, told as the chat vocabulary tells them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridge.server.shapes.faults import only, unsupported
from hybridge.server.shapes.forms import FLAG, OBJECTS, TEXT, is_text, one_of, wrong
from hybridge.server.shapes.messages.fields import at

_MEMBERS = (
    "type", "name", "description", "input_schema", "strict", "input_examples", "defer_loading",
    "allowed_callers",
    # how its arguments are paid for and streamed, not what they are:
    "cache_control", "eager_input_streaming",
)  # fmt: skip
_CHOICE_OF = {"auto": "auto", "any": "required", "none": "none", "tool": None}
"""The words of both vocabularies; one tool is named by an object."""


def read_tools(said: Sequence[Any]) -> list[dict[str, Any]]:
    """The tools as functions. Raises `RequestError` for any that Anthropic's servers would run, or
    whose form only their models know."""
    return [_tool(tool, at("tools", index)) for index, tool in enumerate(said)]


def read_choice(said: dict[str, Any], tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """`tool_choice` and `parallel_tool_calls`, as far as something is said of them."""
    kind = said.get("type")
    if not is_text(kind) or kind not in _CHOICE_OF:
        raise wrong("tool_choice.type", one_of(*_CHOICE_OF).said, kind)
    only(said, ("type", "name", "disable_parallel_tool_use"), "tool_choice")
    if not tools:
        raise unsupported("tool_choice", "may only be given together with `tools`")
    told: dict[str, Any] = {"tool_choice": _CHOICE_OF[kind] or _named(said, tools)}
    alone = said.get("disable_parallel_tool_use")
    if alone is not None and not FLAG.fits(alone):
        raise wrong("tool_choice.disable_parallel_tool_use", FLAG.said, alone)
    return told | {"parallel_tool_calls": False} if alone else told


def _tool(said: dict[str, Any], where: str) -> dict[str, Any]:
    if said.get("type") not in (None, "custom"):
        raise unsupported(
            at(where, "type"),
            "must be `custom`: tools that Anthropic runs or defines are not to be had here",
        )
    only(said, _MEMBERS, where)
    name, description = said.get("name"), said.get("description")
    if not is_text(name) or not name:
        raise wrong(at(where, "name"), "a string that is not empty", name)
    if description is not None and not is_text(description):
        raise wrong(at(where, "description"), TEXT.said, description)
    _check_wishes(said, where)
    told = {"name": name, "description": description, "parameters": _schema(said, where)}
    told["strict"] = True if said.get("strict") else None
    kept = {key: value for key, value in told.items() if value is not None}
    return {"type": "function", "function": kept}


def _schema(said: dict[str, Any], where: str) -> dict[str, Any]:
    """The input's schema; examples become an annotation in it (JSON Schema validation, 9.5)."""
    schema, examples = said.get("input_schema"), said.get("input_examples")
    if not isinstance(schema, dict):
        raise wrong(at(where, "input_schema"), "an object", schema)
    if examples is None:
        return schema
    if not OBJECTS.fits(examples):
        raise wrong(at(where, "input_examples"), OBJECTS.said, examples)
    return schema | {"examples": examples}


def _check_wishes(said: dict[str, Any], where: str) -> None:
    """What a tool asks for beside its form: strict arguments can be passed on, the others not."""
    for flag in ("strict", "defer_loading"):
        if said.get(flag) is not None and not FLAG.fits(said[flag]):
            raise wrong(at(where, flag), FLAG.said, said[flag])
    if said.get("defer_loading"):
        raise unsupported(at(where, "defer_loading"), "needs Anthropic's tool search")
    if said.get("allowed_callers") not in (None, ["direct"]):
        raise unsupported(at(where, "allowed_callers"), 'must be ["direct"]: no code is run here')


def _named(said: dict[str, Any], tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
    name = said.get("name")
    if name not in [tool["function"]["name"] for tool in tools]:
        raise wrong("tool_choice.name", "the name of one of the `tools`", name)
    return {"type": "function", "function": {"name": name}}
