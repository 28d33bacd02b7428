"""Which comparisons keep a view of their prompt: none in which something private was found."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.gateway.conftest import CLOCK

from hybridge.core.events import Compared, Events
from hybridge.core.plan import Attempt, Plan, Route, Thresholds
from hybridge.core.request import Clearance, Message, Request, Tier
from hybridge.execution.confidence import Judge
from hybridge.gateway.background import Background, Subject
from hybridge.gateway.shadowing import Side
from hybridge.learning.agreement import Said
from hybridge.learning.config import LearningConfig
from hybridge.learning.shadow import Shadow
from hybridge.routing.facts import gather
from hybridge.testing.backend import ScriptedBackend, spec, whole

pytestmark = pytest.mark.anyio


async def compared(clearance: Clearance, *, keep: bool = True) -> Compared:
    """The comparison of one request."""
    told: list[Compared] = []
    events = Events(told.append)

    async def view(facts):
        return facts.text.encode()[:1] * 4

    async def no_similarity(_one, _other):
        return None

    shadow = Shadow(LearningConfig(), CLOCK, events)
    background = Background(
        shadow, Judge(), no_similarity, timeout_s=5, similarity_min=0.85, events=events,
        clock=CLOCK, view=view if keep else None, head_version="prior-1",
    )  # fmt: skip
    request = Request("r", "auto", (Message("user", "Hello?"),), {}, clearance=clearance)
    plan = Plan(Route.SHADOW, (Attempt("c", Tier.CLOUD, Route.SHADOW),), Thresholds())
    shadowing = background.start(
        ScriptedBackend(spec("e"), [whole("Hi.")]), Subject(request, gather(request), plan)
    )
    shadowing.served(Side("c", Tier.CLOUD, "", Said("Hi."), None, 1.0))
    async with asyncio.timeout(10):
        while not told:
            await asyncio.sleep(0.005)
    await shadow.close()
    return told[0]


async def test_a_comparison_keeps_what_the_adapter_sees():
    found = await compared(Clearance.ANYWHERE)
    assert (found.view, found.head_version) == (b"HHHH", "prior-1")


@pytest.mark.parametrize("clearance", [Clearance.DEVICE_ONLY, Clearance.DISGUISED])
async def test_none_of_a_request_that_holds_something_private(clearance):
    found = await compared(clearance)
    assert (found.view, found.head_version) == (None, "")


async def test_none_where_they_are_not_to_be_kept():
    assert (await compared(Clearance.ANYWHERE, keep=False)).view is None
