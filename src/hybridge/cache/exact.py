"""The same question again: the answer that was given to it (R62)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from hybridge.cache.answers import NO_KEY
from hybridge.cache.config import CacheConfig
from hybridge.cache.identity import Identity, Named
from hybridge.core.clock import Clock
from hybridge.core.request import Clearance, Request
from hybridge.core.response import Completion


class _Entry(Struct, frozen=True):
    completion: Completion
    until_s: float
    """On the clock's monotonic scale."""


class ExactCache:
    """Answers in memory by request, for a while, the least recently used forgotten first.

    What is put here must be an answer that was good enough to return: judging is the caller's
    work. Sampled answers (`temperature` above 0) are kept like others: within minutes the same
    question deserves the same answer, and a caller who wants another one changes `seed` or
    anything else that shapes it.
    """

    elsewhere = None

    def __init__(self, config: CacheConfig, clock: Clock, named: Named | None = None) -> None:
        """`named` as in `Identity`."""
        self.identity = Identity(config.scope, named)
        self._ttl_s = config.ttl_s
        self._capacity = config.max_entries
        self._clock = clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def handed_on(self, config: CacheConfig, gone: Iterable[str], clock: Clock) -> ExactCache:
        """The same answers within other bounds, but for those of backends that are gone.

        This one goes on by itself, for requests that began on it. An answer that is kept expires
        when it would have.
        """
        lost, rest = frozenset(gone), ExactCache(config, clock, self.identity.named)
        rest._entries.update(
            (key, entry)
            for key, entry in self._entries.items()
            if entry.completion.model not in lost
        )
        return rest

    def forget(self, backend: str) -> None:
        """No answer of this backend is given again: it has other weights now."""
        gone = [key for key, entry in self._entries.items() if entry.completion.model == backend]
        for key in gone:
            del self._entries[key]

    def key(self, request: Request) -> str:
        """A digest over the caller, the whole conversation and everything that shapes the answer.

        `NO_KEY` for a request that holds personal data: nothing of it is remembered (R32).
        """
        if request.clearance is not Clearance.ANYWHERE:
            return NO_KEY
        return self.identity.digest(request)

    async def get(self, key: str) -> Completion | None:
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
