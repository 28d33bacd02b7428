"""R5: what a second edge answer changes in a reply, its account and its bill, and what it never does."""

from __future__ import annotations

import asyncio

import pytest

from hybridge.core.errors import BackendError, Fault
from hybridge.core.events import AttemptFailed, Compared, SecondOpinion, Served
from hybridge.core.plan import Route
from hybridge.core.request import Wish
from hybridge.execution.opinion import Terms
from hybridge.gateway.gateway import Patience
from hybridge.testing.backend import Hang, saying

pytestmark = pytest.mark.anyio
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
ALWAYS = Terms(backend=None, low=0.0, high=1.0, max_tokens=16, timeout_s=2.0)
PROMPT = "What is the capital of Norway?"
OSLO = saying("Oslo", confidence=0.93)
BERGEN = saying("Bergen is the capital.", confidence=0.93)
CLOUD = saying("It is Oslo.")
EASY, BAND = 0.1, 0.5
TAKEN = {"confidence_min": 0.0}
"""However sure the judge is."""
FAILURE = [BackendError("edge was told to fail", backend="edge", fault=Fault.SERVER)]


async def served(scene, request):
    async with scene.gateway.serve(request) as reply:
        text = "".join([event.text async for event in reply.events])
        report = reply.report()
        usage = reply.usage
    return text, report, usage


@STREAMS
async def test_agreement_and_its_effect_show_in_the_account(stage, ask, stream):
    async with stage(OSLO, CLOUD, p=EASY, routing=TAKEN) as scene:
        plain = await served(scene, ask(PROMPT, stream=stream))
    async with stage(OSLO, CLOUD, p=EASY, routing=TAKEN, second=ALWAYS, again=OSLO) as scene:
        text, report, usage = await served(scene, ask(PROMPT, stream=stream))
    assert text == "Oslo"
    assert "a second answer agreed" in report.reasons
    assert report.confidence >= plain[1].confidence
    (told,) = scene.of(Served)
    assert told.confidence == pytest.approx(report.confidence, abs=0.001)
    assert usage == plain[2], "what the caller is told of is the answer that was returned"
    assert (told.usage, told.cost_usd) == (usage, plain[1].cost_usd)
    (opinion,) = scene.of(SecondOpinion)
    assert (opinion.request_id, opinion.backend, opinion.outcome) == ("r", "edge", "agreed")
    assert opinion.usage.completion_tokens == 1


@STREAMS
async def test_disagreement_shows_beside_the_escalation(stage, ask, stream):
    """Whatever the judge makes of it, the answer is not surer, and doubt goes to the cloud."""
    routing = {"confidence_min": 0.99}
    async with stage(OSLO, CLOUD, p=EASY, routing=routing, second=ALWAYS, again=BERGEN) as scene:
        text, report, _ = await served(scene, ask(PROMPT, stream=stream))
    assert (text, report.route) == ("It is Oslo.", Route.CLOUD_ESCALATED)
    told = [reason for reason in report.reasons if "second" in reason or "confidence" in reason]
    assert told[0] == "a second answer disagreed"
    assert told[1].startswith("the edge answer's confidence was")
    assert scene.edge.running == scene.cloud.running == 0


@STREAMS
@pytest.mark.parametrize("again", [FAILURE, [Hang()]], ids=["failing", "late"])
async def test_one_that_fails_is_no_attempt_and_changes_nothing(stage, ask, again, stream):
    terms = Terms(backend=None, low=0.0, high=1.0, max_tokens=16, timeout_s=0.05)
    async with stage(OSLO, CLOUD, p=EASY, routing=TAKEN) as scene:
        plain = await served(scene, ask(PROMPT, stream=stream))
    async with stage(OSLO, CLOUD, p=EASY, routing=TAKEN, second=terms, again=again) as scene:
        text, report, usage = await served(scene, ask(PROMPT, stream=stream))
    assert (text, report.route, report.confidence, usage) == (
        plain[0],
        plain[1].route,
        plain[1].confidence,
        plain[2],
    )
    assert not [reason for reason in report.reasons if "second" in reason]
    assert scene.of(AttemptFailed) == []
    assert scene.edge.running == 0


@STREAMS
@pytest.mark.parametrize("hedge_after_s", [None, 0.01])
async def test_a_shadow_answer_is_not_asked_about(stage, ask, stream, hedge_after_s):
    """It is compared with the cloud's, and what is recorded of it must be its own confidence."""
    patience = Patience(deadline_s=10, hedge_after_s=hedge_after_s)
    async with stage(OSLO, CLOUD, p=BAND, second=ALWAYS, patience=patience) as scene:
        _, report, _ = await served(scene, ask(PROMPT, stream=stream))
        while not scene.of(Compared):
            await asyncio.sleep(0.01)
    assert report.route is Route.SHADOW
    assert len(scene.edge.calls) == 1
    assert scene.of(SecondOpinion) == []


@STREAMS
async def test_a_named_edge_is_not_judged_and_so_not_asked_again(stage, ask, stream):
    async with stage(OSLO, CLOUD, second=ALWAYS) as scene:
        await served(scene, ask(PROMPT, model="edge", stream=stream))
    assert len(scene.edge.calls) == 1


async def test_a_private_request_is_checked_without_leaving(stage, ask):
    async with stage(OSLO, CLOUD, second=ALWAYS, again=OSLO) as scene:
        text, report, _ = await served(scene, ask(PROMPT, wish=Wish(private=True)))
    assert (text, report.route) == ("Oslo", Route.EDGE_PRIVATE)
    assert "a second answer agreed" in report.reasons
    assert scene.cloud.calls == []
    assert scene.of(Served)[0].exits == ()


@STREAMS
async def test_it_ends_with_the_caller(stage, ask, stream):
    async with stage(OSLO, CLOUD, p=EASY, second=ALWAYS, again=[Hang()]) as scene:
        asking = asyncio.create_task(served(scene, ask(PROMPT, stream=stream)))
        while len(scene.edge.calls) < 2:
            await asyncio.sleep(0.005)
        asking.cancel()
        await asyncio.wait({asking})
        assert scene.edge.running == 0
    assert [opinion.outcome for opinion in scene.of(SecondOpinion)] == ["cancelled"]
    assert [told.error for told in scene.of(Served)] == ["cancelled"]


async def test_a_visibly_bad_answer_needs_no_second_opinion(stage, ask):
    terms = Terms(backend=None, low=0.4, high=0.8, max_tokens=16, timeout_s=2.0)
    refusal = saying("I'm sorry, but I can't help with that.", confidence=0.99)
    async with stage(refusal, CLOUD, p=EASY, second=terms) as scene:
        _, report, _ = await served(scene, ask(PROMPT))
    assert report.route is Route.CLOUD_ESCALATED
    assert scene.of(SecondOpinion) == []
