"""What differs between two configurations, in words fit for a log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from hybridge.settings.paths import ROUTING_FILES
from hybridge.settings.settings import Settings
from hybridge.settings.shown import shown

_LONGEST_SHOWN = 60
_ORDER = " order"
_Leaves = Mapping[str, Any]

RESTART = (
    *("server.host", "server.port", "server.grace_s"),
    *("execution.deadline_s", "records.url", "records.audit_key_env"),
    *("scorer.provider", "scorer.device_id", "scorer.threads", "scorer.runs"),
    *("models.dir", "models.store", "models.poll_s", "models.s3"),
)
"""Keys that a running gateway cannot take over: sockets and files that are open, and limits that
are kept outside of it."""
_VERSION_DIGITS = 12


def changes(old: Settings, new: Settings) -> tuple[str, ...]:
    """Keys that differ, as `routing.edge_max 4 -> 5`, and rows, as `cloud.backends gpt added`."""
    before, after = dict(_leaves(_raw(old))), dict(_leaves(_raw(new)))
    rows_before, rows_after = _rows(before), _rows(after)
    found = [f"{_row(row)} removed" for row in rows_before if row not in rows_after]
    found += [f"{_row(row)} added" for row in rows_after if row not in rows_before]
    said_before, said_after = dict(_leaves(shown(old))), dict(_leaves(shown(new)))
    for key in dict.fromkeys((*before, *after)):
        one, other = before.get(key), after.get(key)
        if one == other or not _kept(key, rows_before, rows_after):
            continue
        if not key.endswith(_ORDER):
            found.append(f"{key} {_said(said_before.get(key), said_after.get(key))}")
        elif one and other and sorted(one) == sorted(other):
            found.append(f"{key} changed")
    return tuple(found)


def version(settings: Settings) -> str:
    """A short digest of everything that is configured, the files of `routing` included."""
    digest = sha256(json.dumps(_raw(settings), sort_keys=True).encode())
    for name in ROUTING_FILES:
        path = getattr(settings.routing, name)
        if path is not None and path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:_VERSION_DIGITS]


def settle(running: Settings, wanted: Settings) -> tuple[Settings, tuple[str, ...]]:
    """The wanted settings as far as they can be taken over, and the keys that need a restart."""
    settled, waiting = wanted, []
    for key in RESTART:
        section, name = key.split(".")
        now, then = getattr(running, section), getattr(settled, section)
        if getattr(now, name) != getattr(then, name):
            waiting.append(key)
            kept = then.model_copy(update={name: getattr(now, name)})
            settled = settled.model_copy(update={section: kept})
    return settled, tuple(waiting)


def _raw(settings: Settings) -> dict[str, Any]:
    return settings.model_dump(mode="json")


def _leaves(data: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every value by its key; rows go by their names, so that moving one changes none of them."""
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield from _leaves(value, f"{key}.{name}" if key else name)
    elif isinstance(data, list) and data and all(_named(row) for row in data):
        yield f"{key}{_ORDER}", [row["name"] for row in data]
        for row in data:
            yield from _leaves(row, f"{key}[{row['name']}]")
    elif data != []:  # as good as none
        yield key, data


def _named(row: Any) -> bool:
    return isinstance(row, Mapping) and "name" in row


def _rows(leaves: _Leaves) -> tuple[str, ...]:
    return tuple(key.removesuffix(".name") for key in leaves if key.endswith("].name"))


def _kept(key: str, before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Whether the row that a key lies in, if it lies in one, was there and still is."""
    row, bracket, _ = key.rpartition("]")
    return not bracket or (f"{row}]" in before and f"{row}]" in after)


def _row(key: str) -> str:
    return key.removesuffix("]").replace("[", " ", 1)


def _said(before: Any, after: Any) -> str:
    """Two values that look alike differ in what may not be shown."""
    return "changed" if before == after else f"{_short(before)} -> {_short(after)}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
