"""Puts values back into one string that comes in pieces, however it is cut."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from hybridge.privacy.pseudonyms.placeholder import LOOK_BACK, placeholders, unfinished
from hybridge.privacy.pseudonyms.vault import Vault

Kind = Literal["text", "json", "mixed"]
"""What a string is: text, JSON, or text in which JSON may stand."""


class Tail:
    """Lets text go as soon as it cannot become a placeholder any more; see `unfinished`."""

    def __init__(self, vault: Vault, kind: Kind) -> None:
        self._vault = vault
        self._kind: Kind = kind
        self._quotes = Quotes() if kind == "mixed" else None
        self._before = ""
        """What was let go last, as it came."""
        self._held = ""

    @property
    def holds(self) -> bool:
        return bool(self._held)

    def feed(self, text: str, *, last: bool = False) -> str:
        """What can be let go by now; with `last`, all of it."""
        buffer, at = self._before + self._held + text, len(self._before)
        end = len(buffer) if last else unfinished(buffer, at)
        pieces: list[str] = []
        for match in placeholders(buffer, at, self._vault.suffix):
            if match.end() > end:
                end = min(end, match.start())
                break
            pieces += (self._passed(buffer[at : match.start()]), self._restored(match))
            at = match.end()
        pieces.append(self._passed(buffer[at:end]))
        self._before, self._held = buffer[max(0, end - LOOK_BACK) : end], buffer[end:]
        return "".join(pieces)

    def _passed(self, text: str) -> str:
        if self._quotes is not None:
            self._quotes.feed(text)
        return text

    def _restored(self, match: re.Match[str]) -> str:
        value = self._vault.value(match)
        if value is None:
            return self._passed(match.group())
        quoted = self._kind == "json" or (self._quotes is not None and self._quotes.inside)
        return escaped(value) if quoted else value


class Quotes:
    """Follows a text, and knows whether it is within a string of JSON at the moment.

    JSON begins with a brace or bracket that a quotation mark follows, and ends with its own.
    """

    def __init__(self) -> None:
        self.inside = False
        self._depth = 0
        self._opened = 0
        """Braces and brackets that have just been opened, in what is no JSON so far."""
        self._escaped = False

    def feed(self, text: str) -> None:
        """The next piece of it."""
        for letter in text:
            if self.inside:
                self._in_string(letter)
            elif self._depth:
                self.inside = letter == '"'
                self._depth += (letter in "{[") - (letter in "}]")
            elif letter == '"' and self._opened:
                self._depth, self._opened, self.inside = self._opened, 0, True
            elif not letter.isspace():
                self._opened = self._opened + 1 if letter in "{[" else 0

    def _in_string(self, letter: str) -> None:
        if self._escaped:
            self._escaped = False
        else:
            self._escaped = letter == "\\"
            self.inside = letter != '"'


def escaped(value: str) -> str:
    """The value as it stands in a string of JSON."""
    return msgspec.json.encode(value).decode()[1:-1]
