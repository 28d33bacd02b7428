"""R42: three failed probes make a backend unavailable, and one good one brings it back."""

from __future__ import annotations

import asyncio

import pytest

from hybridge.core.errors import BackendError, Fault
from hybridge.core.events import Events, GatewayEvent, HealthMoved
from hybridge.core.request import Tier
from hybridge.execution.breaker import Breaker
from hybridge.execution.config import ExecutionConfig
from hybridge.execution.health import FAILED_PROBES, Health
from hybridge.testing.backend import ScriptedBackend, spec
from hybridge.testing.clock import ManualClock

DOWN = BackendError("nobody listens", backend="local", fault=Fault.NETWORK)


class Ward:
    """Two backends under observation; the probes of `local` go as scripted."""

    def __init__(self, *probes: BackendError | None, interval_s: float = 10.0) -> None:
        self.clock = ManualClock()
        self.heard: list[GatewayEvent] = []
        events = Events(self.heard.append)
        config = ExecutionConfig()
        self.local = ScriptedBackend(spec("local"), probes=probes)
        self.other = ScriptedBackend(spec("other"))
        self.backends = {"local": self.local, "other": self.other}
        self.breakers = {
            name: Breaker(name, Tier.EDGE, config, self.clock, events) for name in self.backends
        }
        self.health = Health(
            self.backends,
            self.breakers,
            interval_s=interval_s,
            events=events,
            jitter=lambda: 0.5,
        )

    async def rounds(self, count: int) -> None:
        for _ in range(count):
            await self.health.round()

    @property
    def moves(self) -> list[tuple[str, bool]]:
        return [(e.backend, e.available) for e in self.heard if isinstance(e, HealthMoved)]


@pytest.mark.anyio
async def test_three_failures_in_a_row_make_it_unavailable() -> None:
    ward = Ward(*[DOWN] * FAILED_PROBES)
    await ward.rounds(FAILED_PROBES - 1)
    assert ward.health.refusal("local") is None
    await ward.rounds(1)
    assert ward.health.refusal("local") == "unavailable, nobody listens"
    assert ward.health.refusal("other") is None
    assert ward.moves == [("local", False)]


@pytest.mark.anyio
async def test_recovery_is_seen_within_one_probe() -> None:
    ward = Ward(*[DOWN] * (FAILED_PROBES + 2), None)
    await ward.rounds(FAILED_PROBES + 2)
    assert ward.moves == [("local", False)], "said once, however long it lasts"
    await ward.rounds(1)
    assert ward.health.refusal("local") is None
    assert ward.moves == [("local", False), ("local", True)]


@pytest.mark.anyio
async def test_failures_that_are_not_in_a_row_do_not_count() -> None:
    ward = Ward(DOWN, DOWN, None, DOWN, DOWN, None)
    await ward.rounds(6)
    assert ward.moves == []


@pytest.mark.anyio
async def test_who_served_lately_is_not_probed() -> None:
    ward = Ward()
    ward.breakers["local"].admit().succeeded(0.1)
    await ward.rounds(1)
    assert (ward.local.probed, ward.other.probed) == (0, 1)
    ward.clock.advance(10)
    await ward.rounds(1)
    assert ward.local.probed == 1


@pytest.mark.anyio
async def test_an_open_breaker_is_probed_although_it_served_lately() -> None:
    ward = Ward()
    breaker = ward.breakers["local"]
    breaker.admit().succeeded(0.1)
    for _ in range(3):
        breaker.admit().failed(Fault.NETWORK, None)
    await ward.rounds(1)
    assert ward.local.probed == 1
    assert breaker.state == "half_open"


@pytest.mark.anyio
async def test_a_served_request_takes_back_failed_probes() -> None:
    ward = Ward(DOWN, DOWN, DOWN)
    await ward.rounds(2)
    ward.breakers["local"].admit().succeeded(0.1)
    await ward.rounds(1)
    ward.clock.advance(60)
    await ward.rounds(1)
    assert ward.health.refusal("local") is None


@pytest.mark.anyio
async def test_a_broken_probe_harms_nobody_else() -> None:
    class Broken(ScriptedBackend):
        async def probe(self) -> None:
            raise ZeroDivisionError

    ward = Ward()
    ward.backends["local"] = Broken(spec("local"))
    await ward.rounds(FAILED_PROBES)
    assert ward.health.refusal("local") == "unavailable, ZeroDivisionError"
    assert ward.other.probed == FAILED_PROBES


@pytest.mark.anyio
async def test_it_probes_until_cancelled() -> None:
    third = asyncio.Event()

    class Counting(ScriptedBackend):
        async def probe(self) -> None:
            await super().probe()
            if self.probed == 3:
                third.set()

    ward = Ward(interval_s=0.001)
    ward.backends["local"] = Counting(spec("local"))
    running = asyncio.create_task(ward.health.run())
    async with asyncio.timeout(5):
        await third.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
