"""Walks a plan's attempts until one of them serves the request (R5, R9)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from hybridge.core.backend import Backend, Call
from hybridge.core.clock import Clock, Deadline
from hybridge.core.errors import BackendError, Fault, NotServed
from hybridge.core.events import AttemptFailed, Events
from hybridge.core.plan import Attempt, Plan, Route
from hybridge.core.request import Feature, Request, Tier
from hybridge.core.response import Chunk
from hybridge.execution.answer import Answer
from hybridge.execution.breaker import Breaker
from hybridge.execution.confidence import Judge
from hybridge.execution.outcome import Outcome, degraded, doubted, reached
from hybridge.execution.wanted import Wanted

FIRST_EVENT_SHARE = 0.5
"""Of the time left, what one attempt may take to begin while others still wait behind it."""


class Runner:
    """Asks backends in a plan's order, each at most once, under one deadline."""

    def __init__(
        self,
        backends: Mapping[str, Backend],
        breakers: Mapping[str, Breaker],
        judge: Judge,
        *,
        confidence_min: float,
        accept_unknown: bool,
        hold_tokens: int,
        events: Events,
        clock: Clock,
    ) -> None:
        self._backends = backends
        self._breakers = breakers
        self._judge = judge
        self._confidence_min = confidence_min
        self._accept_unknown = accept_unknown
        self._hold_tokens = hold_tokens
        self._events = events
        self._clock = clock

    async def run(
        self,
        plan: Plan,
        request: Request,
        deadline: Deadline,
        *,
        standing_in: Mapping[str, Backend] | None = None,
    ) -> Outcome:
        """The first answer that may be returned, with at least its first event held.

        `standing_in` replaces backends by name for this request (a shadow answer that is already
        under way). Raises `BackendError` when the only possible backend failed or the request
        itself is at fault, `NotServed` when all of several failed.
        """
        walk = Walk(plan, request, deadline, standing_in or {})
        try:
            return await self._walk(walk)
        except BaseException:
            await walk.aclose()
            raise

    async def _walk(self, walk: Walk) -> Outcome:
        while (attempt := walk.next()) is not None:
            try:
                answer = await self._open(attempt, walk)
            except BackendError as error:
                self._failed(walk, error)
                continue
            if walk.can_escalate(attempt) and self._in_doubt(answer):
                walk.kept = answer
                continue
            return await self._accept(attempt, answer, walk)
        if walk.kept is not None:
            return self._last_word(walk.kept, walk)
        raise self._exhausted(walk)

    async def _open(self, attempt: Attempt, walk: Walk) -> Answer:
        """Asks one backend and reads as much as its answer must show before it counts."""
        backend = walk.standing_in.get(attempt.backend) or self._backends[attempt.backend]
        judged = attempt.tier is Tier.EDGE and attempt.route is not Route.DIRECT
        call = Call(walk.request, walk.deadline, want_logprobs=judged)
        permit = self._breakers[attempt.backend].admit()
        try:
            source = backend.answer(call)
        except BackendError as error:
            permit.failed(error.fault, error.retry_after_s)
            raise
        appraise = partial(self._confidence, walk) if judged else _unjudged
        keep = attempt.tier is Tier.EDGE or walk.compares_calls
        answer = Answer(
            attempt, backend.spec, source, call, permit, self._clock, appraise, keep=keep
        )
        try:
            await self._begin(answer, walk)
            if walk.can_escalate(attempt):
                await self._hold(answer, walk)
        except BaseException:
            await answer.aclose()
            raise
        return answer

    async def _begin(self, answer: Answer, walk: Walk) -> None:
        """Reads the first event, and one more where the first only opens the message."""
        within_s = FIRST_EVENT_SHARE * walk.deadline.remaining_s if walk.waiting else None
        event = await answer.hold(within_s=within_s)
        if event is None:
            raise _empty(answer)
        if isinstance(event, Chunk) and not (
            event.text or event.finish_reason or event.has_tool_calls
        ):
            await answer.hold(within_s=within_s)

    async def _hold(self, answer: Answer, walk: Walk) -> None:
        """Holds the answer back until its confidence is decided, so that nothing is taken back."""
        wanted = Wanted.of(walk.request)
        while not answer.over and answer.finish_reason is None:
            if self._judge.settled(
                answer.tokens,
                answer.text,
                hold_tokens=self._hold_tokens,
                wanted=wanted,
                bound=self._confidence_min,
            ):
                break
            await answer.hold()
        answer.appraise()

    def _confidence(self, walk: Walk, answer: Answer) -> float | None:
        return self._judge.confidence(
            answer.tokens,
            answer.text,
            finish_reason=answer.finish_reason,
            wanted=Wanted.of(walk.request),
            score=walk.plan.score,
        )

    def _in_doubt(self, answer: Answer) -> bool:
        if answer.confidence is None:
            return not self._accept_unknown
        return answer.confidence < self._confidence_min

    async def _accept(self, attempt: Attempt, answer: Answer, walk: Walk) -> Outcome:
        if walk.kept is not None:
            await walk.kept.aclose()
            return reached(answer, Route.CLOUD_ESCALATED, _why_escalated(walk.kept))
        if walk.is_first(attempt):
            return self._first_choice(answer, walk)
        if attempt.route is Route.EDGE_DEGRADED:
            return degraded(answer, str(walk.failures[-1]) if walk.failures else None)
        return reached(answer, attempt.route, *map(str, walk.failures))

    def _first_choice(self, answer: Answer, walk: Walk) -> Outcome:
        outcome = Outcome(answer, walk.plan.route, notice=walk.plan.notice)
        if answer.attempt.judged and self._in_doubt(answer):
            return doubted(outcome, self._confidence_min)
        return outcome

    def _last_word(self, kept: Answer, walk: Walk) -> Outcome:
        """The doubted edge answer is all there is: the cloud it should have gone to failed."""
        return doubted(degraded(kept, str(walk.failures[-1])), self._confidence_min)

    def _failed(self, walk: Walk, error: BackendError) -> None:
        walk.failures.append(error)
        tier = self._backends[error.backend].spec.tier
        self._events.emit(AttemptFailed(walk.request.id, error.backend, tier, error.fault))
        if walk.kept is None and _is_final(error, tier):
            raise error

    def _exhausted(self, walk: Walk) -> Exception:
        hopeless = all(f.fault in (Fault.CALLER, Fault.CONTEXT) for f in walk.failures)
        if walk.plan.route is Route.DIRECT or hopeless:
            return walk.failures[0]
        waits = [self._breakers[a.backend].retry_after_s for a in walk.plan.attempts]
        waits += [f.retry_after_s for f in walk.failures if f.retry_after_s]
        said = "; ".join(str(failure) for failure in walk.failures)
        private = walk.plan.route is Route.EDGE_PRIVATE
        return NotServed(
            f"the request may not leave this device, and here: {said}"
            if private
            else f"nobody could answer: {said}",
            retry_after_s=max(1.0, min((w for w in waits if w > 0), default=1.0)),
            code="privacy_local_unavailable" if private else "unavailable",
        )


