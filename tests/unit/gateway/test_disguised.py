"""Under `pseudonymise` whoever is elsewhere sees placeholders, and everybody else the values."""

from __future__ import annotations

import json

import pytest
from tests.unit.gateway.test_gateway import soon

from hybridge.core.backend import Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.errors import BackendError, Fault
from hybridge.core.events import Compared, Served
from hybridge.core.plan import Route
from hybridge.core.request import Clearance, Tier, whole
from hybridge.execution.egress import Guarded
from hybridge.privacy.guard import Guard
from hybridge.privacy.policy import Policy
from hybridge.privacy.pseudonyms.disguise import Pseudonyms
from hybridge.testing.backend import ScriptedBackend, saying, spec

pytestmark = pytest.mark.anyio

MAIL = "zhang.wei@corp.cn"
PROMPT = f"Which department does {MAIL} belong to?"
CODE = "{{EMAIL_1_g3m3}}"
"""What the stage's random generator makes of it."""
HARD, EASY, BAND = 0.9, 0.1, 0.5
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
UNSURE = saying("Perhaps sales, who knows.", confidence=0.2)
PSEUDONYMISE = {"action": "pseudonymise"}


async def served(scene, request):
    async with scene.gateway.serve(request) as reply:
        text = "".join([event.text async for event in reply.events])
        return text, reply.report()


def heard(backend):
    return json.dumps([call.request.body for call in backend.calls], ensure_ascii=False)


@STREAMS
async def test_the_cloud_sees_placeholders_and_the_caller_values(stage, ask, stream):
    cloud = saying(f"{CODE} belongs to sales.")
    async with stage(saying("x"), cloud, p=HARD, privacy=PSEUDONYMISE) as scene:
        text, report = await served(scene, ask(PROMPT, stream=stream))
        assert text == f"{MAIL} belongs to sales."
        assert CODE in heard(scene.cloud)
        assert MAIL not in heard(scene.cloud)
        assert MAIL not in " ".join(report.reasons)
        (over,) = scene.of(Served)
        assert over.clearance is Clearance.DISGUISED
        assert [(left.to, left.disguised) for left in over.exits] == [("cloud", True)]


@STREAMS
async def test_the_edge_of_this_device_sees_what_was_asked(stage, ask, stream):
    async with stage(UNSURE, saying(f"Ask {CODE}."), p=EASY, privacy=PSEUDONYMISE) as scene:
        text, report = await served(scene, ask(PROMPT, stream=stream))
        assert (text, report.route) == (f"Ask {MAIL}.", Route.CLOUD_ESCALATED)
        assert MAIL in heard(scene.edge)
        assert CODE not in heard(scene.edge)
        assert MAIL not in heard(scene.cloud)


async def test_the_edge_takes_over_with_the_values_where_the_cloud_fails(stage, ask):
    gone = [BackendError(f"cannot read {CODE}", backend="cloud", fault=Fault.SERVER)]
    async with stage(saying(f"{MAIL}?"), gone, p=HARD, privacy=PSEUDONYMISE) as scene:
        text, report = await served(scene, ask(PROMPT))
        assert (text, report.route) == (f"{MAIL}?", Route.EDGE_DEGRADED)
        assert MAIL not in (report.notice or "")


@STREAMS
async def test_both_sides_of_a_comparison_speak_of_the_same(stage, ask, stream):
    edge, cloud = saying(f"{MAIL} is in sales.", confidence=0.99), saying(f"{CODE} is in sales.")
    async with stage(edge, cloud, p=BAND, privacy=PSEUDONYMISE) as scene:
        text, _ = await served(scene, ask(PROMPT, stream=stream))
        assert text == f"{MAIL} is in sales."
        compared = await soon(scene, Compared)
        assert compared.agreed
        assert compared.edge_digest == compared.cloud_digest


async def test_an_edge_that_is_another_machine_gets_the_disguise(ask):
    screened = await Guard(Policy("pseudonymise"), pseudonymise=Pseudonyms()).screen(ask(PROMPT))
    far = ScriptedBackend(spec("edge", Tier.EDGE, leaves_device=True))
    deadline = Deadline.after(5, SystemClock())
    assert [e async for e in Guarded(far).answer(Call(screened.request, deadline))]
    assert MAIL not in heard(far)


async def test_what_is_asked_in_one_piece_goes_out_in_one_piece(ask):
    """A comparison asks so, whatever its request said."""
    asked = ask(PROMPT, stream=True, include_usage=True)
    screened = await Guard(Policy("pseudonymise"), pseudonymise=Pseudonyms()).screen(asked)
    far = ScriptedBackend(spec("cloud", Tier.CLOUD))
    call = Call(whole(screened.request), Deadline.after(5, SystemClock()))
    assert len([e async for e in Guarded(far).answer(call)]) == 1
    (heard_of,) = far.calls
    assert not heard_of.request.stream
    assert "stream" not in heard_of.request.body
