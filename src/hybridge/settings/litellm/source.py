"""The file that is converted, and an account of what was taken from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from hybridge.settings.document import Document
from hybridge.settings.problems import Loc, dotted

REFERENCE = re.compile(r"os\.environ/(\w+)")
"""How LiteLLM names an environment variable in a value."""
_HINTS = {
    "drop_params": "not needed: what a backend cannot take is asked of another, or refused",
    "num_retries": "no backend is asked twice for one request; its fallbacks are asked instead",
    "max_retries": "no backend is asked twice for one request; its fallbacks are asked instead",
    "routing_strategy": "backends are asked in the order in which they stand",
    "weight": "backends are asked in the order in which they stand",
    "context_window_fallbacks": "not needed: a backend whose context is too short is passed over, "
    "where its `context_tokens` say so",
    "content_policy_fallbacks": "an upstream's refusal is passed on to the caller",
    "database_url": "has no counterpart but `records.url`, which holds no keys of callers",
    "rpm": "limits of calls to an upstream have no counterpart; those of callers are in `limits`",
    "tpm": "limits of calls to an upstream have no counterpart; those of callers are in `limits`",
    "success_callback": "has no counterpart; figures are at /metrics",
    "failure_callback": "has no counterpart; figures are at /metrics",
    "callbacks": "has no counterpart; figures are at /metrics",
    "api_version": "not needed: Azure's API at /openai/v1 goes without",
}
_NONE = "has no counterpart here"
_WHOLE: Mapping[str | int, int] = {"model_list": 4}
"""From which depth on a part of the file is told as a whole; else from 2, a section's key."""


class Note(Struct, frozen=True):
    """Something that an operator should know of the conversion."""

    line: str
    key: str
    what: str


class Source:
    """Gives values by their keys and remembers which were asked for."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._taken: set[Loc] = set()
        self._told: set[Loc] = set()
        self._notes: list[tuple[Loc, str]] = []

    def take(self, *loc: str | int) -> Any:
        """The value of a key, which counts as taken over; None where there is none."""
        value = self.look(*loc)
        if value is not None:
            self._taken.add(loc)
        return value

    def look(self, *loc: str | int) -> Any:
        """The value of a key; it is not taken by that."""
        found: Any = self._document.data
        for part in loc:
            if isinstance(found, Mapping):
                found = found.get(part)
            elif isinstance(found, list) and isinstance(part, int) and part < len(found):
                found = found[part]
            else:
                return None
        return found

    def note(self, loc: Loc, what: str) -> None:
        """Says something of a key instead of taking it over as it is."""
        self._told.add(loc)
        self._notes.append((loc, what))

    def note_rest(self) -> None:
        """Says of every key that was neither taken nor noted that nothing became of it."""
        done = self._taken | self._told
        for loc in _leaves(self._document.data, (), done):
            self._notes.append((loc, _HINTS.get(str(loc[-1]), _NONE)))

    @property
    def notes(self) -> Iterator[Note]:
        """In the order of the file."""
        for loc, what in sorted(self._notes, key=lambda note: self._line(note[0])):
            yield Note(str(self._line(loc)), dotted(loc), what)

    def _line(self, loc: Loc) -> int:
        return int(self._document.place(loc).split(":")[-2])


def variable(value: Any) -> str | None:
    """The environment variable that a value names, if it is one."""
    found = REFERENCE.fullmatch(value.strip()) if isinstance(value, str) else None
    return found[1] if found else None


def _leaves(data: Any, loc: Loc, done: set[Loc]) -> Iterator[Loc]:
    """What nothing was taken from, as a whole; beside what was taken, one by one."""
    if loc in done or data in (None, {}, []):
        return
    opened = len(loc) < _WHOLE.get(loc[0] if loc else "", 2) or any(
        taken[: len(loc)] == loc for taken in done
    )
    if opened and isinstance(data, Mapping | list):
        rows = data.items() if isinstance(data, Mapping) else enumerate(data)
        for part, value in rows:
            yield from _leaves(value, (*loc, part), done)
    else:
        yield loc
