"""A Redis that fails in every way: a miss, counted and told once, never an error or a wait (R62)."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.redis_server import free_port, recording

from hybridge.core.errors import ConfigError
from hybridge.storage.redis_store import AT_ONCE, LONGEST_REST_S, RedisStore, Rest, connect
from hybridge.testing.clock import ManualClock

pytestmark = pytest.mark.anyio
TTL_S = 300.0


class Stage:
    """A store with a clock that stands still, and what it told."""

    def __init__(self, url: str) -> None:
        self.clock = ManualClock()
        self.heard: list[tuple[str, str]] = []
        self.store = RedisStore.at(url, self.clock, lambda *told: self.heard.append(told))

    async def put(self, key: str, value: bytes, ttl_s: float = TTL_S) -> str:
        """How it ended."""
        before = len(self.heard)
        self.store.put(key, value, ttl_s)
        async with asyncio.timeout(10):
            while len(self.heard) == before:
                await asyncio.sleep(0.005)
        return self.heard[-1][1]

    async def get(self, key: str = "k") -> tuple[bytes | None, str]:
        """What was found, and how it ended."""
        found = await self.store.get(key)
        return found, self.heard[-1][1]


@asynccontextmanager
async def at(url: str) -> AsyncIterator[Stage]:
    stage = Stage(url)
    try:
        yield stage
    finally:
        await stage.store.close()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


async def test_what_is_put_there_is_found_as_long_as_it_lives(redis):
    async with at(redis.url) as stage:
        assert await stage.get() == (None, "miss")
        assert await stage.put("k", b"\x00value\r\n") == "kept"
        assert await stage.get() == (b"\x00value\r\n", "hit")
    left_ms = await redis.ask("PTTL", "k")
    assert 0 < left_ms <= 1000 * TTL_S


async def test_a_moment_is_a_lifetime_too(redis):
    async with at(redis.url) as stage:
        assert await stage.put("k", b"value", 1e-9) == "kept"


async def test_another_type_under_a_key_is_a_miss(redis, caplog):
    await redis.ask("RPUSH", "k", "one")
    async with at(redis.url) as stage:
        for _ in range(3):
            assert await stage.get() == (None, "refused")
        assert await stage.get("other") == (None, "miss")
    assert len(warnings(caplog)) == 1


async def test_a_full_one_still_gives_what_it_has(redis, caplog):
    async with at(redis.url) as stage:
        assert await stage.put("k", b"value") == "kept"
        await redis.ask("CONFIG", "SET", "maxmemory", "1")
        for _ in range(3):
            assert await stage.put("more", b"value") == "refused"
            assert await stage.get() == (b"value", "hit")
    assert len(warnings(caplog)) == 1
    assert "OutOfMemoryError" in warnings(caplog)[0]


async def test_one_that_is_down_is_left_alone_and_found_again_by_itself(redis, caplog):
    caplog.set_level(logging.INFO)
    async with at(redis.url) as stage:
        await stage.put("k", b"value")
        await redis.stop()
        assert await stage.get() == (None, "unreachable")
        for _ in range(5):
            assert await stage.get() == (None, "resting")
            assert await stage.put("k", b"value") == "resting"
        stage.clock.advance(LONGEST_REST_S)
        assert (await stage.get())[1] == "unreachable"
        assert len(warnings(caplog)) == 1
        await redis.start()
        assert (await stage.get())[1] == "resting"
        stage.clock.advance(LONGEST_REST_S)
        assert await stage.get() == (None, "miss")
        assert await stage.put("k", b"value") == "kept"
        assert await stage.get() == (b"value", "hit")
    assert caplog.records[-1].getMessage() == "the Redis of the cache answers again"


async def test_one_that_was_restarted_costs_a_miss_at_most(redis):
    async with at(redis.url) as stage:
        await stage.put("k", b"value")
        await redis.stop()
        await redis.start()
        await stage.get()
        stage.clock.advance(LONGEST_REST_S)
        assert await stage.get() == (None, "miss")


async def test_nobody_there_from_the_beginning(patient):
    async with at(f"redis://127.0.0.1:{free_port()}/0") as stage:
        assert await stage.get() == (None, "unreachable")


async def test_one_that_says_nothing_is_not_waited_for_and_then_not_asked(caplog):
    async with recording() as silent, at(silent.url) as stage:
        assert await stage.get() == (None, "timeout")
        connections = silent.connections
        for _ in range(10):
            assert await stage.get() == (None, "resting")
        assert silent.connections == connections
        stage.clock.advance(LONGEST_REST_S)
        assert await stage.get() == (None, "timeout")
    assert len(warnings(caplog)) == 1


async def test_answers_that_come_too_late_do_not_count_as_answers():
    late = asyncio.Event()

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        await late.wait()
        writer.write(b"$-1\r\n" * 3)

    async with recording(talk) as slow, at(slow.url) as stage:
        assert await stage.get() == (None, "timeout")
        (call,) = stage.store._calls
        late.set()
        await asyncio.wait({call}, timeout=10)
        assert await stage.get() == (None, "resting")
        assert stage.heard == [("get", "timeout"), ("get", "resting")]


async def test_so_many_calls_at_once_and_no_more():
    async with recording() as silent, at(silent.url) as stage:
        found = await asyncio.gather(*(stage.store.get(str(n)) for n in range(AT_ONCE + 5)))
        assert set(found) == {None}
        assert [outcome for _, outcome in stage.heard].count("busy") == 5
        assert silent.connections <= AT_ONCE


def answering(answer: bytes):
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return recording(talk)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"$-5\r\n\r\n",
        b"$9999999999999999999999\r\n",
        b"*2\r\n$1\r\na\r\n$1\r\nb\r\n" * 9,
        b":12\r\n" * 9,
        b"+OK\r\n" * 9,
        b"\xff\xfe\x00\r\n" * 9,
        b"",
    ],
)
async def test_one_that_speaks_nonsense_is_a_miss(answer):
    async with answering(answer) as odd, at(odd.url) as stage:
        for _ in range(3):
            found = await stage.store.get("k")
            assert found is None or isinstance(found, bytes)
            stage.clock.advance(LONGEST_REST_S)
    assert stage.heard


async def test_one_that_hangs_up_is_a_miss(patient):
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with recording(talk) as rude, at(rude.url) as stage:
        assert await stage.get() == (None, "unreachable")


async def test_its_complaints_may_repeat_what_was_sent_and_are_not_told(patient, caplog):
    said = b"-ERR unknown command, with args beginning with: 'the-key' 'the-value'\r\n"
    async with answering(said * 3) as odd, at(odd.url) as stage:
        await stage.get("the-key")
        await stage.put("the-key", b"the-value")
    assert warnings(caplog)
    assert "the-" not in caplog.text


async def test_a_password_opens_it_and_is_never_told(redis, caplog):
    await redis.ask("CONFIG", "SET", "requirepass", "open-sesame")
    right, wrong = (redis.url.replace("//", f"//:{word}@") for word in ("open-sesame", "hunter-22"))
    async with at(right) as stage:
        assert await stage.put("k", b"value") == "kept"
    for url in (wrong, redis.url):
        async with at(url) as stage:
            assert (await stage.get())[0] is None
    assert not any(word in caplog.text for word in ("open-sesame", "hunter-22"))


def test_without_the_library_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(ConfigError, match=r'cache.store: .* pip install "hybridge\[redis\]"'):
        connect("redis://localhost")


def test_an_option_that_it_cannot_read_is_the_addresss_fault():
    with pytest.raises(ConfigError, match="state.redis_url") as caught:
        connect("redis://me:hunter2@localhost/?db=many")
    assert "hunter2" not in str(caught.value)


async def test_closing_waits_for_nobody():
    async with recording() as silent:
        stage = Stage(silent.url)
        waiting = asyncio.create_task(stage.store.get("k"))
        stage.store.put("k", b"value", TTL_S)
        await asyncio.sleep(0)
        await stage.store.close()
        assert await waiting is None


async def test_whoever_gives_up_waiting_leaves_nothing_behind(redis):
    async with at(redis.url) as stage:
        await stage.put("k", b"value")
        for _ in range(20):
            waiting = asyncio.create_task(stage.store.get("k"))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        assert await stage.get("other") == (None, "miss")
        assert await stage.get() == (b"value", "hit")


@given(st.lists(st.one_of(st.just("fails"), st.just("answers"), st.floats(0, 10))))
def test_it_rests_only_after_a_failure_and_never_for_long(steps):
    clock = ManualClock()
    rest, failed_s = Rest(clock), None
    for step in steps:
        if step == "fails":
            failed_s = failed_s if rest.resting else clock.monotonic()
            rest.begin()
        elif step == "answers":
            rest.end()
            failed_s = None
        else:
            clock.advance(step)
        if rest.resting:
            assert failed_s is not None
            assert clock.monotonic() < failed_s + LONGEST_REST_S
        if step == "fails":
            assert rest.resting
