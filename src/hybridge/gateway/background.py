"""Shadow comparisons: asking the other tier beside the one that serves, for the record (R4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from hashlib import sha256

from msgspec import Struct

from hybridge.core.backend import Backend, Call
from hybridge.core.clock import Clock, Deadline
from hybridge.core.errors import BackendError
from hybridge.core.events import Compared, Events, ShadowDropped
from hybridge.core.plan import Plan
from hybridge.core.request import Clearance, Request, Tier, whole
from hybridge.execution.confidence import Judge
from hybridge.execution.wanted import Wanted
from hybridge.gateway.judging import CloudJudge
from hybridge.gateway.shadowing import Shadowing, Side
from hybridge.learning.agreement import agree, said
from hybridge.learning.judging import Case
from hybridge.learning.normalise import normalise
from hybridge.learning.shadow import Shadow
from hybridge.routing.facts import Facts

View = Callable[[Facts], Awaitable[bytes | None]]
"""What the adapter sees of a prompt, packed; None where it is not to be kept."""
Similarity = Callable[[str, str], Awaitable[float | None]]
"""How alike two texts mean, 0-1; None when it cannot be told."""


class Subject(Struct, frozen=True):
    """What a comparison is about."""

    request: Request
    facts: Facts
    plan: Plan


class Background:
    """Starts comparisons within the bounds of `learning.shadow.Shadow` and reports the results."""

    def __init__(
        self,
        shadow: Shadow,
        judge: Judge,
        similarity: Similarity,
        *,
        timeout_s: float,
        similarity_min: float,
        events: Events,
        clock: Clock,
        cloud_judge: CloudJudge | None = None,
        view: View | None = None,
        head_version: str = "",
    ) -> None:
        """`cloud_judge` is asked where only similarity could tell (R21). `view`, of a head of that
        version, is kept for the adapter; None: nothing is."""
        self._view = view
        self._head_version = head_version
        self._shadow = shadow
        self._cloud_judge = cloud_judge
        self._judge = judge
        self._similarity = similarity
        self._timeout_s = timeout_s
        self._similarity_min = similarity_min
        self._events = events
        self._clock = clock

    def start(self, backend: Backend, subject: Subject) -> Shadowing | None:
        """Asks `backend` beside the request; None when that is over the bounds (and counted)."""
        shadowing = Shadowing(backend)

        async def job() -> None:
            await self._compare(shadowing, subject)

        started = self._shadow.submit(subject.request.id, job, on_drop=shadowing.cancel)
        return shadowing if started else None

    async def _compare(self, shadowing: Shadowing, subject: Subject) -> None:
        if shadowing.asked.cancelled():
            self._drop(subject, "cloud_failed")
            return
        asked = await self._ask(shadowing, subject)
        if isinstance(asked, BackendError):
            self._drop(subject, f"{shadowing.backend.spec.tier.value}_failed")
            return
        served = await shadowing.other()
        if served is None or served.tier is asked.tier:
            self._drop(subject, "cloud_failed")
            return
        await self._report(subject, asked, served)

    async def _ask(self, shadowing: Shadowing, subject: Subject) -> Side | BackendError:
        started_s = self._clock.monotonic()
        deadline = Deadline.after(self._timeout_s, self._clock)
        completion = await shadowing.ask(Call(whole(subject.request), deadline, want_logprobs=True))
        if isinstance(completion, BackendError):
            shadowing.came(completion)
            return completion
        shadowing.confidence = self._judge.confidence(
            completion.tokens,
            completion.text,
            finish_reason=completion.finish_reason,
            wanted=Wanted.of(subject.request),
            score=subject.plan.score,
            by=shadowing.backend.spec,
        )
        shadowing.came(completion)
        spec = shadowing.backend.spec
        took_ms = 1000 * (self._clock.monotonic() - started_s)
        version = subject.request.trail.version(spec.name, spec.version)
        return Side(spec.name, spec.tier, version, said(completion), shadowing.confidence, took_ms)

    async def _report(self, subject: Subject, asked: Side, served: Side) -> None:
        edge, cloud = (asked, served) if asked.tier is Tier.EDGE else (served, asked)
        similarity = await self._similarity(edge.said.text, cloud.said.text)
        found = agree(
            edge.said,
            cloud.said,
            Wanted.of(subject.request).form,
            similarity,
            similarity_min=self._similarity_min,
        )
        if self._cloud_judge is not None and found.vague:
            case = Case(subject.request, edge.said.text, cloud.said.text)
            as_good = await self._cloud_judge.as_good(case)
            if as_good is not None:
                found = replace(found, agreed=as_good, method="judge")
        plan, view = subject.plan, await self._seen(subject)
        self._events.emit(
            Compared(
                request_id=subject.request.id,
                at=self._clock.now(),
                task=subject.facts.task,
                score=plan.score,
                propensity=plan.propensity,
                edge_backend=edge.backend,
                cloud_backend=cloud.backend,
                edge_version=edge.version,
                scorer_version=plan.score.version if plan.score else "",
                edge_digest=_digest(edge.said.text),
                cloud_digest=_digest(cloud.said.text),
                similarity=found.similarity,
                agreed=found.agreed,
                method=found.method,
                edge_confidence=edge.confidence,
                edge_ms=edge.ms,
                cloud_ms=cloud.ms,
                view=view,
                head_version=self._head_version if view is not None else "",
            )
        )

    async def _seen(self, subject: Subject) -> bytes | None:
        """None of a request in which something private was found: a view tells of its text."""
        if self._view is None or subject.request.clearance is not Clearance.ANYWHERE:
            return None
        return await self._view(subject.facts)

    def _drop(self, subject: Subject, reason: str) -> None:
        self._events.emit(ShadowDropped(subject.request.id, reason))


def _digest(text: str) -> str:
    return sha256(normalise(text).encode()).hexdigest()
