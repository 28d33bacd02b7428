"""A cloud that judges whether two answers serve equally well, within a budget of its own (R21)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal
from random import Random

from msgspec.structs import replace

from hybridge.budget.account import ZERO
from hybridge.budget.ledger import JUDGE, Ledger, Reservation
from hybridge.budget.prices import cost, estimate
from hybridge.core.backend import Backend, Call, Price
from hybridge.core.clock import Clock, Deadline
from hybridge.core.errors import BackendError, BudgetExhausted, Fault, RequestError
from hybridge.core.events import Events, Judged
from hybridge.core.request import Clearance, Message, Request
from hybridge.core.response import Completion, Usage
from hybridge.gateway.shadowing import Shadowing
from hybridge.learning.judging import VERDICT_TOKENS, Case, Verdict, question, verdict
from hybridge.privacy.guard import Guard
from hybridge.routing.facts import estimate_prompt_tokens

REST_S = 60.0
"""How long it is not asked after it failed: a judge that hangs would hold all comparisons up."""
_LETTERS = "bcdfghjkmnprst"
"""Of a mark. It must not look like personal data itself: `vx`, say, is the name of a messenger."""
_BILLED = (Fault.TIMEOUT, Fault.PROTOCOL)
"""Failures of an upstream that has read the prompt, and will want its money."""


class NoVerdict(Exception):
    """Why there is none: `failed`, `over_budget`, `private`, `resting`, `undecided`, `unfit` or
    `unreadable`."""


class CloudJudge:
    """Asks a backend through its door (`execution.egress`), which notes that the request left.

    Nothing is put before it that privacy has a word to say about: the question as it would leave,
    with both answers in it, is screened under the policy of the request's key.
    """

    def __init__(
        self,
        backend: Backend,
        price: Price,
        ledger: Ledger,
        guard: Guard,
        *,
        refusal: Callable[[], str | None],
        timeout_s: float,
        events: Events,
        clock: Clock,
        random: Random,
    ) -> None:
        """`price`: what it is counted at. `refusal`: why the backend is not to be asked now."""
        self._backend = backend
        self._price = price
        self._ledger = ledger
        self._guard = guard
        self._refusal = refusal
        self._timeout_s = timeout_s
        self._events = events
        self._clock = clock
        self._random = random
        self._resting_until_s = clock.monotonic()

    async def as_good(self, case: Case) -> bool | None:
        """Whether the edge's answer serves at least as well as the cloud's; None where that is not
        known. By the deadline, and raises nothing but cancellation."""
        hearing = _Hearing(case, Deadline.after(self._timeout_s, self._clock))
        found: Verdict | None = None
        try:
            found = await self._heard(hearing)
            outcome = str(found)
        except NoVerdict as none:
            outcome = str(none)
        name = self._backend.spec.name
        self._events.emit(Judged(case.request.id, name, outcome, hearing.spent_usd))
        return None if found is None else found is not Verdict.CLOUD

    async def _heard(self, hearing: _Hearing) -> Verdict:
        """One that both orders of the answers lead to, unless the first finds no difference."""
        if hearing.case.request.clearance is not Clearance.ANYWHERE:
            raise NoVerdict("private")
        if not hearing.case.fit:
            raise NoVerdict("unfit")
        edge_first = self._random.random() < 0.5
        first = await self._verdict(hearing, edge_first=edge_first)
        if first is Verdict.SAME:
            return first
        if await self._verdict(hearing, edge_first=not edge_first) is not first:
            raise NoVerdict("undecided")
        return first

    async def _verdict(self, hearing: _Hearing, *, edge_first: bool) -> Verdict:
        mark = "".join(self._random.choices(_LETTERS, k=10))
        turns = question(hearing.case, mark, edge_first=edge_first)
        asked = await self._cleared(_posed(hearing.case.request, turns))
        completion = await self._paid(asked, hearing)
        found = verdict(completion.text, edge_first=edge_first)
        if found is None:
            raise NoVerdict("unreadable")
        return found

    async def _cleared(self, asked: Request) -> Request:
        """The question as it leaves, if nobody minds any of it."""
        try:
            screened = await self._guard.screen(asked)
        except RequestError:
            raise NoVerdict("private") from None
        if screened.request.clearance is not Clearance.ANYWHERE or screened.reasons:
            raise NoVerdict("private")
        return screened.request

    async def _paid(self, asked: Request, hearing: _Hearing) -> Completion:
        """The answer, its money promised before and settled after."""
        self._check_rest()
        tokens = estimate_prompt_tokens(asked)
        try:
            promised = self._ledger.reserve(JUDGE, estimate(self._price, tokens, VERDICT_TOKENS))
        except BudgetExhausted:
            raise NoVerdict("over_budget") from None
        with promised:
            try:
                said = await Shadowing(self._backend).ask(
                    Call(asked, hearing.deadline, kind="judge")
                )
            except asyncio.CancelledError:
                self._settle(promised, Usage(tokens, 0, estimated=True), hearing)
                raise
            if isinstance(said, Completion):
                written = len(said.text) // 2
                usage = said.usage or Usage(tokens, written, estimated=True)
                self._settle(promised, usage, hearing)
                return said
            if said.fault in _BILLED:
                self._settle(promised, Usage(tokens, 0, estimated=True), hearing)
        raise self._failed(said)

    def _check_rest(self) -> None:
        if self._clock.monotonic() < self._resting_until_s or self._refusal() is not None:
            raise NoVerdict("resting")

    def _failed(self, error: BackendError) -> NoVerdict:
        if error.fault is Fault.REFUSED:
            return NoVerdict("private")
        if error.fault.counts_for_breaker:
            rest_s = max(REST_S, error.retry_after_s or 0.0)
            self._resting_until_s = self._clock.monotonic() + rest_s
        return NoVerdict("failed")

    def _settle(self, promised: Reservation, usage: Usage, hearing: _Hearing) -> None:
        counted, own = cost(self._price, usage), self._backend.spec.price
        hearing.spent_usd += counted
        promised.settle(None if own is None else counted, assumed=counted)


class _Hearing:
    """One case before the judge, and what it has cost so far."""

    def __init__(self, case: Case, deadline: Deadline) -> None:
        self.case = case
        self.deadline = deadline
        self.spent_usd: Decimal = ZERO


def _posed(request: Request, turns: tuple[Message, ...]) -> Request:
    """The question in place of the request: its caller, clearance and trail stay, its session does
    not, for the answers are not a part of that."""
    body = {
        "model": request.model,
        "messages": [{"role": turn.role, "content": turn.text} for turn in turns],
        "max_tokens": VERDICT_TOKENS,
    }
    return replace(
        request,
        messages=turns,
        body=body,
        stream=False,
        include_usage=False,
        max_tokens=VERDICT_TOKENS,
        features=frozenset(),
        session=None,
    )
