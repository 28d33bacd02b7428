"""Asking for a second answer where the judge is undecided about the first (R5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from msgspec.structs import replace

from hybridge.core.backend import Backend, BackendSpec, Call
from hybridge.core.clock import Clock
from hybridge.core.errors import BackendError, Fault
from hybridge.core.events import Events, SecondOpinion
from hybridge.core.plan import Attempt
from hybridge.core.request import Clearance, Feature, Request, Tier
from hybridge.core.response import Usage
from hybridge.execution.answer import Answer
from hybridge.execution.breaker import Breaker
from hybridge.execution.confidence import Judge
from hybridge.execution.form import flaw
from hybridge.execution.opinion import Opinion, Terms, ask_again
from hybridge.execution.permit import Discreet
from hybridge.execution.second import Source
from hybridge.execution.walk import FIRST_EVENT_SHARE, Walk
from hybridge.execution.wanted import Wanted
from hybridge.learning.agreement import Said, agree, said

Similarity = Callable[[str, str], Awaitable[float | None]]
"""How alike two texts mean, 0-1; None when it cannot be told."""

REST_S = 30.0
"""How long nobody is asked after one was late or failed: whoever is busy gets no more to do."""
_log = logging.getLogger("hybridge.second_opinion")


class SecondOpinions:
    """Asks the edge once more about short answers in the middle band of confidence.

    Whatever goes wrong with that changes nothing: the first answer is then judged by itself. It is
    no attempt of the plan, so that nobody but `Events` is told of it.
    """

    def __init__(
        self,
        backends: Mapping[str, Backend],
        breakers: Mapping[str, Breaker],
        judge: Judge,
        terms: Terms,
        *,
        refusal: Callable[[str], str | None],
        similarity: Similarity,
        events: Events,
        clock: Clock,
    ) -> None:
        """`refusal` says why a backend is not to be asked now, None where it may be."""
        self._backends = backends
        self._breakers = breakers
        self._judge = judge
        self._terms = terms
        self._refusal = refusal
        self._similarity = similarity
        self._events = events
        self._clock = clock
        self._resting_until_s = clock.monotonic()

    async def hear(self, answer: Answer, walk: Walk) -> None:
        """Has an answer that is over judged once more, where a second one may be asked for it."""
        if self._clock.monotonic() < self._resting_until_s or not self._is_undecided(answer):
            return
        name = self._terms.backend or answer.spec.name
        source: Source = "sample" if name == answer.spec.name else "model"
        request = ask_again(walk.request, source, self._terms.max_tokens)
        backend, within_s = self._backends[name], self._time_s(walk)
        if self._may_ask(backend.spec, request) and 1000 * within_s > answer.elapsed_ms:
            inquiry = _Inquiry(answer, walk, backend, source, request)
            answer.second = await self._ask(inquiry, within_s)
            answer.appraise()

    def _is_undecided(self, answer: Answer) -> bool:
        """Whether it is short, whole, in words, and in the band."""
        if answer.finish_reason != "stop" or not 0 < len(answer.tokens) <= self._terms.max_tokens:
            return False
        if any(event.has_tool_calls for event in answer.seen):
            return False
        confidence = answer.appraise()
        return confidence is not None and self._terms.low <= confidence < self._terms.high

    def _may_ask(self, spec: BackendSpec, request: Request) -> bool:
        """The edge only, and nobody elsewhere about what is not to be seen as it is."""
        return (
            spec.tier is Tier.EDGE
            and (request.clearance is Clearance.ANYWHERE or not spec.leaves_device)
            and request.features <= spec.features
            and Feature.CHOICES not in request.features
            and self._refusal(spec.name) is None
        )

    def _time_s(self, walk: Walk) -> float:
        """Half of what is left at most: the cloud may still have to answer."""
        left_s, wish_s = walk.deadline.remaining_s, walk.request.wish.max_latency_s
        if wish_s is not None:
            waited_s = self._clock.monotonic() - walk.request.received_s
            left_s = min(left_s, wish_s - waited_s)
        return min(self._terms.timeout_s, FIRST_EVENT_SHARE * left_s)

    async def _ask(self, inquiry: _Inquiry, within_s: float) -> Opinion | None:
        """None where it tells nothing; cancelling stops the work for it."""
        outcome, opinion = "cancelled", None
        try:
            async with asyncio.timeout(within_s):
                opinion = await self._opinion(inquiry)
            outcome = _outcome(opinion)
        except TimeoutError:
            outcome = "late"
            self._rest()
        except BackendError as error:
            outcome = "refused" if error.fault is Fault.REFUSED else "failed"
            if error.fault.counts_for_breaker:
                self._rest()
        except Exception:
            _log.exception("a second opinion of %s broke", inquiry.backend.spec.name)
            outcome = "failed"
            self._rest()
        finally:
            self._tell(inquiry, outcome)
        return opinion

    async def _opinion(self, inquiry: _Inquiry) -> Opinion | None:
        first, wanted = inquiry.first, inquiry.walk.wanted
        second = inquiry.second = self._begin(inquiry, wanted)
        try:
            await second.hold()
        finally:
            await second.aclose()
        whole = second.whole()
        if whole is None or not _is_usable(second, wanted):
            return None
        told, same = await self._compared(first.text, said(whole), wanted)
        name, version = second.spec.name, second.spec.version
        opinion = Opinion(name, version, inquiry.source, told, same, second.confidence)
        return self._as_judged(opinion, first, wanted)

    async def _compared(self, first: str, second: Said, wanted: Wanted) -> tuple[Said, bool]:
        """The second answer as the judge is to see it, and whether it says the same."""
        least = self._terms.similarity_min
        found = agree(first, second, wanted.form, None, similarity_min=least)
        if found.agreed or not found.vague:
            return second, found.agreed
        similarity = await self._similarity(first, second.text)
        if similarity is None or similarity < least:
            return second, False
        return Said(first), True

    def _as_judged(self, opinion: Opinion, first: Answer, wanted: Wanted) -> Opinion:
        """Whoever moves the judge up has agreed with the first answer, as the judge compares."""
        before = first.confidence
        after = opinion.weigh(self._judge, before, first.text, wanted)
        if before is None or after is None or after == before:
            return opinion
        return replace(opinion, agreed=after > before)

    def _begin(self, inquiry: _Inquiry, wanted: Wanted) -> Answer:
        """Asks through door and breaker, as for any other answer. Raises `BackendError`."""
        spec, walk = inquiry.backend.spec, inquiry.walk
        call = Call(inquiry.request, walk.deadline, want_logprobs=True)
        permit = Discreet(self._breakers[spec.name].admit())
        try:
            source = inquiry.backend.answer(call)
        except BaseException:
            permit.abandon()
            raise
        attempt = Attempt(spec.name, spec.tier, inquiry.first.attempt.route)
        appraise = partial(self._confidence, wanted, walk)
        return Answer(attempt, spec, source, call, permit, self._clock, appraise)

    def _confidence(self, wanted: Wanted, walk: Walk, second: Answer) -> float | None:
        return self._judge.confidence(
            second.tokens,
            second.text,
            finish_reason=second.finish_reason,
            wanted=wanted,
            score=walk.plan.score,
            by=second.spec,
        )

    def _rest(self) -> None:
        self._resting_until_s = self._clock.monotonic() + REST_S

    def _tell(self, inquiry: _Inquiry, outcome: str) -> None:
        name, request_id = inquiry.backend.spec.name, inquiry.request.id
        self._events.emit(SecondOpinion(request_id, name, outcome, inquiry.usage))


class _Inquiry:
    """One second opinion that is asked for, and what has been said so far."""

    def __init__(
        self, first: Answer, walk: Walk, backend: Backend, source: Source, request: Request
    ) -> None:
        self.first = first
        self.walk = walk
        self.backend = backend
        self.source: Source = source
        self.request = request
        self.second: Answer | None = None

    @property
    def usage(self) -> Usage | None:
        """Tokens that it took, where it came to an answer."""
        second = self.second
        if second is None or not second.pieces:
            return None
        return second.usage or Usage(0, len(second.tokens), estimated=True)


def _is_usable(second: Answer, wanted: Wanted) -> bool:
    """Whether it came to its end and is not visibly bad, else it says nothing of another one."""
    if second.finish_reason not in ("stop", "tool_calls"):
        return False
    return flaw(second.text, finish_reason=second.finish_reason, wanted=wanted) is None


def _outcome(opinion: Opinion | None) -> str:
    if opinion is None:
        return "unusable"
    return "agreed" if opinion.agreed else "disagreed"
