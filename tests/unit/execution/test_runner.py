"""How a plan is walked when backends fail: each once, and on to whom it may still make sense."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.errors import RATE_LIMITED, BackendError, Fault, NotServed, Unsupported
from hybridge.core.events import AttemptFailed, Events
from hybridge.core.plan import Attempt, Plan, Route, Thresholds
from hybridge.core.request import Clearance, Message, Request, Tier
from hybridge.execution.breaker import Breaker
from hybridge.execution.confidence import Judge
from hybridge.execution.config import ExecutionConfig
from hybridge.execution.egress import Guarded
from hybridge.execution.runner import Runner
from hybridge.testing.backend import Hang, ScriptedBackend, saying, spec

pytestmark = pytest.mark.anyio
CLOCK = SystemClock()
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


class Bench:
    """Clouds (and edges, whose names begin with `edge`) that play one script each."""

    def __init__(self, contexts=None, **scripts):
        self.heard = []
        events = Events(self.heard.append)
        self.backends = {
            name: ScriptedBackend(
                replace(
                    spec(name, Tier.EDGE if name.startswith("edge") else Tier.CLOUD),
                    context_tokens=(contexts or {}).get(name),
                ),
                script if isinstance(script, list) else [script],
            )
            for name, script in scripts.items()
        }
        guarded = {name: Guarded(backend) for name, backend in self.backends.items()}
        self.breakers = {
            name: Breaker(name, b.spec.tier, ExecutionConfig(), CLOCK, events)
            for name, b in self.backends.items()
        }
        self.runner = Runner(
            guarded,
            self.breakers,
            Judge(),
            confidence_min=0.5,
            accept_unknown=True,
            hold_tokens=4,
            events=events,
            clock=CLOCK,
        )

    async def run(self, route=Route.CLOUD_CLASSIFIED, *, stream=False, private=False, within_s=5.0):
        attempts = tuple(Attempt(n, b.spec.tier, route) for n, b in self.backends.items())
        body = {"messages": [{"role": "user", "content": "Hi"}]} | (
            {"stream": True} if stream else {}
        )
        clearance = Clearance.DEVICE_ONLY if private else Clearance.ANYWHERE
        request = Request(
            "r", "auto", (Message("user", "Hi"),), body, stream=stream, clearance=clearance
        )
        plan = Plan(route, attempts, Thresholds())
        outcome = await self.runner.run(plan, request, Deadline.after(within_s, CLOCK))
        text = "".join([event.text async for event in outcome.answer])
        await outcome.answer.aclose()
        return text

    @property
    def asked(self):
        return [name for name, backend in self.backends.items() for _ in backend.calls]


def failing(name, fault, **more):
    return BackendError(f"{name} failed", backend=name, fault=fault, **more)


@STREAMS
@pytest.mark.parametrize("fault", Fault)
async def test_the_table_says_who_is_asked_next(fault, stream):
    bench = Bench(a=failing("a", fault), b=saying("Hello."))
    if fault.elsewhere:
        assert await bench.run(stream=stream) == "Hello."
        assert bench.asked == ["a", "b"]
    else:
        with pytest.raises(BackendError):
            await bench.run(stream=stream)
        assert bench.asked == ["a"]


@pytest.mark.parametrize("fault", Fault)
async def test_the_table_says_what_opens_a_breaker(fault):
    bench = Bench(a=failing("a", fault))
    for _ in range(ExecutionConfig().breaker_failures):
        with pytest.raises((BackendError, NotServed, Unsupported)):
            await bench.run()
    assert (bench.breakers["a"].state == "open") is fault.counts_for_breaker


@pytest.mark.parametrize("route", [Route.DIRECT, Route.CLOUD_CLASSIFIED])
async def test_each_backend_is_asked_once_whatever_happens(route):
    bench = Bench(**{name: failing(name, Fault.SERVER, status=500) for name in "abc"})
    with pytest.raises((BackendError, NotServed)):
        await bench.run(route)
    assert bench.asked == ["a", "b", "c"]
    assert len([event for event in bench.heard if isinstance(event, AttemptFailed)]) == 3


@STREAMS
async def test_too_long_goes_on_to_a_longer_or_unknown_context_only(stream):
    """B24."""
    bench = Bench(
        {"a": 4096, "b": 2048, "c": 4096, "d": None},
        a=failing("a", Fault.CONTEXT, status=400),
        b=saying("too small"),
        c=saying("no longer"),
        d=saying("It fits."),
    )
    assert await bench.run(stream=stream) == "It fits."
    assert bench.asked == ["a", "d"]
    assert bench.breakers["a"].state == "closed"


async def test_the_context_that_the_backend_tells_counts_more_than_what_is_configured():
    told = failing("a", Fault.CONTEXT, body={"message": "too long", "n_ctx": 512})
    bench = Bench({"a": 8192, "b": 4096}, a=told, b=saying("It fits."))
    assert await bench.run() == "It fits."


async def test_too_long_for_everybody_is_the_callers_to_know_with_the_numbers():
    a = BackendError("a: 9000 of 4096 tokens", backend="a", fault=Fault.CONTEXT, status=400)
    bench = Bench({"a": 4096, "b": 2048}, a=a, b=saying("never asked"))
    with pytest.raises(Unsupported) as told:
        await bench.run()
    assert told.value.code == "context_length_exceeded"
    assert "9000 of 4096" in str(told.value)
    assert bench.asked == ["a"]


async def test_rate_limits_everywhere_are_told_as_one_with_the_shortest_wait():
    bench = Bench(
        a=failing("a", Fault.LIMITED, status=429, retry_after_s=30),
        b=failing("b", Fault.LIMITED, status=429, retry_after_s=90),
    )
    for _ in range(2):
        with pytest.raises(NotServed) as told:
            await bench.run()
        assert told.value.code == RATE_LIMITED
        assert 29 <= told.value.retry_after_s <= 30
    assert bench.asked == ["a", "b"], "nobody is asked again before the time has passed"


async def test_one_that_is_only_broken_makes_it_unavailable():
    bench = Bench(
        a=failing("a", Fault.LIMITED, status=429, retry_after_s=30),
        b=failing("b", Fault.SERVER, status=500),
    )
    with pytest.raises(NotServed) as told:
        await bench.run()
    assert told.value.code == "unavailable"


FAILURES = [
    failing("edge", Fault.NETWORK),
    Hang(),
    failing("edge", Fault.CONTEXT),
    failing("edge", Fault.PROTOCOL),
    failing("edge", Fault.BUSY, retry_after_s=5),
]


@STREAMS
@pytest.mark.parametrize("broken", FAILURES, ids=lambda failure: str(failure)[:20])
async def test_a_private_request_never_reaches_a_cloud_even_where_planning_is_wrong(broken, stream):
    """B44: the plan names a cloud, and the edge fails in every way it can."""
    bench = Bench(edge=broken, cloud=saying("leaked"))
    with pytest.raises((NotServed, BackendError, Unsupported)):
        await bench.run(Route.EDGE_PRIVATE, stream=stream, private=True, within_s=0.3)
    assert bench.asked == ["edge"]
