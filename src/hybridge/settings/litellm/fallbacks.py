"""Who is asked when a model fails: groups of deployments, and the lists between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hybridge.settings.litellm.models import Backend
from hybridge.settings.litellm.source import Source
from hybridge.settings.problems import Loc

_PLACES: tuple[Loc, ...] = (("litellm_settings", "fallbacks"), ("router_settings", "fallbacks"))
_FOR_ALL: tuple[Loc, ...] = (
    ("litellm_settings", "default_fallbacks"),
    ("router_settings", "default_fallbacks"),
)


def fallbacks(source: Source, rows: Sequence[Backend]) -> dict[str, list[str]]:
    """`routing.fallbacks`: the rest of its group first, then the groups its list names."""
    groups = _groups(rows)
    lists = {group: others for place in _PLACES for group, others in _lists(source, place, groups)}
    for_all = [other for place in _FOR_ALL for other in _known(source, place, groups)]
    found = {}
    for group, members in groups.items():
        others = lists.get(group, [other for other in for_all if other != group])
        asked = [*members[1:], *(name for other in others for name in groups[other])]
        if asked:
            found[members[0]] = list(dict.fromkeys(name for name in asked if name != members[0]))
    return {name: asked for name, asked in found.items() if asked}


def _groups(rows: Sequence[Backend]) -> dict[str, list[str]]:
    """The names of each group's backends, in order."""
    groups: dict[str, list[str]] = {}
    for backend in rows:
        groups.setdefault(backend.group, []).append(backend.name)
    return groups


def _lists(
    source: Source, place: Loc, groups: dict[str, list[str]]
) -> Iterator[tuple[str, list[str]]]:
    entries = source.look(*place)
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        for group in entry if isinstance(entry, dict) else ():
            loc = (*place, index, group)
            if group in groups:
                yield group, _known(source, loc, groups)
            else:
                source.note(loc, f"there is no model `{group}` here")


def _known(source: Source, loc: Loc, groups: dict[str, list[str]]) -> list[str]:
    """The groups in a list that became backends; the others are noted."""
    given: Any = source.take(*loc)
    names = given if isinstance(given, list) else []
    for index, name in enumerate(names):
        if not isinstance(name, str) or name not in groups:
            source.note((*loc, index), f"there is no model {name!r} here")
    return [name for name in names if isinstance(name, str) and name in groups]
