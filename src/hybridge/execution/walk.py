"""One request's way through its attempts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol

from hybridge.core.backend import Backend, BackendSpec
from hybridge.core.clock import Deadline
from hybridge.core.errors import BackendError, Fault
from hybridge.core.plan import Attempt, Plan
from hybridge.core.request import Feature, Request, Tier
from hybridge.execution.answer import Answer
from hybridge.execution.wanted import Wanted

FIRST_EVENT_SHARE = 0.5
"""Of the time left, what one attempt may take to begin while others still wait behind it."""


class Watch(Protocol):
    """Whoever must know to whom a request was put, and what came of it."""

    def asked(self, spec: BackendSpec) -> None:
        """It has the request from now on."""
        ...

    def failed(self, fault: Fault) -> None:
        """The attempt did not come to an answer; perhaps nobody was asked for it."""
        ...


class Walk:
    """One request's way through its attempts: what is left, what failed, what is kept."""

    def __init__(
        self,
        plan: Plan,
        request: Request,
        deadline: Deadline,
        standing_in: Mapping[str, Backend],
        watch: Watch | None,
    ) -> None:
        self.plan = plan
        self.request = request
        self.deadline = deadline
        self.standing_in = standing_in
        self.watch = watch
        self.failures: list[BackendError] = []
        self.kept: Answer | None = None
        """An edge answer in doubt; suspended, to be resumed should the cloud fail too."""
        self.too_short = 0
        """Tokens of the longest context that the prompt did not fit."""
        self.waiting: Sequence[Attempt] = plan.attempts

    def next(self) -> Attempt | None:
        """The next attempt that still makes sense. A doubted edge is followed by clouds only."""
        while self.waiting:
            attempt, self.waiting = self.waiting[0], self.waiting[1:]
            if self.kept is None or attempt.tier is Tier.CLOUD:
                return attempt
        return None

    @cached_property
    def wanted(self) -> Wanted:
        """What the request shows of the answer that it wants; read once."""
        return Wanted.of(self.request)

    @property
    def share_s(self) -> float | None:
        """Seconds that one attempt may take to begin from now on; None where nobody else waits."""
        return FIRST_EVENT_SHARE * self.deadline.remaining_s if self.waiting else None

    @property
    def compares_calls(self) -> bool:
        """Whether the answer will be compared by the tools it calls, so that its events count."""
        return self.plan.shadow is not None and Feature.TOOLS in self.request.features

    def is_first(self, attempt: Attempt) -> bool:
        return attempt is self.plan.attempts[0]

    def can_escalate(self, attempt: Attempt) -> bool:
        """Whether doubt about this attempt's answer has somewhere to go."""
        return attempt.judged and any(later.tier is Tier.CLOUD for later in self.waiting)

    async def aclose(self) -> None:
        if self.kept is not None:
            await asyncio.shield(self.kept.aclose())

    def forget(self) -> None:
        """It is over. An error knows the frames that it passed through, and an answer in doubt who
        judges it; both lead back here, and only the garbage collector would free them."""
        self.failures = []
        self.kept = None
