"""A conversation as a model's chat template takes it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hybridge.edge.refused import Refused

_MEDIA = {"image_url": "images", "input_audio": "sound", "file": "files"}


def turns(messages: Any) -> Any:
    """The messages with plain text as their content, in roles that templates know.

    Raises `Refused` for pictures, sound and files. What is no list of objects passes as it is, for
    the engine to complain about.
    """
    if not isinstance(messages, list):
        return messages
    return [_turn(m, i) if isinstance(m, dict) else m for i, m in enumerate(messages)]


def _turn(message: Mapping[str, Any], index: int) -> dict[str, Any]:
    turn = dict(message)
    if turn.get("role") == "developer":
        turn["role"] = "system"  # templates know no other name for it
    if isinstance(turn.get("content"), list):
        turn["content"] = _text(turn["content"], f"messages[{index}].content")
    if isinstance(turn.get("tool_calls"), list):
        turn["tool_calls"] = [_call(call) for call in turn["tool_calls"]]
        if not turn["tool_calls"]:
            del turn["tool_calls"]
    if turn.get("content") is None and turn.get("role") != "user":
        turn["content"] = ""
    return turn


def _text(parts: Sequence[Any], where: str) -> str:
    """All text parts, one after the other, as the engine joins them itself."""
    said = []
    for index, part in enumerate(parts):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in ("text", "refusal"):
            what = _MEDIA.get(str(kind), "parts of this type")
            raise Refused(f"{where}[{index}]", f"holds {what}, which this model cannot read")
        said.append(part.get(kind) or "")
    return "\n".join(said)


def _call(call: Any) -> Any:
    """A tool call whose arguments are JSON; a cut one is kept as a string."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    arguments = function.get("arguments") or "{}"
    if isinstance(arguments, str) and not _is_json(arguments):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return call | {"function": function | {"arguments": arguments}}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
