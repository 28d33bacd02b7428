"""Whoever hangs up has still spent what was spent, and nothing promised stays (R61)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hybridge.core.assembly import as_chunks
from hybridge.core.backend import Price
from hybridge.core.errors import BackendError, BudgetExhausted, Fault, HybridgeError
from hybridge.core.events import Served
from hybridge.core.plan import Route
from hybridge.core.request import Feature, Tier
from hybridge.gateway.gateway import Patience
from hybridge.routing.facts import estimate_prompt_tokens
from hybridge.testing.backend import Hang, Pause, calling, saying
from hybridge.testing.clock import ManualClock

pytestmark = pytest.mark.anyio

SURE = saying("The tilt of its axis.", confidence=0.99)
UNSURE = saying("Maybe the moon, or the wind, or so.", confidence=0.2)
CLOUD = saying("The tilt of Earth's axis.")
LONG = [*saying("one two three four", stream=True)[:3], Hang()]
FAILING = [BackendError("cloud was told to fail", backend="cloud", fault=Fault.SERVER)]
HARD, EASY, BAND = 0.9, 0.1, 0.5
HEDGE = Patience(deadline_s=10, hedge_after_s=0.02)
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
PROMPT_USD = Decimal(5) * 2 / 1_000_000
"""Less than any prompt here costs."""


async def served(scene, request):
    async with scene.gateway.serve(request) as reply:
        text = "".join([event.text async for event in reply.events])
        return text, reply.report()


async def hang_up(scene, request, *, turns: int = 60) -> Served:
    """Asks, and is gone a little later; what those who watch were told of it."""
    asking = asyncio.ensure_future(served(scene, request))
    for _ in range(turns):
        await asyncio.sleep(0.001)
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking
    return scene.of(Served)[-1]


def balanced(scene) -> Decimal:
    """What is spent, which is the sum of the records; nothing is promised any more."""
    everyone, *_ = scene.ledger.status().spends
    recorded = sum((s.cost_usd for s in scene.of(Served) if s.cost_usd), Decimal(0))
    assert everyone.reserved == 0
    assert everyone.spent - everyone.assumed == recorded
    return everyone.spent


@pytest.mark.parametrize("route", [{"model": "cloud"}, {}], ids=["named", "auto"])
async def test_a_stream_that_is_cut_costs_the_prompt_and_what_was_sent(stage, ask, route):
    async with stage(SURE, LONG, p=HARD) as scene:
        told = await hang_up(scene, ask(stream=True, **route))
        assert told.usage.prompt_tokens > 5
        assert told.usage.completion_tokens >= 2
        assert told.usage.estimated
        assert told.error == "cancelled"
        assert balanced(scene) == told.cost_usd > PROMPT_USD


@STREAMS
@pytest.mark.parametrize("route", [{"model": "cloud"}, {}], ids=["named", "auto"])
async def test_before_the_first_event_it_costs_the_prompt(stage, ask, route, stream):
    async with stage(SURE, [Hang()], p=HARD) as scene:
        told = await hang_up(scene, ask(stream=stream, **route))
        assert (told.backend, told.tier, told.route) == ("cloud", Tier.CLOUD, None)
        assert (told.error, told.usage.completion_tokens) == ("cancelled", 0)
        assert balanced(scene) == told.cost_usd > PROMPT_USD


@STREAMS
async def test_a_cloud_that_lost_the_race_has_read_the_prompt(stage, ask, stream):
    async with stage(SURE, [Hang()], p=BAND, patience=HEDGE) as scene:
        text, report = await served(scene, ask(stream=stream))
        assert (text, report.route) == ("The tilt of its axis.", Route.SHADOW)
        assert report.cost_usd > PROMPT_USD
        assert balanced(scene) == report.cost_usd == scene.of(Served)[0].cost_usd


@STREAMS
async def test_hanging_up_while_both_still_race_costs_the_prompt(stage, ask, stream):
    async with stage([Hang()], [Hang()], p=BAND, patience=HEDGE) as scene:
        told = await hang_up(scene, ask(stream=stream))
        assert balanced(scene) == told.cost_usd > PROMPT_USD
    assert scene.cloud.running == scene.edge.running == 0


async def test_a_shadow_costs_nothing_and_its_request_what_was_sent(stage, ask):
    async with stage(SURE, LONG, p=BAND) as scene:
        told = await hang_up(scene, ask(stream=True))
        assert (told.backend, told.error) == ("cloud", "cancelled")
        assert balanced(scene) == told.cost_usd > PROMPT_USD


@STREAMS
async def test_an_edge_that_is_cut_costs_nothing(stage, ask, stream):
    async with stage([Hang()], CLOUD, p=EASY) as scene:
        told = await hang_up(scene, ask(stream=stream))
        assert told.cost_usd is None
        assert balanced(scene) == 0


@STREAMS
async def test_cut_while_the_cloud_thinks_over_what_the_edge_doubted(stage, ask, stream):
    async with stage(UNSURE, [Hang()], p=EASY) as scene:
        told = await hang_up(scene, ask(stream=stream))
        assert told.backend == "cloud"
        assert balanced(scene) == told.cost_usd > PROMPT_USD


@STREAMS
async def test_cut_while_the_edge_stands_in_for_a_cloud_that_failed(stage, ask, stream):
    async with stage([Hang()], FAILING, p=HARD) as scene:
        await hang_up(scene, ask(stream=stream))
        assert balanced(scene) == 0


@STREAMS
@pytest.mark.parametrize("route", [{"model": "cloud"}, {}], ids=["named", "auto"])
async def test_a_cloud_that_was_too_slow_has_read_the_prompt(stage, ask, route, stream):
    """As one whose caller hung up: nobody knows that it has stopped working on it."""
    async with stage(SURE, [Hang()], p=HARD, patience=Patience(deadline_s=0.2)) as scene:
        with suppress(HybridgeError):
            text, report = await served(scene, ask(stream=stream, **route))
            assert (text, report.cost_usd > PROMPT_USD) == ("The tilt of its axis.", True)
        (told,) = scene.of(Served)
        assert balanced(scene) == told.cost_usd > PROMPT_USD


async def test_a_slow_cloud_without_a_price_is_counted_beside_a_free_answer(stage, ask):
    patience = Patience(deadline_s=0.2)
    async with stage(SURE, [Hang()], p=HARD, price=None, patience=patience) as scene:
        _, report = await served(scene, ask())
        assert report.cost_usd is None
        everyone, *_ = scene.ledger.status().spends
        tokens = estimate_prompt_tokens(ask())
        assert everyone.spent == everyone.assumed == Decimal(tokens) * 15 / 1_000_000


async def test_a_cut_stream_of_called_tools_costs_what_was_sent(stage, ask):
    head, *pieces, _ = as_chunks(calling("weather", '{"city": "Paris"}'))
    async with stage(SURE, [head, *pieces[:1] * 40, Hang()], p=HARD) as scene:
        told = await hang_up(scene, ask(stream=True))
        assert told.usage.completion_tokens >= 40
        assert balanced(scene) == told.cost_usd


@STREAMS
async def test_failures_cost_nothing_and_promise_nothing(stage, ask, stream):
    async with stage(SURE, FAILING, p=HARD, daily_usd=Decimal("0.05")) as scene:
        for _ in range(50):
            with suppress(HybridgeError):
                await served(scene, ask(model="cloud", stream=stream))
        assert balanced(scene) == 0
        assert scene.ledger.refusal("anonymous", Decimal("0.05")) is None


async def test_answers_far_cheaper_than_promised_do_not_use_the_budget_up(stage, ask):
    async with stage(SURE, CLOUD, p=HARD, daily_usd=Decimal("0.05")) as scene:
        for _ in range(50):
            _, report = await served(scene, ask(max_tokens=4000))
            assert report.route is Route.CLOUD_CLASSIFIED
        assert 0 < balanced(scene) < Decimal("0.01")


@pytest.mark.parametrize("model", ["cloud", "auto"])
@STREAMS
async def test_parallel_requests_spend_no_more_than_there_is(stage, ask, model, stream):
    """A budget for two: of twenty at once, the others are refused or stay on the edge."""
    slow = [Pause(0.05), *saying("one two three four five six seven eight")]
    request = ask(model=model, stream=stream, max_tokens=500)
    for_two = Decimal("0.0081")  # 500 tokens of an answer are 0.004, and the prompt a little
    async with stage(SURE, slow, p=HARD, daily_usd=for_two) as scene:
        results = await asyncio.gather(
            *(served(scene, request) for _ in range(20)), return_exceptions=True
        )
        refused = [r for r in results if isinstance(r, BudgetExhausted)]
        degraded = [r for r in results if isinstance(r, tuple) and r[1].degraded]
        assert len(scene.cloud.calls) == 2
        assert (len(refused), len(degraded)) == ((18, 0) if model == "cloud" else (0, 18))
        assert 0 < balanced(scene) <= for_two


@STREAMS
async def test_an_exhausted_budget_leaves_the_edge_alone(stage, ask, stream):
    async with stage(SURE, CLOUD, p=HARD, daily_usd=Decimal("0.00004")) as scene:
        await served(scene, ask(model="cloud"))
        text, report = await served(scene, ask(stream=stream))
        assert (text, report.route) == ("The tilt of its axis.", Route.EDGE_DEGRADED)
        assert report.degraded
        assert report.cost_usd == 0
        text, report = await served(scene, ask(model="edge", stream=stream))
        assert (text, report.route) == ("The tilt of its axis.", Route.DIRECT)
        with pytest.raises(BudgetExhausted, match="the edge still answers") as refused:
            await served(scene, ask(model="cloud", stream=stream))
        assert refused.value.retry_after_s > 0


async def test_an_edge_deputy_answers_for_a_cloud_that_cannot_be_paid(stage, ask):
    deputies = {"cloud": ["edge"]}
    async with stage(SURE, CLOUD, daily_usd=Decimal(0), fallbacks=deputies) as scene:
        text, report = await served(scene, ask(model="cloud"))
    assert (text, report.route, report.degraded) == (
        "The tilt of its axis.",
        Route.EDGE_DEGRADED,
        True,
    )


async def test_a_cloud_deputy_of_the_edge_is_paid_for_like_any_other(stage, ask):
    broken = [BackendError("edge was told to fail", backend="edge", fault=Fault.SERVER)]
    deputies = {"edge": ["cloud"]}
    async with stage(broken, CLOUD, daily_usd=Decimal(0), fallbacks=deputies) as scene:
        with pytest.raises(HybridgeError):
            await served(scene, ask(model="edge"))
    assert not scene.cloud.calls


async def test_exactly_at_the_limit_there_is_nothing_left(stage, ask):
    async with stage(SURE, CLOUD, p=HARD, daily_usd=Decimal(1)) as scene:
        with scene.ledger.reserve("anonymous", Decimal(1)) as all_of_it:
            all_of_it.settle(Decimal(1))
        _, report = await served(scene, ask())
        assert report.route is Route.EDGE_DEGRADED
        assert scene.ledger.refusal("anonymous", Decimal(0)) is None


ZONES = [UTC, timezone(timedelta(hours=8)), timezone(timedelta(hours=-7))]


@pytest.mark.parametrize("zone", ZONES, ids=str)
async def test_a_day_begins_at_midnight_utc_wherever_the_machine_stands(stage, ask, zone):
    noon = datetime(2030, 3, 9, 23, 59, 58, tzinfo=UTC).astimezone(zone)
    clock = ManualClock(now=noon)
    async with stage(SURE, CLOUD, p=HARD, daily_usd=Decimal("0.00004"), clock=clock) as scene:
        await served(scene, ask())
        _, report = await served(scene, ask())
        assert report.route is Route.EDGE_DEGRADED
        assert "2030-03-10T00:00Z" in report.notice
        clock.advance(1)
        _, report = await served(scene, ask())
        assert report.route is Route.EDGE_DEGRADED
        clock.advance(1)
        _, report = await served(scene, ask())
        assert report.route is Route.CLOUD_CLASSIFIED


@STREAMS
async def test_an_unpriced_cloud_is_counted_at_the_assumed_price(stage, ask, stream):
    small = {"daily_usd": "0.001", "assumed_price": {"input_usd": 20, "output_usd": 80}}
    async with stage(SURE, CLOUD, p=HARD, price=None, budget=small) as scene:
        reports = [(await served(scene, ask(stream=stream)))[1] for _ in range(8)]
        status = scene.ledger.status()
    routes = [report.route for report in reports]
    assert routes[0] is Route.CLOUD_CLASSIFIED
    assert routes[-1] is Route.EDGE_DEGRADED
    assert reports[0].cost_usd is None, "unknown, never 0"
    assert status.unknown == len(scene.cloud.calls)
    assert status.spends[0].spent == status.spends[0].assumed >= Decimal("0.001")
    assert status.spends[0].reserved == 0


async def test_an_unpriced_cloud_passes_where_that_is_allowed(stage, ask):
    lax = {"daily_usd": "0.0001", "unpriced": "allow"}
    async with stage(SURE, CLOUD, p=HARD, price=None, budget=lax) as scene:
        for _ in range(5):
            _, report = await served(scene, ask())
            assert (report.route, report.cost_usd) == (Route.CLOUD_CLASSIFIED, None)
    assert scene.ledger.status().unknown == 5
    assert scene.ledger.status().spends[0].spent == 0


async def test_an_unpriced_cloud_that_was_cut_is_counted_too(stage, ask):
    async with stage(SURE, [Hang()], p=HARD, price=None) as scene:
        told = await hang_up(scene, ask())
        assert told.cost_usd is None
        assert balanced(scene) > 0
    assert scene.ledger.status().unknown == 1


async def test_every_choice_is_promised(stage, ask):
    choices = {"features": frozenset({Feature.CHOICES}), "extra": {"n": 50}, "model": "cloud"}
    slow = [Pause(0.02), *CLOUD]
    async with stage(SURE, slow, daily_usd=Decimal("0.02")) as scene:
        one, other = await asyncio.gather(
            *(served(scene, ask(max_tokens=40, **choices)) for _ in range(2)),
            return_exceptions=True,
        )
    assert any(isinstance(result, BudgetExhausted) for result in (one, other))


events = st.sampled_from(["whole", "stream", "cut", "cut late", "fail", "late"])


@given(st.lists(events, max_size=12))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_books_and_records_agree_however_requests_end(stage, ask, ends: list[str]) -> None:
    async def run() -> None:
        late = BackendError("cloud was late", backend="cloud", fault=Fault.TIMEOUT)
        scripts = {"fail": FAILING, "late": [late], "cut": [Hang()], "cut late": LONG}
        script = list(CLOUD)
        async with stage(SURE, script, p=HARD, price=Price(Decimal(3), Decimal(9))) as scene:
            for end in ends:
                script[:] = scripts.get(end, CLOUD)
                request = ask(stream=end in ("stream", "cut late"))
                if end.startswith("cut"):
                    await hang_up(scene, request, turns=3)
                else:
                    with suppress(HybridgeError):
                        await served(scene, request)
            balanced(scene)

    asyncio.run(run())


@pytest.mark.parametrize(("limit", "counted"), [("1000", False), ("0.01", True)])
async def test_a_prompt_is_counted_exactly_only_near_a_limit(stage, ask, limit, counted):
    async with stage(SURE, CLOUD, daily_usd=Decimal(limit)) as scene:
        trip = scene.gateway._set_out(ask("How do I get from here to there?", model="cloud"))
        scene.gateway._admit(trip)
        assert (trip._prompt_tokens is not None) is counted
        trip.reservation.release()
