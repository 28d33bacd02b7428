"""Clients that ask at a steady pace whatever becomes of the answers, and note who gave them."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pyqwest import Client

from benchmarks.measured import percentile

PATIENCE_S = 300.0
_FINGERPRINT = re.compile(rb'"system_fingerprint":\s*"([^"]*)"')
_REQUEST = re.compile(rb"req-[0-9a-f]+")
_PROMPT = "Say something about the weather of today."


@dataclass(frozen=True, slots=True)
class Answer:
    """One that came, whole."""

    begun_s: float
    ended_s: float
    version: str


@dataclass
class Seen:
    """What all clients of one phase saw."""

    answers: list[Answer] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def requests(self) -> int:
        return len(self.answers) + len(self.errors)

    def first(self, version: str) -> float | None:
        """When the first answer of a version was there."""
        return min((one.ended_s for one in self.answers if one.version == version), default=None)

    def stale(self, new: str) -> int:
        """Answers of another version than `new` that were asked for after `new` had answered."""
        since = self.first(new)
        if since is None:
            return 0
        return sum(one.version != new and one.begun_s > since for one in self.answers)

    def latency_ms(self, share: float) -> float:
        return 1000 * percentile([one.ended_s - one.begun_s for one in self.answers], share)


@asynccontextmanager
async def steadily(http: Client, url: str, rate: float, tokens: int) -> AsyncIterator[Seen]:
    """As long as the block `rate` requests a second begin, every other one a stream; then those
    under way are waited for."""
    seen, running = Seen(), set[asyncio.Task[None]]()

    async def ask(*, stream: bool) -> None:
        begun_s = time.monotonic()
        messages = [{"role": "user", "content": _PROMPT}]
        body = {"model": "local", "messages": messages, "max_tokens": tokens, "stream": stream}
        try:
            response = await http.post(
                f"{url}/v1/chat/completions",
                {"content-type": "application/json"},
                json.dumps(body).encode(),
            )
            raw = response.content
        except Exception as error:
            seen.errors.append(repr(error))
            return
        found = _FINGERPRINT.search(raw)
        if response.status != 200 or found is None or (stream and b"[DONE]" not in raw):
            seen.errors.append(f"{response.status} {_REQUEST.sub(b'', raw)[:160]!r}")
        else:
            seen.answers.append(Answer(begun_s, time.monotonic(), found[1].decode()))

    async def begin() -> None:
        next_s, count = time.monotonic(), 0
        while True:
            running.add(task := asyncio.create_task(ask(stream=count % 2 == 1)))
            task.add_done_callback(running.discard)
            next_s, count = next_s + 1 / rate, count + 1
            await asyncio.sleep(max(0.0, next_s - time.monotonic()))

    pace = asyncio.create_task(begin())
    try:
        yield seen
    finally:
        pace.cancel()
        await asyncio.gather(*running)


async def until(wanted: Callable[[], object]) -> None:
    """Returns once it is so. Raises `TimeoutError` when it never is."""
    async with asyncio.timeout(PATIENCE_S):
        while not wanted():  # noqa: ASYNC110 - another process does it, and tells nobody
            await asyncio.sleep(0.02)
