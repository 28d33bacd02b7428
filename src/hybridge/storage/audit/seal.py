"""Seals: each holds the one before it, so that no entry can change alone."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256

START = "0" * 64
"""What stands before the first entry of a chain."""

Seal = Callable[[str, bytes], str]
"""From the seal before and an entry's JSON to its seal, in hex."""


def without_key(before: str, entry: bytes) -> str:
    """SHA-256 over `before entry`."""
    return sha256(before.encode() + b" " + entry).hexdigest()


def with_key(key: bytes) -> Seal:
    """HMAC-SHA-256 (RFC 2104) over the same: nobody can make one who lacks the key."""
    begun = hmac.new(key, digestmod=sha256)

    def seal(before: str, entry: bytes) -> str:
        made = begun.copy()  # half the time of a new one
        made.update(before.encode() + b" " + entry)
        return made.hexdigest()

    return seal


def fingerprint(key: bytes) -> str:
    """Tells keys apart and says nothing about them that a seal would not say."""
    return with_key(key)(START, b"which key")[:16]


def by_fingerprint(keys: Iterable[bytes]) -> Mapping[str, Seal]:
    """How each key seals."""
    return {fingerprint(key): with_key(key) for key in keys}
