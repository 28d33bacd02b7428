"""Tools, and which of them are to be used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybridge.cloud.dialect import NoWord

ANSWER_TOOL = "json_answer"
"""A tool that is no tool: an older model gives JSON of a schema by calling it."""
_CHOICES = {"auto": "auto", "none": "none", "required": "any"}


def tools(body: Mapping[str, Any], schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """The members `tools` and `tool_choice`, as far as there are any.

    `schema`: of the JSON that is to be asked for by a tool. Raises `NoWord`.
    """
    named = [_tool(tool) for tool in body.get("tools") or ()]
    choice = _choice(body.get("tool_choice")) if named else None
    if schema is not None:
        choice = _choice_with_answer(choice, named)
        named.append(_answer_tool(schema))
    if not named:
        return {}
    if body.get("parallel_tool_calls") is False and (choice or {}).get("type") != "none":
        choice = (choice or {"type": "auto"}) | {"disable_parallel_tool_use": True}
    return {"tools": named} | ({"tool_choice": choice} if choice else {})


def forces(members: Mapping[str, Any]) -> bool:
    """Whether a tool has to be called, which rules out thinking first."""
    return (members.get("tool_choice") or {}).get("type") in ("any", "tool")


def _tool(tool: Any) -> dict[str, Any]:
    function = tool.get("function")
    if tool.get("type") != "function" or not isinstance(function, dict):
        raise NoWord("tools", f"tools of type {tool.get('type')!r}")
    schema = function.get("parameters") or {}
    if not isinstance(schema, dict):
        raise NoWord("tools", "parameters that are no JSON schema")
    made = {"name": function.get("name"), "input_schema": {"type": "object", **schema}}
    for member in ("description", "strict"):
        if function.get(member):
            made[member] = function[member]
    return made | ({"cache_control": tool["cache_control"]} if tool.get("cache_control") else {})


def _choice(choice: Any) -> dict[str, Any] | None:
    if choice is None:
        return None
    if isinstance(choice, str) and choice in _CHOICES:
        return {"type": _CHOICES[choice]}
    function = choice.get("function") if isinstance(choice, dict) else None
    if not isinstance(function, dict):
        raise NoWord("tool_choice", f"the choice {choice!r}")
    return {"type": "tool", "name": function.get("name")}


def _choice_with_answer(choice: dict[str, Any] | None, named: list[Any]) -> dict[str, Any]:
    """The caller's tools may still be called, and then the answer comes later."""
    if choice is not None and choice["type"] in ("any", "tool"):
        return choice
    only = not named or (choice or {}).get("type") == "none"
    return {"type": "tool", "name": ANSWER_TOOL} if only else {"type": "any"}


def _answer_tool(schema: Mapping[str, Any]) -> dict[str, Any]:
    inner = schema.get("schema") or {}
    if not isinstance(inner, dict) or inner.get("type", "object") != "object":
        raise NoWord("response_format", "a schema of anything but an object")
    about = schema.get("description") or "Gives the answer to the user, as JSON."
    return {
        "name": ANSWER_TOOL,
        "description": about,
        "input_schema": {"type": "object", **inner},
    }
