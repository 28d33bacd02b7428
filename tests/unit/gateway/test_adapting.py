"""The online adapter: learns beside the event loop, for each pair and version on its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal

import pytest
from msgspec.structs import replace
from tests.unit.routing.own_models import HEAD, MONTH, NOW, PAIR, World

from hybridge.core.backend import Price
from hybridge.core.events import Compared
from hybridge.core.plan import Score
from hybridge.core.request import Tier
from hybridge.gateway.adapting import MOST, Adapting, Terms
from hybridge.gateway.planner import likely
from hybridge.learning.evidence import Evidence, Pair
from hybridge.routing.adaptation import LEAST
from hybridge.routing.candidate import Candidate
from hybridge.testing.backend import spec
from hybridge.testing.clock import ManualClock

pytestmark = pytest.mark.anyio
TERMS = Terms(HEAD, MONTH)


def adapting(terms: Terms = TERMS) -> Adapting:
    clock = ManualClock()
    clock.now = lambda: NOW
    return Adapting(terms, clock)


def compared(one: Evidence) -> Compared:
    return Compared(
        request_id=one.request_id, at=one.at, task=one.task, score=Score(0.5, "prior", HEAD),
        propensity=one.propensity, edge_backend=one.pair.edge, cloud_backend=one.pair.cloud,
        edge_version=one.pair.version, scorer_version=HEAD, edge_digest="", cloud_digest="",
        similarity=None, agreed=not one.failed, method="exact", edge_confidence=None, edge_ms=1.0,
        cloud_ms=1.0, view=one.view, head_version=one.head,
    )  # fmt: skip


async def learned(found: Sequence[Evidence], terms: Terms = TERMS) -> Adapting:
    learner = adapting(terms)
    learner.learn(found)
    await learner.settle()
    return learner


async def test_it_learns_what_the_records_hold():
    learner = await learned(World().evidence(100))
    assert learner.of(PAIR).speaks
    assert learner.of(None) is learner.of(PAIR)  # the only pair there is
    assert learner.of(Pair("local", "", "gpt")) is learner.of(PAIR)  # not loaded: no version yet


async def test_another_pair_or_version_begins_anew():
    learner = await learned(World().evidence(100))
    for other in (
        Pair("local", "v2", "gpt"),
        Pair("local", "v1", "claude"),
        Pair("b", "v1", "gpt"),
    ):
        assert learner.of(other) is None
    learner.learn(World(1).evidence(3, pair=Pair("local", "v2", "gpt")))
    await learner.settle()
    assert learner.of(Pair("local", "v2", "gpt")).said() == f"waiting: 3 of {LEAST} comparisons"
    assert learner.of(PAIR).speaks
    assert learner.of(None) is None


async def test_it_learns_from_what_happens_while_requests_go_on():
    learner = adapting()
    learner.start()
    try:
        for one in World().evidence(100):
            learner.on_event(compared(one))
            await asyncio.sleep(0)
        async with asyncio.timeout(60):
            while (known := learner.of(PAIR)) is None or not known.speaks:
                await asyncio.sleep(0.01)
    finally:
        await learner.close()


async def test_it_learns_anew_when_a_tenth_has_come_on_top():
    learner = await learned(World().evidence(100))
    before = learner.of(PAIR)
    more = World(1).evidence(10)
    for one in more[:9]:
        learner.on_event(compared(one))
    await learner.settle()
    assert learner.of(PAIR) is before
    learner.on_event(compared(more[9]))
    await learner.settle()
    assert learner.of(PAIR).trial.comparisons == 110


async def test_only_the_newest_are_looked_at():
    learner = adapting()
    learner.learn(World().evidence(1, view=None) * (MOST + 10))
    assert len(learner._evidence[PAIR]) == MOST


async def test_another_head_makes_it_learn_anew():
    learner = await learned([*World().evidence(60), *World(1).evidence(40, head="prior-2")])
    assert learner.of(PAIR).trial.comparisons == 60
    learner.follow(replace(TERMS, head="prior-2"))
    assert learner.of(PAIR) is None
    await learner.settle()
    assert learner.of(PAIR).trial.comparisons == 40
    learner.follow(replace(TERMS, head="prior-2"))  # the same once more
    assert learner.of(PAIR) is not None


async def test_without_views_only_the_accuracy_of_tasks_is_learned():
    learner = await learned(World().evidence(100), replace(TERMS, views=False))
    known = learner.of(PAIR)
    assert (known.speaks, known.trial.comparisons) == (False, 0)
    assert known.tasks["chat"].seen > 99


async def test_an_adapter_out_of_a_file_speaks_for_pairs_that_nothing_is_known_of():
    own = (await learned(World().evidence(100))).of(PAIR)
    learner = adapting(replace(TERMS, before=own))
    assert learner.of(Pair("b", "v1", "gpt")) is own
    assert learner.of(None) is own


async def test_what_cannot_be_learned_from_stops_nothing(caplog):
    learner = adapting()
    learner.start()
    odd = replace(World().evidence(1)[0], at=None)
    try:
        learner.learn([odd])
        async with asyncio.timeout(30):
            while "learning failed" not in caplog.text:
                await asyncio.sleep(0.01)
        assert learner.of(PAIR) is None
        other = Pair("b", "v1", "gpt")
        learner.learn(World().evidence(2, pair=other))
        async with asyncio.timeout(30):
            while learner.of(other) is None:
                await asyncio.sleep(0.01)
    finally:
        await learner.close()


async def test_a_request_is_probably_decided_between_the_first_choices_that_are_well():
    far = replace(spec("cloud", Tier.CLOUD), version="v9")
    dear = replace(far, name="dear", price=Price(Decimal(9), Decimal(9)))
    cheap = replace(far, name="cheap", price=Price(Decimal(1), Decimal(1)))
    small = replace(spec("small"), version="v1")
    down = Candidate(replace(spec("down"), version="v2"), unavailable="breaker open")
    candidates = [down, Candidate(small), Candidate(dear), Candidate(cheap)]
    assert likely(candidates) == Pair("small", "v1", "cheap")
    assert likely([down, Candidate(dear)]) == Pair("down", "v2", "dear")
    assert likely([Candidate(small)]) is None
