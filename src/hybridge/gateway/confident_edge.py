"""The edge's side of the race against a slow cloud (R4)."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from hybridge.core.plan import Plan, Route
from hybridge.execution.outcome import Outcome
from hybridge.execution.runner import Runner
from hybridge.gateway.shadowing import Shadowing
from hybridge.gateway.trip import Trip


class ConfidentEdge:
    """The edge's answer under way, once it is there and confident enough to be returned."""

    def __init__(
        self, runner: Runner, trip: Trip, plan: Plan, shadowing: Shadowing, bound: float
    ) -> None:
        self._runner = runner
        self._trip = trip
        self._plan = plan
        self._shadowing = shadowing
        self._bound = bound

    async def __call__(self) -> Outcome | None:
        """None when the edge fails or is not confident enough."""
        await asyncio.wait({self._shadowing.asked})
        confidence = self._shadowing.confidence
        if confidence is None or confidence < self._bound:
            return None
        name = self._shadowing.backend.spec.name
        alone = tuple(a for a in self._plan.attempts if a.backend == name)
        outcome = await self._runner.run(
            replace(self._plan, attempts=alone),
            self._trip.request,
            self._trip.deadline,
            standing_in=self._shadowing.standing_in,
        )
        return replace(outcome, route=Route.SHADOW, reasons=("hedged: the edge was confident",))
