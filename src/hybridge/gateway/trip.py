"""One request's way through the gateway: what is known of it so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hybridge.budget.allowance import Slot
from hybridge.budget.bill import Bill, bill
from hybridge.budget.ledger import Reservation
from hybridge.core.backend import BackendSpec
from hybridge.core.clock import Deadline
from hybridge.core.errors import Fault
from hybridge.core.plan import Plan
from hybridge.core.request import Feature, Request, Tier
from hybridge.core.response import Usage
from hybridge.gateway.shadowing import Shadowing
from hybridge.privacy.finding import Finding
from hybridge.routing.facts import Facts, estimate_prompt_tokens, gather

if TYPE_CHECKING:
    from hybridge.gateway.reply import Reply

ANSWER_TOKENS = 1024
"""Length of an answer where the request names no limit; for reservations only."""


@dataclass(slots=True)
class Trip:
    """Filled in step by step; the only value here that changes, and only its own request's."""

    request: Request
    deadline: Deadline
    named: BackendSpec | None = None
    """The backend that the caller asked for, where there is one of that name."""
    called: tuple[str, ...] = ()
    """Who may answer in that case: it and its deputies. Empty where anybody may."""
    slot: Slot | None = None
    """Its place among those of its key; None when the key has no limits."""
    reservation: Reservation | None = None
    """None when there is no money left for a paid backend."""
    over_budget: str | None = None
    """Why there is none."""
    screen_reasons: tuple[str, ...] = ()
    found: tuple[Finding, ...] = ()
    """Personal data in it, weak signs included: types and places, never values."""
    plan: Plan | None = None
    at_work: BackendSpec | None = None
    """Who was asked last, as long as it has not failed."""
    lost: Bill | None = None
    """What clouds cost that were asked and whose answers nobody waited for."""
    lost_by: BackendSpec | None = None
    """The last of them."""
    paid: bool = False
    """Whether it has been said what it cost."""
    shadowing: Shadowing | None = None
    """The comparison that runs beside, if any."""
    reply: Reply | None = None
    """None until an answer has begun."""
    overhead_ms: float = 0.0
    """From arrival until the plan stood."""
    error: str | None = None
    """Name of what ended it, when it did not end well."""
    _facts: Facts | None = None
    _prompt_tokens: int | None = None

    @property
    def facts(self) -> Facts:
        """What routing knows of the request. Read when first asked for: many are routed without."""
        if self._facts is None:
            self._facts = gather(self.request)
        return self._facts

    def count_prompt(self) -> int:
        """Tokens of everything that is sent, estimated on the safe side; counted at most once."""
        if self._prompt_tokens is None:
            self._prompt_tokens = estimate_prompt_tokens(self.request)
        return self._prompt_tokens

    def most_written(self) -> int:
        """Tokens of the answer at most, as far as the request tells."""
        request = self.request
        tokens = request.max_tokens or ANSWER_TOKENS
        if Feature.CHOICES not in request.features:
            return tokens
        choices = request.body.get("n")
        return tokens * choices if isinstance(choices, int) else tokens

    def most_tokens(self) -> int:
        """Tokens of the prompt and of the longest answer."""
        return self.count_prompt() + self.most_written()

    def asked(self, spec: BackendSpec) -> None:
        """See `execution.walk.Watch`."""
        self.at_work = spec

    def failed(self, fault: Fault) -> None:
        """See `execution.walk.Watch`. One that was too slow may still be at work on it."""
        if fault is Fault.TIMEOUT:
            self.abandon()
        self.at_work = None

    def abandon(self) -> None:
        """Nobody waits any more for the backend that was asked last. A cloud has its prompt."""
        spec, self.at_work = self.at_work, None
        if spec is not None and spec.tier is Tier.CLOUD:
            made = bill(Usage(self.count_prompt(), 0, estimated=True), spec.price, None)
            self.lost = made if self.lost is None else self.lost.plus(made)
            self.lost_by = spec

    def leave(self) -> None:
        """Gives back what was promised to it and is not settled: it cost nothing."""
        if self.reservation is not None:
            self.reservation.release()
        if self.slot is not None:
            self.slot.give_back(0)
