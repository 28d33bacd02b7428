"""The same question again: the answer that was given to it (R62)."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hybridge.cache.config import CacheConfig
from hybridge.core.clock import Clock
from hybridge.core.request import Clearance, Request
from hybridge.core.response import Completion

NO_KEY = ""
"""The key of a request that may not be remembered: nothing is kept or found under it."""

_NO_MATTER = frozenset(
    {
        *("metadata", "prompt_cache_key", "safety_identifier", "service_tier", "store", "user"),
        *("stream", "stream_options"),
    }
)
"""Members of a body that say how an answer travels and who reads it, not what it says."""


class _Entry(Struct, frozen=True):
    completion: Completion
    until_s: float
    """On the clock's monotonic scale."""


class ExactCache:
    """Answers by request, for a while, the least recently used forgotten first.

    What is put here must be an edge answer that was good enough to return: judging is the caller's
    work. Sampled answers (`temperature` above 0) are kept like others: within minutes the same
    question deserves the same answer, and a caller who wants another one changes `seed` or
    anything else that shapes it.
    """

    def __init__(self, config: CacheConfig, clock: Clock) -> None:
        self._ttl_s = config.ttl_s
        self._capacity = config.max_entries
        self._clock = clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def key(self, request: Request) -> str:
        """A digest over the tenant, the whole conversation and everything that shapes the answer.

        `NO_KEY` for a request that may not leave the device: nothing of it is remembered (R32).
        """
        if request.clearance is Clearance.DEVICE_ONLY:
            return NO_KEY
        shaping = {name: value for name, value in request.body.items() if name not in _NO_MATTER}
        turns = [[message.role, message.text] for message in request.messages]
        whole = [request.tenant, request.model, request.wish.tier, turns, shaping]
        return hashlib.sha256(msgspec.json.encode(whole, order="deterministic")).hexdigest()

    def get(self, key: str) -> Completion | None:
        """The answer under this key, if it is not too old."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if self._clock.monotonic() >= entry.until_s:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return entry.completion

    def put(self, key: str, completion: Completion) -> None:
        """Keeps an answer from now on, without its token probabilities: they take most memory."""
        if key == NO_KEY or self._ttl_s <= 0:
            return
        until_s = self._clock.monotonic() + self._ttl_s
        self._entries[key] = _Entry(replace(completion, tokens=()), until_s)
        self._entries.move_to_end(key)
        while len(self._entries) > self._capacity:
            self._entries.popitem(last=False)