class Walk:
    """One request's way through its attempts: what is left, what failed, what is kept."""

    def __init__(
        self,
        plan: Plan,
        request: Request,
        deadline: Deadline,
        standing_in: Mapping[str, Backend],
    ) -> None:
        self.plan = plan
        self.request = request
        self.deadline = deadline
        self.standing_in = standing_in
        self.failures: list[BackendError] = []
        self.kept: Answer | None = None
        """An edge answer in doubt; suspended, to be resumed should the cloud fail too."""
        self.waiting: Sequence[Attempt] = plan.attempts

    def next(self) -> Attempt | None:
        """The next attempt that still makes sense. A doubted edge is followed by clouds only."""
        while self.waiting:
            attempt, self.waiting = self.waiting[0], self.waiting[1:]
            if self.kept is None or attempt.tier is Tier.CLOUD:
                return attempt
        return None

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


def _is_final(error: BackendError, tier: Tier) -> bool:
    """Whether the request itself is at fault, so that asking anybody else would be in vain.

    An engine on the edge may refuse what a cloud can do, and an upstream's 404 means that the
    operator's model name is wrong.
    """
    return tier is Tier.CLOUD and error.fault.is_callers and error.status != 404


def _unjudged(_: Answer) -> None:
    return None


def _empty(answer: Answer) -> BackendError:
    return BackendError(
        f"{answer.spec.name} sent an empty answer", backend=answer.spec.name, fault=Fault.PROTOCOL
    )


def _why_escalated(kept: Answer) -> str:
    known = "unknown" if kept.confidence is None else f"{kept.confidence:.2f}"
    return f"the edge answer's confidence was {known}"
