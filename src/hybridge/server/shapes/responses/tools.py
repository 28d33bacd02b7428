"""Tools, and whether the model must use them, told as the chat vocabulary tells them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hybridge.server.shapes.faults import only, unsupported
from hybridge.server.shapes.forms import FLAG, OBJECT, OBJECTS, TEXT, one_of
from hybridge.server.shapes.responses.fields import invalid, may, member

Tool = dict[str, Any]
_MODES = one_of("auto", "none", "required")
_ALLOWED_MODES = one_of("auto", "required")
_MEMBERS = {"description": TEXT, "parameters": OBJECT, "strict": FLAG}


def read_tools(said: Sequence[Mapping[str, Any]]) -> list[Tool]:
    """The tools as functions. Raises `RequestError` for any that OpenAI's servers would run, or
    whose form only their models know."""
    return [_tool(tool, f"tools[{index}]") for index, tool in enumerate(said)]


def read_choice(said: Any, tools: Sequence[Tool]) -> dict[str, Any]:
    """`tool_choice`, and the tools where it allows only some of them.

    A choice among some is told by sending no others, which every backend understands.
    """
    if isinstance(said, str):
        if not _MODES.fits(said):
            raise invalid("tool_choice", f"must be {_MODES.said}, or an object")
        return {"tool_choice": said}
    kind = member(said, "type", TEXT, "tool_choice")
    if kind == "function":
        only(said, ("type", "name"), "tool_choice")
        name = _known(said, "tool_choice", _names(tools))
        return {"tool_choice": {"type": "function", "function": {"name": name}}}
    if kind == "allowed_tools":
        return _allowed(said, tools)
    raise unsupported("tool_choice.type", "must be function or allowed_tools")


def _tool(said: Mapping[str, Any], where: str) -> Tool:
    if said.get("type") != "function":
        raise unsupported(
            f"{where}.type",
            "must be `function`: tools that OpenAI runs or defines are not to be had here",
        )
    kept = {name: value for name, value in said.items() if value is not False}
    only(kept, ("type", "name", *_MEMBERS), where)
    told = {"name": member(said, "name", TEXT, where)}
    told |= {name: may(said, name, form, where) for name, form in _MEMBERS.items()}
    function = {name: value for name, value in told.items() if value is not None}
    return {"type": "function", "function": function}


def _allowed(said: Mapping[str, Any], tools: Sequence[Tool]) -> dict[str, Any]:
    only(said, ("type", "mode", "tools"), "tool_choice")
    mode = member(said, "mode", _ALLOWED_MODES, "tool_choice")
    listed = member(said, "tools", OBJECTS, "tool_choice")
    there = _names(tools)
    names = {_known(row, f"tool_choice.tools[{index}]", there) for index, row in enumerate(listed)}
    if not names:
        raise invalid("tool_choice.tools", "must name at least one of the `tools`")
    return {
        "tool_choice": mode,
        "tools": [tool for tool in tools if tool["function"]["name"] in names],
    }


def _names(tools: Sequence[Tool]) -> frozenset[str]:
    return frozenset(tool["function"]["name"] for tool in tools)


def _known(said: Mapping[str, Any], where: str, names: Collection[str]) -> str:
    name: str = member(said, "name", TEXT, where)
    if name not in names:
        raise invalid(f"{where}.name", "must be the name of one of the `tools`")
    return name
