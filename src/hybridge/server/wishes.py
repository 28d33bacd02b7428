"""What callers ask of the router in headers (R7)."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from hybridge.core.errors import RequestError
from hybridge.core.request import Handling, Tier, Wish

_ROUTE, _LATENCY, _PRIVACY = (
    "x-hybridge-route",
    "x-hybridge-max-latency-ms",
    "x-hybridge-privacy",
)
_HEADERS = tuple(name.encode() for name in (_ROUTE, _LATENCY, _PRIVACY))
_TIERS = {"edge": Tier.EDGE, "cloud": Tier.CLOUD, "auto": None}
_PRIVACY_WORDS: Mapping[str, Handling] = {
    "low": "allow",
    "pseudonymise": "pseudonymise",
    "local_only": "local_only",
    "block": "block",
    "high": "local_only",
}
_NONE = Wish()


def read_wish(headers: Mapping[bytes, bytes]) -> Wish:
    """Raises `RequestError` that names the header. A wish tightens only: `low` changes nothing."""
    route, latency, privacy = map(headers.get, _HEADERS)
    if route is None and latency is None and privacy is None:
        return _NONE
    word = "low" if privacy is None else _one_of(_PRIVACY, privacy, tuple(_PRIVACY_WORDS))
    return Wish(
        tier=_TIERS[_one_of(_ROUTE, route, tuple(_TIERS))] if route is not None else None,
        max_latency_s=_milliseconds(latency) / 1000 if latency is not None else None,
        private=word == "high",
        handling=_PRIVACY_WORDS[word],
    )


def _one_of(name: str, value: bytes, allowed: tuple[str, ...]) -> str:
    word = value.decode("latin-1").strip().lower()
    if word not in allowed:
        raise RequestError(
            f"header {name} must be one of {', '.join(allowed)}", param=name, code="invalid_value"
        )
    return word


def _milliseconds(value: bytes) -> float:
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not isfinite(number) or number <= 0:
        raise RequestError(
            f"header {_LATENCY} must be a number of milliseconds above 0",
            param=_LATENCY,
            code="invalid_value",
        )
    return number
