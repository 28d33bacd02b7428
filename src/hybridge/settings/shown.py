"""Settings as they may be shown: no value of a secret is in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec import Struct

from hybridge.core.redaction import REDACTED
from hybridge.settings.problems import Loc
from hybridge.settings.reading import Reading
from hybridge.settings.settings import Settings
from hybridge.telemetry.outbound import origin

_LOGIN = re.compile(r"(?<=://)[^/@\s]+(?=@)")
"""User and password of an address."""


class Value(Struct, frozen=True):
    """One key with what it is set to."""

    loc: Loc
    value: Any
    """Plain data, secrets taken out."""
    source: str
    """A variable, a line of the file, or `default`."""
    secret: str | None = None
    """Of a key that names a secret: `set` or `unset`."""


def values(reading: Reading, settings: Settings) -> Iterator[Value]:
    """Every key that has a value of its own, in the order of the reference."""
    for loc, value in leaves(shown(settings)):
        secret = None
        if str(loc[-1]).endswith("_env") and isinstance(value, str):
            secret = "set" if reading.is_set(value) else "unset"
        yield Value(loc, value, reading.source(loc), secret)


def shown(settings: Settings) -> dict[str, Any]:
    """All sections as plain data: filled values as the file writes them, logins left out."""
    data: dict[str, Any] = _plain(settings.model_dump())
    for row in data["alerts"]["webhooks"]:
        if row["url"] is not None:
            row["url"] = f"{origin(row['url'])}/{REDACTED}"
    for loc, text in settings.written.items():
        _put(data, loc, text)
    return data


def leaves(data: Any, loc: Loc = ()) -> Iterator[tuple[Loc, Any]]:
    """Each key that holds no others, with its value; an empty mapping or list is a value."""
    held = data.items() if isinstance(data, Mapping) else enumerate(data) if _rows(data) else ()
    inside = list(held)
    if not inside:
        yield loc, data
    for part, value in inside:
        yield from leaves(value, (*loc, part))


def _rows(data: Any) -> bool:
    return isinstance(data, list) and any(isinstance(row, Mapping) for row in data)


def _plain(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    if isinstance(data, Decimal):
        return int(data) if data == data.to_integral_value() else float(data)
    return _LOGIN.sub(REDACTED, str(data)) if isinstance(data, str | Path) else data


def _put(data: Any, loc: Loc, text: str) -> None:
    """Where validation dropped or moved the key there is nothing to hide."""
    for part in loc[:-1]:
        if isinstance(data, Mapping):
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return
    if isinstance(data, dict | list):
        data[loc[-1]] = text  # type: ignore[index]
