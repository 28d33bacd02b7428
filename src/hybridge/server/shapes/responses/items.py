"""The items of `input`: checked, and written out in full as they are kept and listed.

An item that a request leaves short (a message that is one string, no id) is completed, so that
`GET /v1/responses/{id}/input_items` shows it as OpenAI does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from hybridge.core.errors import RequestError
from hybridge.server.shapes.faults import only, unsupported
from hybridge.server.shapes.forms import OBJECTS, TEXT, one_of
from hybridge.server.shapes.responses.fields import invalid, may, member
from hybridge.server.shapes.responses.parts import OUTPUTS, READABLE, read_parts

Item = dict[str, Any]
Placed = tuple[str, Item]
"""Where an item stands in the request, and the item."""
Known = Callable[[str], Item | None]
"""Finds an item of a kept response by its id."""

_ROLE = one_of("user", "assistant", "system", "developer")
_STATUS = one_of("in_progress", "completed", "incomplete")
_THOUGHTS = {"summary": OBJECTS, "content": OBJECTS, "encrypted_content": TEXT}
_MARKS = ("type", "id", "status", "internal_chat_message_metadata_passthrough")
"""Members that every item may have: they say which it is, not what it says. The last is Codex's."""


def read_items(
    said: str | list[Item], salt: str, there: Collection[str], known: Known
) -> list[Placed]:
    """The items. `salt` makes the ids unique of those that came without.

    `there` are the ids of the chain's items: a reference to one of them adds nothing. Raises
    `RequestError` that names the place.
    """
    items = [{"role": "user", "content": said}] if isinstance(said, str) else said
    told: list[Placed] = []
    for index, asked in enumerate(items):
        where = f"input[{index}]"
        item = _item(asked, index, salt, known)
        if item["id"] not in there:
            told.append((where, item))
        elif asked.get("type") != "item_reference":
            raise invalid(f"{where}.id", "is of an item that the previous response already brings")
    return told


def _item(said: Item, index: int, salt: str, known: Known) -> Item:
    where = f"input[{index}]"
    kind = said.get("type") or ("message" if "role" in said else None)
    if kind == "item_reference":
        return _referred(said, where, known)
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise unsupported(
            f"{where}.type",
            f"must be one of {', '.join(_READERS)}, item_reference",
            "invalid_value",
        )
    read, prefix = reader
    given = said.get("id")
    name = given if isinstance(given, str) and given else f"{prefix}_{salt}_i{index}"
    status = may(said, "status", _STATUS, where) or "completed"
    return {"id": name, "type": kind, "status": status, **read(said, where)}


def _message(said: Item, where: str) -> Item:
    # `phase` marks what a model of OpenAI's said before its tools ran; the text itself is kept.
    only(said, (*_MARKS, "role", "content", "phase"), where)
    role = member(said, "role", _ROLE, where)
    content = said.get("content")
    outward = role == "assistant"
    if isinstance(content, str):
        kind = "output_text" if outward else "input_text"
        content = [{"type": kind, "text": content}]
    kinds = (*OUTPUTS, "input_text") if outward else READABLE
    return {"role": role, "content": read_parts(content, f"{where}.content", kinds)}


def _call(said: Item, where: str) -> Item:
    only(said, (*_MARKS, "call_id", "name", "arguments", "caller", "parsed_arguments"), where)
    _check_caller(said, where)
    return {name: member(said, name, TEXT, where) for name in ("call_id", "name", "arguments")}


def _output(said: Item, where: str) -> Item:
    only(said, (*_MARKS, "call_id", "name", "output", "caller"), where)
    _check_caller(said, where)
    call, output = member(said, "call_id", TEXT, where), said.get("output")
    if not isinstance(output, str):
        output = read_parts(output, f"{where}.output", READABLE)
    return {"call_id": call, "output": output}


def _reasoning(said: Item, where: str) -> Item:
    """Kept as it came: the chat vocabulary has no place for the thoughts of earlier turns."""
    only(said, (*_MARKS, *_THOUGHTS), where)
    told = {name: may(said, name, form, where) for name, form in _THOUGHTS.items()}
    return {"summary": [], **{name: value for name, value in told.items() if value is not None}}


def _referred(said: Item, where: str, known: Known) -> Item:
    only(said, ("type", "id"), where)
    item = known(member(said, "id", TEXT, where))
    if item is None:
        raise RequestError(
            f"`{where}.id` is of no item that is kept here: send the item itself",
            param=f"{where}.id",
            code="item_not_found",
        )
    return item


def _check_caller(said: Mapping[str, Any], where: str) -> None:
    caller = said.get("caller")
    if caller is not None and not (isinstance(caller, dict) and caller.get("type") == "direct"):
        raise invalid(f"{where}.caller", "must be direct: no program calls tools here")


_READERS: Mapping[str, tuple[Callable[[Item, str], Item], str]] = {
    "message": (_message, "msg"),
    "function_call": (_call, "fc"),
    "function_call_output": (_output, "fco"),
    "reasoning": (_reasoning, "rs"),
}
"""How each type of item is read, and how an id of it begins."""
