"""Walks a plan's attempts until one of them serves the request (R5, R9)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

from hybridge.core.backend import Backend, BackendSpec, Call
from hybridge.core.clock import Clock, Deadline
from hybridge.core.errors import BackendError, Blame, Fault
from hybridge.core.events import AttemptFailed, Events
from hybridge.core.plan import Attempt, Plan, Route
from hybridge.core.request import Request, Tier
from hybridge.core.response import Chunk
from hybridge.execution.answer import Answer
from hybridge.execution.breaker import Breaker
from hybridge.execution.confidence import Judge
from hybridge.execution.exhausted import exhausted
from hybridge.execution.outcome import Outcome, degraded, doubted, reached
from hybridge.execution.second_opinion import SecondOpinions
from hybridge.execution.walk import Walk, Watch

_SILENT_EVENTS = 2
"""Events without a word that are read ahead to tell an answer that ends without one."""
_log = logging.getLogger("hybridge.runner")


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
        second_opinions: SecondOpinions | None = None,
    ) -> None:
        """Without `second_opinions` an edge answer is judged by itself."""
        self._backends = backends
        self._breakers = breakers
        self._judge = judge
        self._confidence_min = confidence_min
        self._accept_unknown = accept_unknown
        self._hold_tokens = hold_tokens
        self._events = events
        self._clock = clock
        self._second_opinions = second_opinions

    async def run(
        self,
        plan: Plan,
        request: Request,
        deadline: Deadline,
        *,
        standing_in: Mapping[str, Backend] | None = None,
        watch: Watch | None = None,
    ) -> Outcome:
        """The first answer that may be returned, with at least its first event held.

        `standing_in` replaces backends by name for this request (a shadow answer that is already
        under way); `watch` is told of each attempt. Raises `BackendError` when the only possible
        backend failed or the request itself is at fault, `NotServed` when all of several failed.
        """
        walk = Walk(plan, request, deadline, standing_in or {}, watch)
        try:
            outcome = await self._walk(walk)
            return outcome if self._second_opinions is None else _reasoned(outcome, walk)
        except BaseException:
            await walk.aclose()
            raise
        finally:
            walk.forget()

    async def _walk(self, walk: Walk) -> Outcome:
        while (attempt := walk.next()) is not None:
            if self._outgrown(attempt, walk):
                continue
            try:
                answer = await self._open(attempt, walk)
            except BackendError as error:
                if self._is_final(walk, error):
                    raise
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
        except BaseException:
            permit.abandon()
            raise
        spec = backend.spec
        if walk.watch is not None:
            walk.watch.asked(spec)
        appraise = partial(self._appraised, walk) if judged else _unjudged
        keep = attempt.tier is Tier.EDGE or walk.compares_calls
        answer = Answer(attempt, spec, source, call, permit, self._clock, appraise, keep=keep)
        try:
            await self._begin(answer, walk)
            if walk.can_escalate(attempt):
                await self._hold(answer, walk)
            elif judged:
                await _hear(answer)
            if self._second_opinions is not None and attempt.judged:
                await self._second_opinions.hear(answer, walk)
        except BaseException:
            await answer.aclose()
            raise
        return answer

    async def _begin(self, answer: Answer, walk: Walk) -> None:
        """Reads the first event, and one more where the first only opens the message."""
        event = await answer.hold(within_s=walk.share_s)
        if event is None:
            raise _empty(answer)
        if isinstance(event, Chunk) and not (
            event.text or event.finish_reason or event.has_tool_calls
        ):
            await answer.hold(within_s=walk.share_s)

    async def _hold(self, answer: Answer, walk: Walk) -> None:
        """Holds the answer back until its confidence is decided, so that nothing is taken back."""
        while not answer.over and answer.finish_reason is None:
            if self._judge.settled(
                answer.tokens,
                answer.text,
                hold_tokens=self._hold_tokens,
                wanted=walk.wanted,
                bound=self._confidence_min,
                by=answer.spec,
            ):
                break
            await answer.hold()
        answer.appraise()

    def _appraised(self, walk: Walk, answer: Answer) -> float | None:
        confidence = self._confidence(walk, answer)
        if answer.second is None:
            return confidence
        return answer.second.weigh(self._judge, confidence, answer.text, walk.wanted)

    def _confidence(self, walk: Walk, answer: Answer) -> float | None:
        return self._judge.confidence(
            answer.tokens,
            answer.text,
            finish_reason=answer.finish_reason,
            wanted=walk.wanted,
            score=walk.plan.score,
            by=answer.spec,
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

    def _is_final(self, walk: Walk, error: BackendError) -> bool:
        """Notes a failure; whether it ends the walk."""
        walk.failures.append(error)
        spec = self._backends[error.backend].spec
        if walk.watch is not None:
            walk.watch.failed(error.fault)
        self._events.emit(
            AttemptFailed(walk.request.id, error.backend, spec.tier, error.fault, self._clock.now())
        )
        if error.fault.blame is Blame.OPERATOR:
            _log.warning("%s: %s (%s)", error.backend, error.fault.value, error.status)
        if error.fault is Fault.CONTEXT:
            walk.too_short = max(walk.too_short, _context(error, spec))
        return walk.kept is None and _is_final(error, spec.tier)

    def _outgrown(self, attempt: Attempt, walk: Walk) -> bool:
        """Whether a context at least as long as this one's was too short already."""
        if not walk.too_short:
            return False
        room = self._backends[attempt.backend].spec.context_tokens
        return room is not None and room <= walk.too_short

    def _exhausted(self, walk: Walk) -> Exception:
        waits_s = [self._breakers[a.backend].retry_after_s for a in walk.plan.attempts]
        return exhausted(walk.plan, walk.failures, waits_s)


def _is_final(error: BackendError, tier: Tier) -> bool:
    """Whether asking anybody else would be in vain. An engine on the edge may refuse, as if the
    request were at fault, what a cloud can do."""
    return tier is Tier.CLOUD and not error.fault.elsewhere


def _context(error: BackendError, spec: BackendSpec) -> int:
    """Tokens that fit, as the backend says or is known for; 0 when nobody knows."""
    told = (error.body or {}).get("n_ctx")
    return told if isinstance(told, int) else spec.context_tokens or 0


def _reasoned(outcome: Outcome, walk: Walk) -> Outcome:
    """With what a second answer said of the edge's, be that returned or not."""
    second = (walk.kept or outcome.answer).second
    return (
        outcome if second is None else replace(outcome, reasons=(second.reason, *outcome.reasons))
    )


def _unjudged(_: Answer) -> None:
    return None


def _empty(answer: Answer) -> BackendError:
    return BackendError(
        f"{answer.spec.name} sent an empty answer", backend=answer.spec.name, fault=Fault.PROTOCOL
    )


def _why_escalated(kept: Answer) -> str:
    known = "unknown" if kept.confidence is None else f"{kept.confidence:.2f}"
    return f"the edge answer's confidence was {known}"


async def _hear(answer: Answer) -> None:
    """Raises `BackendError` for an answer that ends without a word or a call.

    Where somebody else could answer, its confidence tells as much.
    """
    for _ in range(_SILENT_EVENTS):
        if answer.over or answer.text or answer.finish_reason is not None:
            break
        await answer.hold()
    calls = any(event.has_tool_calls for event in answer.seen)
    if answer.finish_reason == "stop" and not answer.text and not calls:
        raise _empty(answer)
