"""The judge at the end of its door: what it is never asked, and the money of it (R21, R32)."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hybridge.budget.config import BudgetConfig
from hybridge.budget.ledger import JUDGE, Ledger
from hybridge.core.backend import Price
from hybridge.core.clock import SystemClock
from hybridge.core.errors import BackendError, Fault
from hybridge.core.events import Events, Judged
from hybridge.core.request import Clearance, Message, Request, Tier
from hybridge.core.trail import Trail
from hybridge.execution.egress import Guarded
from hybridge.gateway.judging import REST_S, CloudJudge
from hybridge.learning.judging import Case
from hybridge.privacy.config import PrivacyConfig
from hybridge.privacy.guard import Guard
from hybridge.privacy.policy import Policy
from hybridge.testing.backend import Hang, ScriptedBackend, saying, spec
from hybridge.testing.clock import ManualClock

pytestmark = pytest.mark.anyio

PRICE = Price(Decimal(2), Decimal(8))
REQUEST = Request(id="r", model="auto", messages=(Message("user", "Why?"),), body={}, tenant="t")
CASE = Case(REQUEST, "Because it is so.", "For many reasons.")


class Court:
    """A judge with its books and what it told."""

    def __init__(self, *scripts, daily_usd="1", privacy=None, away=True, refusal=None, **more):
        self.clock = more.get("clock") or SystemClock()
        self.told: list[Judged] = []
        policy = Policy.of(PrivacyConfig.model_validate(privacy or {}))
        self.guard = Guard(policy, **({"detect": more["detect"]} if "detect" in more else {}))
        self.backend = ScriptedBackend(
            replace(spec("j", Tier.CLOUD, leaves_device=away), price=PRICE), *scripts
        )
        self.books = Ledger(BudgetConfig(daily_usd=None), {JUDGE: Decimal(daily_usd)}, self.clock)
        self.judge = CloudJudge(
            Guarded(self.backend),
            PRICE,
            self.books,
            self.guard,
            refusal=lambda: refusal,
            timeout_s=more.get("timeout_s", 5),
            events=Events(self.told.append),
            clock=self.clock,
            random=Random(0),
        )

    async def outcome(self, case: Case = CASE) -> tuple[bool | None, str]:
        found = await self.judge.as_good(case)
        return found, self.told[-1].outcome

    @property
    def books_of_judge(self) -> tuple[Decimal, Decimal]:
        (own,) = [s for s in self.books.status().spends if s.owner == JUDGE]
        return own.spent, own.reserved


@pytest.mark.parametrize("away", [True, False], ids=["elsewhere", "on this device"])
@pytest.mark.parametrize("clearance", [c for c in Clearance if c is not Clearance.ANYWHERE])
async def test_a_private_comparison_is_not_judged_wherever_the_judge_is(clearance, away):
    court = Court(saying("SAME"), away=away)
    case = Case(replace(REQUEST, clearance=clearance), CASE.edge, CASE.cloud)
    assert await court.outcome(case) == (None, "private")
    assert (court.backend.calls, court.books_of_judge) == ([], (0, 0))


async def test_a_detector_that_breaks_keeps_it_here():
    def broken(_text):
        raise ZeroDivisionError

    court = Court(saying("SAME"), detect=broken)
    assert await court.outcome() == (None, "private")
    assert court.backend.calls == []


@pytest.mark.parametrize("action", ["local_only", "block", "allow", "pseudonymise"])
@pytest.mark.parametrize("place", ["request", "edge", "cloud"])
async def test_personal_data_are_not_shown_whatever_the_policy_lets_pass(place, action):
    court = Court(saying("SAME"), privacy={"types": {"EMAIL": action}})
    text = "Write to ann.miller@example.org!"
    cases = {
        "request": Case(replace(REQUEST, messages=(Message("user", text),)), "Yes.", "No."),
        "edge": Case(REQUEST, text, "No."),
        "cloud": Case(REQUEST, "Yes.", text),
    }
    assert await court.outcome(cases[place]) == (None, "private")
    assert court.backend.calls == []


async def test_what_is_put_around_the_answers_does_not_look_private_itself():
    court = Court(saying("SAME"), daily_usd="1000000")
    outcomes = {(await court.outcome())[1] for _ in range(300)}
    assert outcomes == {"same"}


async def test_the_question_is_a_request_of_its_own_with_the_callers_clearance():
    court = Court(saying("SAME"))
    body = {"stream": True, "user": "u", "n": 3}
    asked = replace(REQUEST, session="s", stream=True, body=body, trail=Trail())
    assert await court.outcome(Case(asked, CASE.edge, CASE.cloud)) == (True, "same")
    (call,) = court.backend.calls
    put = call.request
    assert (put.tenant, put.clearance, put.session, put.stream) == ("t", "anywhere", None, False)
    assert set(put.body) == {"model", "messages", "max_tokens"}
    assert [(left.to, left.kind) for left in asked.trail.exits] == [("j", "judge")]


async def test_one_that_is_ill_is_not_asked():
    court = Court(saying("SAME"), refusal="breaker open")
    assert await court.outcome() == (None, "resting")
    assert court.backend.calls == []


@pytest.mark.parametrize(
    ("fault", "rests"),
    [(Fault.SERVER, True), (Fault.LIMITED, True), (Fault.CONTEXT, False), (Fault.CALLER, False)],
)
async def test_it_rests_after_a_failure_that_is_its_own(fault, rests):
    clock = ManualClock()
    error = BackendError("told to fail", backend="j", fault=fault)
    court = Court([error], saying("SAME"), clock=clock)
    assert await court.outcome() == (None, "failed")
    assert court.books_of_judge == (0, 0)
    assert (await court.outcome())[1] == ("resting" if rests else "same")
    clock.advance(REST_S)
    assert (await court.outcome())[1] == "same"


async def test_a_comparison_that_is_stopped_pays_for_its_prompt_and_keeps_nothing_promised():
    court = Court([Hang()])
    judging = asyncio.create_task(court.judge.as_good(CASE))
    while not court.backend.running:
        await asyncio.sleep(0)
    assert court.books_of_judge[1] > 0
    judging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await judging
    spent, promised = court.books_of_judge
    assert (spent > 0, promised, court.backend.running) == (True, 0, 0)


@given(st.lists(st.sampled_from(["A", "B", "SAME", "?", "fails", "hangs"]), max_size=12))
async def test_whatever_it_says_the_books_balance_and_the_limit_holds(words):
    error = BackendError("told to fail", backend="j", fault=Fault.CONTEXT)
    scripts = {"fails": [error], "hangs": [Hang()]}
    limit = Decimal("0.001")
    court = Court(
        *(scripts.get(word) or saying(word) for word in words),
        daily_usd=limit,
        timeout_s=0.001,
    )
    for _ in words:
        found, outcome = await court.outcome()
        assert (found is None) == (outcome not in ("edge", "cloud", "same"))
    spent, promised = court.books_of_judge
    assert promised == 0
    assert spent == sum(told.cost_usd for told in court.told)
    assert spent <= limit + max((told.cost_usd for told in court.told), default=Decimal(0))
