"""How long a server asks to be left alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (seconds or a date, RFC 9110)."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    seconds = _number(value)
    return _until(value, headers.get("date")) if seconds is None else seconds


def _number(value: str | None) -> float | None:
    """At least 0; None for what is no finite number."""
    try:
        number = float(value or "")
    except ValueError:
        return None
    return max(0.0, number) if isfinite(number) else None


def _until(date: str, now: str | None) -> float | None:
    """By the server's own clock, where it tells it: ours may go wrong by minutes."""
    moment = _moment(date)
    if moment is None:
        return None
    return max(0.0, (moment - (_moment(now) or datetime.now(UTC))).total_seconds())


def _moment(date: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(date or "")
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
