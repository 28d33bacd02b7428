"""Houses that share their answers in a Redis, and what of a request gets there (R32, R62)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.redis_server import free_port, recording
from tests.unit.wiring.scene import request, until

from hybridge.core.errors import ConfigError
from hybridge.core.request import Wish
from hybridge.core.trail import Exit
from hybridge.settings import parse
from hybridge.testing.replies import says
from hybridge.testing.upstream import Upstream
from hybridge.wiring import House, open_house

pytestmark = pytest.mark.anyio

KEY = "0123456789abcdef" * 4
QUESTION = "What is the capital of France?"
ALIKE = "Please tell me what the capital of France is."
MAIL = "ann.miller@example.org"
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def data(edge: Upstream, url: str | None, cache: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    row = {"name": "e", "engine": "openai", "base_url": edge.base_url, "model": "small"}
    return {
        "server": {"port": 0},
        "edge": {"backends": [row]},
        "records": {"url": None},
        "cache": {"store": "redis", "key_env": "CACHE_KEY", **cache},
        "state": {"redis_url": url},
        **more,
    }


@asynccontextmanager
async def replica(
    edge: Upstream, url: str | None, key: str = KEY, *, more: Mapping[str, Any] = {}, **cache: Any
) -> AsyncIterator[House]:
    settings = parse(data(edge, url, cache, **more), {"CACHE_KEY": key})
    async with open_house(settings) as house:
        yield house


@pytest.fixture
async def edge() -> AsyncIterator[Upstream]:
    async with Upstream(says("Paris it is.", logprob=-0.01)) as upstream:
        yield upstream


async def ask(house: House, prompt: str = QUESTION, **more: Any) -> tuple[str, str]:
    """The text of an answer, and its route."""
    async with house.gateway.serve(request("auto", prompt, **more)) as reply:
        text = "".join([event.text async for event in reply.events])
        return text, reply.report().route


def counted(house: House, call: str, outcome: str) -> float:
    labels = {"call": call, "outcome": outcome}
    return house.metrics.registry.get_sample_value("hybridge_shared_cache_total", labels) or 0.0


async def kept(house: House, answers: int = 1) -> None:
    await until(lambda: counted(house, "put", "kept") >= answers)


@STREAMS
async def test_another_replica_gives_the_answer_again(redis, edge, stream):
    async with replica(edge, redis.url) as one, replica(edge, redis.url) as other:
        assert await ask(one, stream=stream) == ("Paris it is.", "edge_classified")
        await kept(one)
        assert await ask(other, stream=not stream) == ("Paris it is.", "cache")
        assert counted(other, "get", "hit") == 1
    assert len(edge.posts) == 1


async def test_what_lies_there_ends_with_its_lifetime(redis, edge):
    async with replica(edge, redis.url, ttl_s=77) as house:
        await ask(house)
        await kept(house)
    (key,) = await redis.all()
    assert key.startswith(b"hybridge:answer:1:")
    assert 0 < await redis.ask("PTTL", key) <= 77_000


async def test_with_another_secret_nothing_is_shared(redis, edge):
    async with replica(edge, redis.url) as one, replica(edge, redis.url, KEY[::-1]) as other:
        await ask(one)
        await kept(one)
        assert (await ask(other))[1] == "edge_classified"


async def test_without_a_secret_a_process_finds_its_own_answers_only(redis, edge):
    own = {"key_env": None}
    async with replica(edge, redis.url, **own) as one, replica(edge, redis.url, **own) as other:
        await ask(one)
        await kept(one)
        assert (await ask(one))[1] == "cache"
        assert (await ask(other))[1] == "edge_classified"


async def test_a_similar_question_is_found_by_who_knows_the_first(redis, edge):
    async with replica(edge, redis.url, semantic={}) as house:
        await ask(house)
        await kept(house)
        assert (await ask(house, ALIKE))[1] == "cache"


PRIVATE = pytest.mark.parametrize(
    ("privacy", "wish"),
    [
        ({}, Wish()),
        ({"action": "pseudonymise"}, Wish()),
        ({"types": {"EMAIL": "allow"}}, Wish()),
        ({"action": "allow"}, Wish(private=True)),
    ],
    ids=["kept here", "pseudonymised", "allowed", "the caller's wish"],
)


@STREAMS
@PRIVATE
async def test_not_a_byte_of_a_private_request_reaches_it(redis, edge, privacy, wish, stream):
    async with recording(to=redis.port) as wire:
        async with replica(edge, wire.url, semantic={}, more={"privacy": privacy}) as house:
            for _ in range(2):
                prompt = f"Write to {MAIL}. {QUESTION}"
                text, route = await ask(house, prompt, stream=stream, wish=wish)
                assert (text, route != "cache") == ("Paris it is.", True)
        assert (wire.connections, wire.received) == (0, b"")


async def test_nor_of_what_a_session_says_after_it(redis, edge):
    async with recording(to=redis.port) as wire:
        async with replica(edge, wire.url, semantic={}) as house:
            await ask(house, f"Write to {MAIL}.", session="s")
            for _ in range(2):
                assert (await ask(house, session="s"))[1] != "cache"
        assert (wire.connections, wire.received) == (0, b"")


async def test_of_any_other_request_it_gets_a_keyed_digest_and_the_answer(redis, edge):
    async with recording(to=redis.port) as wire:
        async with replica(edge, wire.url, semantic={}) as house:
            await ask(house, session="the-session", tenant="the-tenant")
            await kept(house)
            sent = wire.received
    assert b"Paris it is." in sent
    for secret in (QUESTION, "capital", "the-session", "the-tenant", KEY):
        assert secret.encode() not in sent


async def test_one_that_is_down_costs_nobody_an_answer(patient, edge, caplog):
    async with replica(edge, f"redis://127.0.0.1:{free_port()}/0") as house:
        for _ in range(3):
            assert await ask(house) == ("Paris it is.", "edge_classified")
        assert counted(house, "get", "unreachable") >= 1
    told = [r for r in caplog.records if r.name == "hybridge.cache"]
    assert len(told) == 1


async def test_one_that_hangs_costs_nobody_an_answer(edge):
    async with recording() as silent:
        async with replica(edge, silent.url, semantic={}) as house:
            async with asyncio.timeout(20):
                for _ in range(3):
                    assert await ask(house) == ("Paris it is.", "edge_classified")
            assert counted(house, "get", "timeout") >= 1


async def test_answers_and_connections_outlive_a_change(redis, edge):
    async with recording(to=redis.port) as wire:
        async with replica(edge, wire.url) as house:
            await ask(house)
            await kept(house)
            store, connections = house.gateway.current.store, wire.connections
            changed = data(edge, wire.url, {}, routing={"edge_max": 5})
            await house.take(parse(changed, {"CACHE_KEY": KEY}))
            assert house.gateway.current.store is store
            assert (await ask(house))[1] == "cache"
            assert wire.connections == connections


async def test_a_changed_place_or_model_is_another_cache(redis, edge):
    async with replica(edge, redis.url) as house:
        await ask(house)
        await kept(house)
        first = house.gateway.current.store
        changed = data(edge, redis.url, {})
        changed["edge"]["backends"][0]["model"] = "other"
        await house.take(parse(changed, {"CACHE_KEY": KEY}))
        assert (await ask(house))[1] == "edge_classified"
        await house.take(parse(data(edge, redis.url[:-1] + "1", {}), {"CACHE_KEY": KEY}))
        assert house.gateway.current.store is not first
        assert (await ask(house))[1] == "edge_classified"
        await house.take(parse(data(edge, redis.url, {"store": "memory"}), {"CACHE_KEY": KEY}))
        assert house.gateway.current.store is None
        assert (await ask(house))[1] == "edge_classified"
        assert (await ask(house))[1] == "cache"


async def test_a_configuration_that_fails_closes_what_it_opened(redis, edge):
    async with replica(edge, redis.url, store="memory") as house:
        broken = data(edge, redis.url, {}, routing={"rules": "/nowhere/rules.json"})
        with pytest.raises(ConfigError):
            await house.take(parse(broken, {"CACHE_KEY": KEY}))
        assert house.gateway.current.store is None
        assert (await ask(house))[1] == "edge_classified"


async def test_what_is_put_there_is_on_the_request_s_trail(redis, edge):
    async with replica(edge, redis.url) as house:
        first, second = request("auto", QUESTION), request("auto", QUESTION)
        for asked in (first, second):
            async with house.gateway.serve(asked) as reply:
                _ = [event async for event in reply.events]
            await kept(house)
        assert first.trail.exits == (Exit("state.redis_url", "cache"),)
        assert second.trail.exits == ()
