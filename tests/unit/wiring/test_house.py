"""R73: what is kept and what is new when a house takes other settings."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from tests.unit.wiring.scene import local_row, request, until

from hybridge.core.errors import BudgetExhausted, ConfigError, ModelError, RateLimited, UnknownModel
from hybridge.testing.replies import fails, says, slowly

pytestmark = pytest.mark.anyio


async def test_what_did_not_change_is_the_same_object(play):
    async with play() as scene:
        before = scene.house.gateway.current
        changed = await scene.take(lambda data: data.update(routing={"edge_max": 5}))
        after = scene.house.gateway.current
        assert changed == ("routing.edge_max 4 -> 5",)
        assert after is not before
        assert all(after.rows[name] is before.rows[name] for name in ("e", "c"))
        assert after.shadow is before.shadow


async def test_connections_outlive_a_change(play):
    async with play() as scene:
        await scene.ask("c")
        connections = scene.cloud.connections
        await scene.take(lambda data: data.update(routing={"edge_max": 5}))
        await scene.ask("c")
        assert scene.cloud.connections == connections


async def test_a_changed_row_is_a_new_backend(play):
    async with play() as scene:
        before = scene.house.gateway.current.rows
        await scene.take(lambda data: data["cloud"]["backends"][0].update(model="larger"))
        after = scene.house.gateway.current.rows
        assert after["e"] is before["e"]
        assert after["c"] is not before["c"]
        await scene.ask("c")
        assert scene.cloud.posts[-1].json["model"] == "larger"


async def test_requests_under_way_end_on_what_they_began_on(play):
    async with play() as scene:
        scene.cloud.then(slowly(says("one two three four five"), between_s=0.05), says("new"))
        old = asyncio.create_task(scene.ask("c", stream=True))
        await until(lambda: scene.cloud.posts)
        row = scene.house.gateway.current.rows["c"]
        await scene.take(lambda data: data["cloud"]["backends"][0].update(model="larger"))
        assert await scene.ask("c") == "new"
        assert await old == "one two three four five"
        assert scene.house.gateway.current.rows["c"] is not row


async def test_a_removed_backend_is_gone_for_new_requests_only(play):
    async with play() as scene:
        scene.cloud.then(slowly(says("one two three"), between_s=0.1))
        old = asyncio.create_task(scene.ask("c", stream=True))
        await until(lambda: scene.cloud.posts)
        await scene.take(lambda data: data.update(cloud={"backends": []}))
        with pytest.raises(UnknownModel):
            await scene.ask("c")
        assert await old == "one two three"


async def test_an_open_breaker_stays_open_under_other_limits(play):
    async with play(execution={"breaker_open_s": 600}) as scene:
        scene.cloud.then(fails(500))
        for _ in range(3):
            with pytest.raises(Exception, match="500"):
                await scene.ask("c")
        await scene.take(lambda data: data["execution"].update(breaker_failures=9))
        (row,) = [b for b in scene.house.gateway.status().backends if b.name == "c"]
        assert "breaker open" in (row.reason or "")


async def test_limits_of_a_closed_breaker_change_at_once(play):
    async with play() as scene:
        await scene.take(lambda data: data.update(execution={"breaker_failures": 1}))
        scene.cloud.then(fails(500))
        with pytest.raises(Exception, match="500"):
            await scene.ask("c")
        assert scene.house.gateway.current.rows["c"].breaker.state == "open"


async def test_money_that_was_spent_stays_spent(play):
    async with play(budget={"daily_usd": 100}) as scene:
        await scene.ask("c")
        spent = _spent(scene)
        assert spent > 0
        await scene.take(lambda data: data.update(budget={"daily_usd": 50}))
        assert _spent(scene) == spent
        await scene.take(lambda data: data.update(budget={"daily_usd": float(spent) / 2}))
        with pytest.raises(BudgetExhausted):
            await scene.ask("c")
        await scene.take(lambda data: data.update(budget={"daily_usd": 1}))
        assert await scene.ask("c") == "from the cloud"


async def test_promised_money_is_settled_in_the_same_books(play):
    async with play() as scene:
        scene.cloud.then(slowly(says("one two three"), between_s=0.05))
        old = asyncio.create_task(scene.ask("c", stream=True))
        await until(lambda: scene.cloud.posts)
        assert _reserved(scene) > 0
        await scene.take(lambda data: data.update(budget={"daily_usd": 50}))
        assert _reserved(scene) > 0
        await old
        assert (_reserved(scene), _spent(scene) > 0) == (0, True)


async def test_a_session_goes_on(play):
    async with play() as scene:
        sessions = scene.house.gateway.current.planner.sessions
        await scene.ask(prompt="Prove that there are infinitely many primes.", session="s")
        assert sessions.view("s").scores
        await scene.take(lambda data: data.update(routing={"session_window": 5}))
        assert scene.house.gateway.current.planner.sessions is sessions
        assert sessions.view("s").scores
        await scene.take(lambda data: data.update(routing={"session_window": 1}))
        assert not sessions.view("s").scores, "a window of one looks at nothing before"


async def test_kept_answers_stay_as_long_as_who_gave_them_does(play):
    async with play(cache={"ttl_s": 300}) as scene:
        await scene.ask()
        await scene.take(lambda data: data.update(cache={"ttl_s": 200}))
        await scene.ask()
        assert len(scene.edge.posts) == 1
        await scene.take(lambda data: data["edge"]["backends"][0].update(model="smaller"))
        await scene.ask()
        assert len(scene.edge.posts) == 2
        await scene.take(lambda data: data.update(edge={"backends": []}))
        assert await scene.ask() == "from the cloud"


async def test_limits_of_keys_change_at_once_and_count_on_while_they_do_not(play):
    async with play(limits={"rpm": 2}) as scene:
        await scene.ask("e")
        await scene.take(lambda data: data.update(routing={"edge_max": 5}))
        await scene.ask("e")
        with pytest.raises(RateLimited):
            await scene.ask("e")
        await scene.take(lambda data: data.update(limits={"rpm": 100}))
        assert await scene.ask("e") == "from the edge"


BAD = {
    "no price, where that is refused": lambda data: (
        data["cloud"]["backends"][0].update(price="auto"),
        data.update(budget={"unpriced": "refuse"}),
    ),
    "no such rules": lambda data: data.update(routing={"rules": "/nowhere/rules.json"}),
    "no such weights": lambda data: data["edge"]["backends"].append(local_row()),
    "no address": lambda data: data["cloud"]["backends"][0].update(base_url="http://:x/v1"),
}


@pytest.mark.parametrize("what", BAD)
async def test_settings_that_cannot_be_used_change_nothing(play, what):
    async with play() as scene:
        before = scene.house.gateway.current
        with pytest.raises((ConfigError, ModelError)):
            await scene.take(BAD[what])
        assert scene.house.gateway.current is before
        assert await scene.ask("e") == "from the edge"
        assert await scene.ask("c") == "from the cloud"


async def test_the_address_waits_for_a_restart_and_the_rest_does_not(play):
    async with play() as scene:
        changed = await scene.take(
            lambda data: data.update(server={"port": 9}, routing={"edge_max": 5})
        )
        assert changed == ("server.port 0 -> 9", "routing.edge_max 4 -> 5")
        config = scene.house.gateway.status().config
        assert config.restart_needed == ("server.port",)
        running = scene.house.gateway.current.settings
        assert (running.server.port, running.routing.edge_max) == (0, 5)
        await scene.take(lambda data: data.update(server={"port": 0}))
        assert scene.house.gateway.status().config.restart_needed == ()


async def test_a_generation_is_put_down_with_its_last_request(play):
    async with play() as scene:
        scene.cloud.then(slowly(says("one two three"), between_s=0.1))
        old = asyncio.create_task(scene.ask("c", stream=True))
        await until(lambda: scene.cloud.posts)
        first = scene.house.gateway.current
        for edge_max in (5, 6):
            await scene.take(lambda data, n=edge_max: data.update(routing={"edge_max": n}))
        assert first.visits.count == 1
        await old
        await until(lambda: not scene.house.gateway._leaving)
        assert first.visits.count == 0


async def test_an_abandoned_request_leaves_too(play):
    async with play() as scene:
        scene.cloud.then(slowly(says("one two three"), first_s=60))
        begun = asyncio.create_task(scene.ask("c", stream=True))
        await until(lambda: scene.cloud.posts)
        begun.cancel()
        await asyncio.gather(begun, return_exceptions=True)
        assert scene.house.gateway.current.visits.count == 0


async def test_explaining_and_counting_are_the_current_ones(play):
    async with play() as scene:
        asked = request("auto", "What causes the seasons on Earth?")
        await scene.take(lambda data: data.update(routing={"edge_max": 9, "cloud_min": 10}))
        assert (await scene.house.gateway.explain(asked)).thresholds.edge_max == 9
        assert scene.house.gateway.count_tokens(asked) > 0
        assert [spec.name for spec in scene.house.gateway.models()] == ["e", "c"]


def _spent(scene) -> Decimal:
    return scene.house._lasting.books.status().spends[0].spent


def _reserved(scene) -> Decimal:
    return scene.house._lasting.books.status().spends[0].reserved
