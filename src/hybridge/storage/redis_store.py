"""A Redis, or what speaks its protocol, as a store that never holds anybody up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from hybridge.core.clock import Clock
from hybridge.core.errors import ConfigError

if TYPE_CHECKING:
    from redis.asyncio import Redis

TIMEOUT_S = 0.05
"""How long a request waits for it: an answer of the edge is not much further away."""
_TURNS = 3
"""Of the event loop, from bytes that have come to an answer: when time is up after the loop itself
was late, the answer may be there."""
IO_TIMEOUT_S = 2.0
"""How long a connection may take to open or to answer, while nobody waits for it any more."""
AT_ONCE = 64
"""Calls under way, and connections; further ones are not made."""
FIRST_REST_S, LONGEST_REST_S = 0.2, 5.0
"""How long it is left alone after a failure. Twice as long after each further one in a row."""

Heard = Callable[[str, str], None]
"""Told of each call, `get` or `put`, how it ended: `hit`, `miss`, `kept`, `timeout`, `unreachable`,
`refused`, `unreadable`, `resting` (left alone after a failure) or `busy` (too much under way)."""

_log = logging.getLogger("hybridge.cache")


class Client(Protocol):
    """What is used of Redis."""

    def get(self, name: str) -> Awaitable[Any]: ...

    def set(self, name: str, value: bytes, *, px: int) -> Awaitable[Any]: ...

    async def aclose(self) -> None: ...


class RedisStore:
    """Implements `cache.answers.Store`.

    It connects when it is first asked, and anew by itself. A connection that takes longer to open
    than a request waits goes on opening, and serves those that come later.
    """

    def __init__(self, client: Client, clock: Clock, heard: Heard) -> None:
        self._client = client
        self._rest = Rest(clock)
        self._heard = heard
        self._calls: set[asyncio.Task[Any]] = set()
        self._failing = False
        self._refusals: set[str] = set()

    @classmethod
    def at(cls, url: str, clock: Clock, heard: Heard) -> RedisStore:
        """Raises `ConfigError` without the library, or for an address that it cannot use."""
        return cls(connect(url), clock, heard)

    async def get(self, key: str) -> bytes | None:
        """See `cache.answers.Store`; waits `TIMEOUT_S` at most."""
        call = self._begin("get", lambda: self._ask(key))
        if call is None:
            return None
        await asyncio.wait({call}, timeout=TIMEOUT_S)
        for _ in range(_TURNS):
            if not call.done():
                await asyncio.sleep(0)
        if not call.done():
            self._failed("get", "timeout", "it does not answer in time")
            return None
        error = None if call.cancelled() else call.exception()
        if error is not None:
            self._broke("get", error)
            return None
        return None if call.cancelled() else self._got(call.result())

    def put(self, key: str, value: bytes, ttl_s: float) -> None:
        """See `cache.answers.Store`."""
        self._begin("put", lambda: self._put(key, value, max(1, round(1000 * ttl_s))))

    async def close(self) -> None:
        """Disconnects, once what is under way had a moment to end."""
        calls = set(self._calls)
        if calls:
            await asyncio.wait(calls, timeout=TIMEOUT_S)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await self._client.aclose()

    def _begin(
        self, what: str, call: Callable[[], Coroutine[Any, Any, Any]]
    ) -> asyncio.Task[Any] | None:
        """The call under way, which outlives who waits for it; None where it may not be made."""
        if self._rest.resting or len(self._calls) >= AT_ONCE:
            self._heard(what, "resting" if self._rest.resting else "busy")
            return None
        task = asyncio.create_task(call(), name=f"redis {what}")
        self._calls.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, call: asyncio.Task[Any]) -> None:
        self._calls.discard(call)
        if not call.cancelled():
            call.exception()  # nobody may be there any more to look at it

    async def _ask(self, key: str) -> Any:
        return await self._client.get(key)

    def _got(self, value: Any) -> bytes | None:
        self._answered()
        known = value is None or isinstance(value, bytes)
        self._heard("get", "unreadable" if not known else "miss" if value is None else "hit")
        return value if known else None

    async def _put(self, key: str, value: bytes, ttl_ms: int) -> None:
        try:
            await self._client.set(key, value, px=ttl_ms)
        except Exception as error:  # whatever the library raises: then it is not kept
            self._broke("put", error)
        else:
            self._heard("put", "kept")

    def _answered(self) -> None:
        self._rest.end()
        if self._failing:
            self._failing = False
            _log.info("the Redis of the cache answers again")

    def _broke(self, what: str, error: BaseException) -> None:
        """Names the kind alone: a message may repeat what was sent."""
        from redis.exceptions import ResponseError

        kind = type(error).__name__
        if not isinstance(error, ResponseError):
            self._failed(what, "unreachable", kind)
            return
        self._heard(what, "refused")  # promptly, so there is no need to leave it alone
        if kind not in self._refusals:
            self._refusals.add(kind)
            _log.warning("the Redis of the cache refuses a %s: %s", what, kind)

    def _failed(self, what: str, outcome: str, why: str) -> None:
        self._heard(what, outcome)
        self._rest.begin()
        if not self._failing:
            self._failing = True
            _log.warning("the Redis of the cache fails, so nothing is found there: %s", why)


class Rest:
    """Whether it is left alone now."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0
        self._until_s = 0.0

    @property
    def resting(self) -> bool:
        """True for a while after a failure."""
        return self._failures > 0 and self._clock.monotonic() < self._until_s

    def begin(self) -> None:
        """It failed; calls that fail together count as one."""
        if not self.resting:
            self._failures += 1
            rest_s = min(LONGEST_REST_S, FIRST_REST_S * 2 ** min(self._failures - 1, 16))
            self._until_s = self._clock.monotonic() + rest_s

    def end(self) -> None:
        """It answered."""
        self._failures = 0


def connect(url: str) -> Redis:
    """A client that connects when it is used. Raises as `RedisStore.at` does."""
    try:
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
    except ImportError as missing:
        raise ConfigError(
            'cache.store: `redis` needs the client library: pip install "hybridge[redis]"'
        ) from missing
    try:
        return Redis.from_url(
            url,
            protocol=2,  # one round trip less than 3, and older servers know it
            retry=Retry(NoBackoff(), 0),  # whoever comes next tries again
            socket_timeout=IO_TIMEOUT_S,
            socket_connect_timeout=IO_TIMEOUT_S,
            max_connections=AT_ONCE,
        )
    except (ValueError, TypeError) as error:
        raise ConfigError(f"state.redis_url: cannot be used ({type(error).__name__})") from None
