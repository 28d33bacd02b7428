"""The six steps, with scripted backends: what the caller gets and what those who watch are told."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from hybridge.core.backend import Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.errors import (
    BackendError,
    BudgetExhausted,
    Fault,
    NotServed,
    PrivacyNoLocalPath,
)
from hybridge.core.events import AttemptFailed, Compared, Served, ShadowDropped
from hybridge.core.plan import Route
from hybridge.core.request import Feature, Wish
from hybridge.core.response import Chunk
from hybridge.gateway.gateway import Patience
from hybridge.gateway.shadowing import Shadowing
from hybridge.testing.backend import Hang, Pause, ScriptedBackend, calling, saying, spec, whole

pytestmark = pytest.mark.anyio

SURE = saying("The tilt of its axis.", confidence=0.99)
UNSURE = saying("Maybe the moon, or the wind, or so.", confidence=0.2)
CLOUD = saying("The tilt of Earth's axis.")
HARD, EASY, BAND = 0.9, 0.1, 0.5
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def broken(name: str, fault: Fault = Fault.SERVER, **more):
    return [BackendError(f"{name} was told to fail", backend=name, fault=fault, **more)]


async def served(scene, request):
    async with scene.gateway.serve(request) as reply:
        text = "".join([event.text async for event in reply.events])
        report = reply.report()
    return text, report


async def soon(scene, kind):
    """The one event of a kind, which is told in the background."""
    for _ in range(100):
        if scene.of(kind):
            break
        await asyncio.sleep(0.01)
    (event,) = scene.of(kind)
    return event


@STREAMS
@pytest.mark.parametrize(
    ("p", "route", "text"),
    [
        (EASY, Route.EDGE_CLASSIFIED, "The tilt of its axis."),
        (HARD, Route.CLOUD_CLASSIFIED, "The tilt of Earth's axis."),
        (BAND, Route.SHADOW, "The tilt of Earth's axis."),
    ],
)
async def test_the_score_decides(stage, ask, p, route, text, stream):
    async with stage(SURE, CLOUD, p=p) as scene:
        said, report = await served(scene, ask(stream=stream))
    assert (said, report.route) == (text, route)
    (told,) = scene.of(Served)
    assert (told.route, told.error, told.stream) == (route, None, stream)


async def test_a_broken_scorer_never_fails_a_request(stage, ask):
    async with stage(SURE, CLOUD, broken_scorer=True) as scene:
        _, report = await served(scene, ask())
    assert report.route is Route.CLOUD_CLASSIFIED
    assert report.score is None


@STREAMS
async def test_doubt_escalates_and_the_edge_is_stopped(stage, ask, stream):
    async with stage(UNSURE, CLOUD, p=EASY) as scene:
        said, report = await served(scene, ask(stream=stream))
    assert (said, report.route) == ("The tilt of Earth's axis.", Route.CLOUD_ESCALATED)
    assert scene.edge.running == 0


@STREAMS
async def test_a_doubted_answer_goes_on_when_the_cloud_fails(stage, ask, stream):
    async with stage(UNSURE, broken("cloud"), p=EASY) as scene:
        said, report = await served(scene, ask(stream=stream))
    assert said == "Maybe the moon, or the wind, or so."
    assert report.route is Route.EDGE_DEGRADED
    assert report.degraded
    assert "confidence" in report.notice
    assert len(scene.edge.calls) == 1


async def test_both_gone_is_not_served_and_says_when_to_come_back(stage, ask):
    async with stage(broken("edge"), broken("cloud", retry_after_s=7), p=EASY) as scene:
        with pytest.raises(NotServed) as raised:
            await served(scene, ask())
    assert raised.value.retry_after_s >= 1
    assert [failed.backend for failed in scene.of(AttemptFailed)] == ["edge", "cloud"]
    assert scene.of(Served)[0].error == "NotServed"


async def test_a_callers_own_fault_is_not_tried_elsewhere(stage, ask):
    refusal = broken("cloud", Fault.CALLER, status=400)
    async with stage(SURE, refusal, p=HARD) as scene:
        with pytest.raises(BackendError):
            await served(scene, ask())
    assert not scene.edge.calls


async def test_a_wrong_model_name_of_the_operator_degrades(stage, ask):
    missing = broken("cloud", Fault.ABSENT, status=404)
    async with stage(SURE, missing, p=HARD) as scene:
        _, report = await served(scene, ask())
    assert report.route is Route.EDGE_DEGRADED


async def test_a_hanging_cloud_leaves_the_edge_time_to_answer(stage, ask):
    async with stage(SURE, [Hang()], p=HARD, patience=Patience(deadline_s=0.6)) as scene:
        said, report = await served(scene, ask())
    assert (said, report.route) == ("The tilt of its axis.", Route.EDGE_DEGRADED)


async def test_the_shadow_is_compared_and_told_without_a_word_of_the_answers(stage, ask):
    async with stage(saying("42", confidence=0.9), saying("42."), p=BAND) as scene:
        await served(scene, ask("How many? Answer with the number only, after all of it."))
        compared = await soon(scene, Compared)
    assert compared.agreed
    assert len(compared.edge_digest) == len(compared.cloud_digest) == 64


@STREAMS
@pytest.mark.parametrize(("city", "agreed"), [("Oslo", True), ("Rome", False)])
async def test_called_tools_are_compared_by_what_they_call(stage, ask, city, agreed, stream):
    edge, cloud = calling("weather", '{"city": "Oslo"}'), calling("weather", f'{{"city":"{city}"}}')
    async with stage([edge], [cloud], p=BAND) as scene:
        await served(scene, ask(features=frozenset({Feature.TOOLS}), stream=stream))
        compared = await soon(scene, Compared)
    assert (compared.method, compared.agreed) == ("tool_call", agreed)


async def test_the_shadows_answer_stands_in_when_the_cloud_fails(stage, ask):
    async with stage(SURE, broken("cloud"), p=BAND) as scene:
        said, report = await served(scene, ask())
    assert (said, report.route) == ("The tilt of its axis.", Route.EDGE_DEGRADED)
    assert len(scene.edge.calls) == 1


@STREAMS
async def test_a_shadow_that_stands_in_keeps_the_deadline_of_the_request(stage, ask, stream):
    patience = Patience(deadline_s=0.3)
    async with stage([Hang()], broken("cloud"), p=BAND, patience=patience) as scene:
        async with asyncio.timeout(4):  # the comparison itself may take 5 s
            with pytest.raises(NotServed):
                await served(scene, ask(stream=stream))


async def test_a_shadow_whose_other_side_cannot_be_read_does_not_wait_for_it(stage, ask):
    """It would hold one of a few places for ever."""
    odd = Chunk(b"[]", text="The tilt.", finish_reason="stop")
    async with stage(SURE, [odd], p=BAND) as scene:
        said, _ = await served(scene, ask(features=frozenset({Feature.TOOLS}), stream=True))
        assert said == "The tilt."
        assert (await soon(scene, ShadowDropped)).reason == "cloud_failed"


@pytest.mark.parametrize("error", [RuntimeError("a bug"), None])
async def test_a_shadow_that_breaks_or_is_not_wanted_fails_as_a_backend_does(ask, error):
    class Odd(ScriptedBackend):
        async def answer(self, call):
            yield await asyncio.sleep(60) if error is None else self.breaks()

        def breaks(self):
            raise error

    shadowing = Shadowing(Odd(spec("edge")))
    asyncio.get_running_loop().call_later(0.05, shadowing.cancel)
    came = await shadowing.ask(Call(ask(), Deadline.after(5, SystemClock())))
    assert isinstance(came, BackendError)
    assert came.fault is (Fault.REFUSED if error is None else Fault.SERVER)


async def test_a_failing_shadow_never_shows(stage, ask):
    async with stage(broken("edge"), CLOUD, p=BAND) as scene:
        said, _ = await served(scene, ask())
        await asyncio.sleep(0.05)
    assert said == "The tilt of Earth's axis."
    assert [dropped.reason for dropped in scene.of(ShadowDropped)] == ["edge_failed"]


@STREAMS
async def test_a_late_cloud_is_hedged_by_a_confident_edge(stage, ask, stream):
    patience = Patience(deadline_s=10, hedge_after_s=0.02)
    async with stage(SURE, [Hang()], p=BAND, patience=patience) as scene:
        said, report = await served(scene, ask(stream=stream))
        assert scene.cloud.running == 0
    assert (said, report.route) == ("The tilt of its axis.", Route.SHADOW)


async def test_an_unsure_edge_does_not_hedge(stage, ask):
    patience = Patience(deadline_s=10, hedge_after_s=0.02)
    slow = [Pause(0.2), *CLOUD]
    async with stage(UNSURE, slow, p=BAND, patience=patience) as scene:
        said, _ = await served(scene, ask())
    assert said == "The tilt of Earth's axis."


async def test_leaving_early_stops_the_backend_and_is_told_as_such(stage, ask):
    long = [*saying("one two three", stream=True)[:2], Hang()]
    async with stage(SURE, long, p=HARD) as scene:

        async def hang_up():
            async with scene.gateway.serve(ask(stream=True)) as reply:
                async for _ in reply.events:
                    pass

        asking = asyncio.ensure_future(hang_up())
        while not scene.cloud.running:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert scene.cloud.running == 0
    assert scene.of(Served)[0].error == "cancelled"


async def test_a_private_request_stays_and_fails_rather_than_leave(stage, ask):
    private = {"wish": Wish(private=True)}
    async with stage(SURE, CLOUD, p=HARD) as scene:
        _, report = await served(scene, ask(**private))
        assert report.route is Route.EDGE_PRIVATE
        with pytest.raises(PrivacyNoLocalPath):
            await served(scene, ask(model="cloud", **private))
    assert not scene.cloud.calls


async def test_money_is_reserved_settled_and_never_overrun(stage, ask):
    async with stage(SURE, CLOUD, p=HARD, daily_usd=Decimal("0.00004")) as scene:
        first, second = [await served(scene, ask()) for _ in range(2)]
        assert first[1].route is Route.CLOUD_CLASSIFIED
        assert first[1].cost_usd > 0
        assert second[1].route is Route.EDGE_DEGRADED
        assert "budget" in second[1].notice
        with pytest.raises(BudgetExhausted):
            await served(scene, ask(model="cloud"))


async def test_an_edge_answer_says_what_it_saved(stage, ask):
    async with stage(SURE, CLOUD, p=EASY) as scene:
        _, report = await served(scene, ask())
    assert report.cost_usd == 0
    assert report.saved_usd > 0


@STREAMS
async def test_an_accepted_edge_answer_is_given_again(stage, ask, stream):
    async with stage(SURE, CLOUD, p=EASY, cache=True) as scene:
        await served(scene, ask())
        said, report = await served(scene, ask(stream=stream))
        assert (said, report.route) == ("The tilt of its axis.", Route.CACHE)
        await served(scene, ask(tenant="another"))
    assert len(scene.edge.calls) == 2


async def test_explaining_runs_and_remembers_nothing(stage, ask):
    async with stage(SURE, CLOUD, p=HARD) as scene:
        report = await scene.gateway.explain(ask(session="s"))
        assert report.route is Route.CLOUD_CLASSIFIED
    assert not scene.edge.calls
    assert not scene.cloud.calls
    assert not scene.told


async def test_usage_is_estimated_where_the_backend_says_nothing(stage, ask):
    silent = whole("The tilt of Earth's axis.")
    silent = type(silent)(wire=silent.wire, text=silent.text, finish_reason="stop")
    async with stage(SURE, [silent], p=HARD) as scene:
        await served(scene, ask())
    usage = scene.of(Served)[0].usage
    assert usage.estimated
    assert usage.completion_tokens > 3
