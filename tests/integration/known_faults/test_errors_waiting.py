"""Being asked to wait: the caller hears it, and the gateway keeps to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import count
from typing import Any

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, port_of
from tests.integration.known_faults.vocabularies import ALL, EVERY_SHAPE, asking
from tests.integration.running import Running, running

from hybridge.testing.http import Got, ask
from hybridge.testing.replies import Received, Reply, Step, fails, says
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
_COUNT = 240
"""Each test asks a backend of its own, for a rest outlives the test."""


@pytest.fixture(scope="module")
async def built(tmp_path_factory, anyio_backend) -> AsyncIterator[tuple[Running, Upstream, Any]]:
    async with Upstream() as up:
        price = {"input_usd": 1, "output_usd": 1}
        row = {"base_url": up.base_url, "price": price}
        clouds = [row | {"name": f"c{i}", "model": f"c{i}"} for i in range(_COUNT)]
        small = {"engine": "openai", "base_url": up.base_url}
        edges = [small | {"name": f"e{i}", "model": f"e{i}"} for i in range(_COUNT)]
        config = {"edge": {"backends": edges}, "cloud": {"backends": clouds}}
        async with running(tmp_path_factory.mktemp("rests"), config) as gateway:
            yield gateway, up, count()


def later(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def dated(status: int, seconds: float, **more: str) -> Reply:
    """A date is made when it is asked for."""

    def reply(received: Received) -> Iterator[Step]:
        headers = {"Retry-After": later(seconds), **more}
        yield from fails(status, "slow down", headers=headers)(received)

    return reply


ASKED: dict[str, tuple[Reply, range]] = {
    "seconds": (fails(429, headers={"Retry-After": "30"}), range(29, 31)),
    "a date": (dated(429, 30), range(26, 32)),
    "milliseconds": (fails(429, headers={"retry-after-ms": "29500"}), range(29, 31)),
    "both": (fails(429, headers={"retry-after-ms": "30000", "Retry-After": "31"}), range(29, 32)),
    "a part of one": (fails(429, headers={"retry-after-ms": "5"}), range(1, 2)),
    "zero": (fails(429, headers={"Retry-After": "0"}), range(1, 2)),
    "nothing": (fails(429), range(1, 61)),
    "503, seconds": (fails(503, headers={"Retry-After": "30"}), range(29, 31)),
    "503, a date": (dated(503, 30), range(26, 32)),
    "529, seconds": (fails(529, headers={"Retry-After": "30"}), range(29, 31)),
}
LONG = [how for how, (_, about) in ASKED.items() if about.start > 20]


def told_to_wait(got: Got) -> int:
    """The header, an integer of at least 1."""
    value = got.headers["retry-after"]
    assert value.isdecimal()
    assert int(value) >= 1
    return int(value)


@pytest.mark.fault("B20")
@BOTH_WAYS
@pytest.mark.parametrize("tier", ["e", "c"], ids=["edge", "cloud"])
@pytest.mark.parametrize("how", ASKED)
@EVERY_SHAPE
async def test_the_caller_is_told_how_long(built, path, how, tier, stream):
    gateway, up, numbers = built
    reply, about = ASKED[how]
    up.then(reply)
    body = asking(path, model=f"{tier}{next(numbers)}", stream=stream)
    got = await ask(port_of(gateway), path, body)
    assert got.status in (429, 503, 529)
    assert told_to_wait(got) in about


@pytest.mark.fault("B20")
@pytest.mark.parametrize("tier", ["e", "c"], ids=["edge", "cloud"])
@pytest.mark.parametrize("how", LONG)
async def test_until_then_the_backend_is_not_asked(built, how, tier):
    gateway, up, numbers = built
    up.then(ASKED[how][0])
    model = f"{tier}{next(numbers)}"
    first = await ask(port_of(gateway), ALL[0], asking(ALL[0], model=model))
    up.then(says())
    before = len(up.posts)
    for path in ALL:
        for stream in (False, True):
            got = await ask(port_of(gateway), path, asking(path, model=model, stream=stream))
            assert got.status == (429 if first.status == 429 else 503), got.body
            assert told_to_wait(got) in range(20, 32)
    assert len(up.posts) == before


@pytest.mark.fault("B20")
async def test_afterwards_it_is_asked_again(built):
    gateway, up, numbers = built
    up.then(fails(429, headers={"Retry-After": "1"}), says())
    model = f"c{next(numbers)}"
    assert (await ask(port_of(gateway), ALL[0], asking(ALL[0], model=model))).status == 429
    for _ in range(200):
        if (await ask(port_of(gateway), ALL[0], asking(ALL[0], model=model))).status == 200:
            break
        await asyncio.sleep(0.05)
    else:
        raise AssertionError("it was never asked again")


@pytest.mark.fault("B20")
@BOTH_WAYS
@pytest.mark.parametrize("tier", ["e", "c"], ids=["edge", "cloud"])
@EVERY_SHAPE
async def test_an_open_breaker_says_how_long(built, path, tier, stream):
    gateway, up, numbers = built
    up.then(fails(500))
    body = asking(path, model=f"{tier}{next(numbers)}", stream=stream)
    for _ in range(3):
        assert (await ask(port_of(gateway), path, body)).status >= 500
    before = len(up.posts)
    got = await ask(port_of(gateway), path, body)
    assert got.status == 503
    assert told_to_wait(got) <= 10
    assert len(up.posts) == before


WAYS = [(path, stream) for path in ALL for stream in (False, True)]


@pytest.fixture(scope="module")
async def limited(tmp_path_factory, anyio_backend) -> AsyncIterator[Running]:
    """Each way of asking has a key of its own that may ask once a minute."""
    async with Upstream(says()) as up:
        row = {"name": "c", "base_url": up.base_url, "model": "m"}
        row |= {"price": {"input_usd": 1, "output_usd": 1}}
        keys = [{"name": f"t{i}", "key_env": f"K{i}", "rpm": 1} for i in range(len(WAYS))]
        keys.append({"name": "poor", "key_env": "POOR", "daily_usd": 0})
        config = {"server": {"api_keys": keys}, "cloud": {"backends": [row]}}
        config["edge"] = {"backends": []}
        env = {f"K{i}": f"key-{i}" for i in range(len(WAYS))} | {"POOR": "key-poor"}
        async with running(tmp_path_factory.mktemp("limits"), config, env=env) as gateway:
            yield gateway


@pytest.mark.fault("B20")
@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_the_gateways_own_limit_says_how_long(limited, way):
    path, stream = way
    headers = {"authorization": f"Bearer key-{WAYS.index(way)}"}
    body = asking(path, model="c", stream=stream)
    first, second = [await ask(port_of(limited), path, body, headers=headers) for _ in range(2)]
    assert (first.status, second.status) == (200, 429)
    assert told_to_wait(second) <= 60


@pytest.mark.fault("B20")
@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_spent_budget_says_how_long(limited, way):
    path, stream = way
    headers = {"authorization": "Bearer key-poor"}
    got = await ask(port_of(limited), path, asking(path, model="c", stream=stream), headers=headers)
    assert got.status == 429
    assert told_to_wait(got) <= 86_400
