"""What an API key may ask for: how often, how much, and how many at once (R44).

Own code rather than the `limits` library: its check and its taking are two awaits for each limit,
so that requests could pass between them; its memory storage reads the machine's clock, starts a
task and a thread for each request, and took 170 µs where this takes one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil
from typing import Self

from msgspec import Struct
from msgspec.structs import asdict, replace

from hybridge.budget.window import Taken, Window
from hybridge.core.clock import Clock
from hybridge.core.errors import RateLimited

PARALLEL_RETRY_S = 1.0
"""When to try again where all places are taken: nobody knows when one will be free."""

Refused = Callable[[str, str], None]
"""Told the key's name and the limit that refused: `rpm`, `tpm` or `max_parallel`."""


class Limits(Struct, frozen=True):
    """What one key may ask for. None: as much as it wants."""

    rpm: int | None = None
    """Requests in any 60 seconds."""
    tpm: int | None = None
    """Tokens in any 60 seconds, of prompts and answers."""
    max_parallel: int | None = None
    """Requests under way at once."""

    def over(self, defaults: Limits) -> Limits:
        """These, with the defaults where they say nothing."""
        said = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(defaults, **said)


NO_LIMITS = Limits()


class Rate(Struct, frozen=True):
    """One limit as it stands, for a caller who paces itself."""

    limit: int
    remaining: int
    reset_s: float
    """Seconds until all of it is free again."""


class Slot:
    """The place of one request under way. As a block, it is given back at its end."""

    def __init__(self, key: Key, tokens: Window | None, taken: Taken | None) -> None:
        self._key = key
        self._tokens = tokens
        self._taken = taken
        self._given_back = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()

    def give_back(self, tokens: int | None = None) -> None:
        """The request is over; later calls change nothing. `tokens` are those that it cost in
        truth; None: as many as were estimated."""
        if self._given_back:
            return
        self._given_back = True
        self._key.under_way -= 1
        if self._tokens is not None and self._taken is not None and tokens is not None:
            self._tokens.correct(self._taken, tokens)

    def rates(self) -> Mapping[str, Rate]:
        """The key's limits per minute as of now: `requests` and `tokens`, where it has them."""
        return self._key.rates()


class Key:
    """The requests of one API key."""

    def __init__(self, name: str, limits: Limits, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._requests: Window | None = None
        self._tokens: Window | None = None
        self._most: int | None = None
        self.under_way = 0
        self.limit(limits)

    def limit(self, limits: Limits) -> None:
        """From now on these hold; what was taken in the last minute still counts."""
        self._requests = _resized(self._requests, limits.rpm)
        self._tokens = _resized(self._tokens, limits.tpm)
        self._most = limits.max_parallel

    def enter(self, count: Callable[[], int], refused: Refused) -> Slot:
        """Takes of every limit, or of none. Raises `RateLimited`."""
        now = self._clock.monotonic()
        amount = 0 if self._tokens is None else max(1, count())
        refusal = self._refusal(amount, now)
        if refusal is not None:
            limit, error = refusal
            refused(self._name, limit)
            raise error
        self.under_way += 1
        if self._requests is not None:
            self._requests.take(1, now)
        taken = None if self._tokens is None else self._tokens.take(amount, now)
        return Slot(self, self._tokens, taken)

    def rates(self) -> Mapping[str, Rate]:
        """As `Slot.rates`."""
        now = self._clock.monotonic()
        windows = {"requests": self._requests, "tokens": self._tokens}
        return {
            name: Rate(window.limit, window.left(now), window.free_in_s(now))
            for name, window in windows.items()
            if window is not None
        }

    def _refusal(self, tokens: int, now: float) -> tuple[str, RateLimited] | None:
        if self._most is not None and self.under_way >= self._most:
            what = f"has {self.under_way} requests under way, the most that it may (max_parallel)"
            return "max_parallel", self._error(what, PARALLEL_RETRY_S)
        if self._requests is not None and (wait_s := self._requests.wait_s(1, now)):
            what = f"may ask {self._requests.limit} times a minute (rpm)"
            return "rpm", self._error(what, wait_s)
        if self._tokens is not None and (wait_s := self._tokens.wait_s(tokens, now)):
            what = f"may use {self._tokens.limit} tokens a minute (tpm)"
            return "tpm", self._error(what, wait_s)
        return None

    def _error(self, what: str, wait_s: float) -> RateLimited:
        message = f"API key `{self._name}` {what}; try again in {ceil(wait_s)} s"
        return RateLimited(message, retry_after_s=wait_s)


class Allowances:
    """All keys' limits, in this process's memory. Nothing in it awaits, so that what is checked is
    what is taken."""

    def __init__(
        self,
        own: Mapping[str, Limits],
        clock: Clock,
        *,
        defaults: Limits = NO_LIMITS,
        refused: Refused = lambda _key, _limit: None,
    ) -> None:
        """`own` are the keys' limits by name; `defaults` hold where a key's own say nothing, and
        for whoever comes without a key."""
        self._clock = clock
        self._refused = refused
        self._keys: dict[str, Key] = {}
        self._own: Mapping[str, Limits] = {}
        self._defaults = NO_LIMITS
        self.limit(own, defaults)

    def limit(self, own: Mapping[str, Limits], defaults: Limits = NO_LIMITS) -> None:
        """From now on these hold. Requests under way and those of the last minute still count."""
        self._own = own
        self._defaults = NO_LIMITS if defaults == NO_LIMITS else defaults
        for name, key in self._keys.items():
            key.limit(self._limits(name))
        for name in own:
            self._key(name)

    def enter(self, tenant: str, count: Callable[[], int]) -> Slot | None:
        """The place of one request; None for a key without limits, which costs nothing.

        `count` gives the tokens that it may cost, and is called only where those are limited.
        Raises `RateLimited`; then nothing was taken.
        """
        key = self._keys.get(tenant)
        if key is None:
            if self._defaults is NO_LIMITS:
                return None
            key = self._keys[tenant] = Key(tenant, self._defaults, self._clock)
        return key.enter(count, self._refused)

    def under_way(self) -> Mapping[str, int]:
        """Requests under way of each key that has limits, by name."""
        return {name: key.under_way for name, key in self._keys.items()}

    def _key(self, name: str) -> Key | None:
        """The key of that name; None where it has no limits and never had."""
        limits = self._limits(name)
        if name not in self._keys and limits != NO_LIMITS:
            self._keys[name] = Key(name, limits, self._clock)
        return self._keys.get(name)

    def _limits(self, name: str) -> Limits:
        return self._own.get(name, NO_LIMITS).over(self._defaults)


def _resized(window: Window | None, limit: int | None) -> Window | None:
    if limit is None:
        return None
    if window is None:
        return Window(limit)
    window.limit = limit
    return window
