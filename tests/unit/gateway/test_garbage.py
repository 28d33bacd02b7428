"""What a request held is free when it is over, without waiting for the garbage collector: requests
can be large, and where an upstream is down there are many of them."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress

import pytest

from hybridge.core.errors import BackendError, Fault, HybridgeError
from hybridge.core.request import Request
from hybridge.gateway.gateway import Patience
from hybridge.gateway.trip import Trip
from hybridge.testing.backend import Hang, Pause, saying

pytestmark = pytest.mark.anyio
SURE, UNSURE = saying("The tilt of its axis.", confidence=0.99), saying("Dunno.", confidence=0.2)
CLOUD = saying("The tilt.")
HARD, EASY, BAND = 0.9, 0.1, 0.5
MAIL = {"prompt": "Why does zhang.wei@corp.cn ask?", "privacy": {"action": "pseudonymise"}}


def failing(name, fault=Fault.SERVER):
    return [BackendError(f"{name} failed", backend=name, fault=fault)]


SCENES = {
    "served": (SURE, CLOUD, HARD, {}),
    "escalated": (UNSURE, CLOUD, EASY, {}),
    "doubted after all": (UNSURE, failing("cloud"), EASY, {}),
    "degraded": (SURE, failing("cloud"), HARD, {}),
    "refused": (SURE, failing("cloud", Fault.CALLER), HARD, {}),
    "nobody": (failing("edge"), failing("cloud"), HARD, {}),
    "too late": (SURE, [Hang()], HARD, {"patience": Patience(deadline_s=0.1)}),
    "named and failed": (SURE, failing("cloud"), HARD, {"model": "cloud"}),
    "unknown": (SURE, CLOUD, HARD, {"model": "nobody"}),
    "shadowed": (SURE, CLOUD, BAND, {}),
    "shadow failed": (failing("edge"), CLOUD, BAND, {}),
    "shadow stands in": (SURE, failing("cloud"), BAND, {}),
    "shadow and all failed": (failing("edge"), failing("cloud"), BAND, {}),
    "hedged": (
        SURE,
        [Pause(0.2), *CLOUD],
        BAND,
        {"patience": Patience(deadline_s=5, hedge_after_s=0.02)},
    ),
    "kept": (SURE, CLOUD, EASY, {"cache": True}),
    "disguised": (SURE, saying("Ask {{EMAIL_1_"), HARD, MAIL),
    "disguised and failed": (SURE, failing("cloud"), HARD, MAIL),
    "disguised and shadowed": (SURE, saying("Ask {{EMAIL_1_"), BAND, MAIL),
}


def alive():
    return [thing for thing in gc.get_objects() if isinstance(thing, Request | Trip)]


@pytest.fixture
def left():
    """What has come to be and is alive; nothing is collected meanwhile."""
    gc.collect()
    before = {id(thing) for thing in alive()}
    gc.disable()
    yield lambda: [thing for thing in alive() if id(thing) not in before]
    gc.enable()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", SCENES)
async def test_nothing_of_a_request_waits_for_the_collector(stage, ask, left, name, stream):
    edge, cloud, p, more = SCENES[name]
    more = dict(more)
    asks = {"model": more.pop("model", "auto")}
    asks |= {"prompt": more.pop("prompt")} if "prompt" in more else {}
    async with stage(edge, cloud, p=p, **more) as scene:
        for _ in range(2):
            await asked(scene, ask(**asks, stream=stream))
        await asyncio.sleep(0.05)  # a comparison may still be at it
        scene.edge.calls.clear()
        scene.cloud.calls.clear()
        assert left() == []


async def asked(scene, request):
    with suppress(HybridgeError):
        async with scene.gateway.serve(request) as reply:
            assert [event async for event in reply.events]
