"""Ids of tool calls, spelled as a strict provider wants them.

A conversation that began elsewhere holds ids of another's making; some providers take only their
own kind. Both places that name a call are respelled alike, and always in the same way, so that
prompts stay cached.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from string import ascii_letters, digits
from typing import Any

from msgspec import Struct

_ALPHABET = digits + ascii_letters


class Spelling(Struct, frozen=True):
    """Which ids a provider takes."""

    pattern: re.Pattern[str]
    length: int
    """Of those that are made here, of letters and digits."""
    prefix: str = ""

    def makes(self, id_: str, turn: int) -> str:
        """An id that fits, the same for the same arguments."""
        number = int.from_bytes(sha256(f"{turn}:{id_}".encode()).digest())
        places = (number // 62**place % 62 for place in range(self.length))
        return self.prefix + "".join(_ALPHABET[place] for place in places)


ALPHANUMERIC9 = Spelling(re.compile(r"[A-Za-z0-9]{9}"), 9)
"""Mistral: `a-z, A-Z, 0-9, with a length of 9`."""
WORDLIKE = Spelling(re.compile(r"[A-Za-z0-9_-]{1,64}"), 24, "toolu_")
"""Anthropic: `^[a-zA-Z0-9_-]+$`."""


def odd(messages: Any, spelling: Spelling) -> bool:
    """Whether any id would have to be respelled."""
    return any(not spelling.pattern.fullmatch(id_) for id_ in _ids(messages))


def respelled(messages: Any, spelling: Spelling) -> Any:
    """The messages with every id in the spelling; the same object where all are in it already.

    Two ids never become one, and an id that fits is left alone.
    """
    names = _names(list(dict.fromkeys(_ids(messages))), spelling)
    return [_renamed(message, names) for message in messages] if names else messages


def _names(ids: Sequence[str], spelling: Spelling) -> Mapping[str, str]:
    taken = {id_ for id_ in ids if spelling.pattern.fullmatch(id_)}
    names = {}
    for id_ in ids:
        if id_ in taken:
            continue
        turn, name = 0, spelling.makes(id_, 0)
        while name in taken:
            turn += 1
            name = spelling.makes(id_, turn)
        taken.add(name)
        names[id_] = name
    return names


def _ids(messages: Any) -> Iterator[str]:
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, dict):
            continue
        calls = message.get("tool_calls") or ()
        found = [call.get("id") for call in calls if isinstance(call, dict)]
        for id_ in (*found, message.get("tool_call_id")):
            if isinstance(id_, str):
                yield id_


def _renamed(message: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(message, dict):
        return message
    message = dict(message)
    answered = message.get("tool_call_id")
    if isinstance(answered, str) and answered in names:
        message["tool_call_id"] = names[answered]
    if message.get("tool_calls"):
        message["tool_calls"] = [
            call | {"id": names.get(call["id"], call["id"])}
            if isinstance(call, dict) and isinstance(call.get("id"), str)
            else call
            for call in message["tool_calls"]
        ]
    return message
