"""One embedding request's way: what is known of it so far, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from hybridge.budget.allowance import Slot
from hybridge.budget.bill import Bill, bill
from hybridge.budget.ledger import Reservation
from hybridge.core.clock import Deadline
from hybridge.core.embedding import (
    EmbedderSpec,
    EmbeddingRequest,
    Vectors,
)
from hybridge.core.plan import Plan
from hybridge.core.report import Report
from hybridge.core.request import Tier
from hybridge.core.response import Usage
from hybridge.privacy.finding import Finding
from hybridge.routing.tokens import estimate_tokens


class EmbeddingReply(Struct, frozen=True):
    """Vectors, and the account of them."""

    vectors: Vectors
    """In the order of the inputs."""
    usage: Usage
    report: Report


@dataclass(slots=True)
class EmbeddingTrip:
    """What is known of one request so far."""

    asked: EmbeddingRequest
    target: EmbedderSpec
    deadline: Deadline
    slot: Slot | None = None
    """Its place among those of its key; None when the key has no limits."""
    reservation: Reservation | None = None
    was_asked: bool = False
    bill: Bill | None = None
    """What it cost: its answer, or a cloud that was asked and whose answer nobody waited for."""
    reasons: tuple[str, ...] = ()
    found: tuple[Finding, ...] = ()
    """Personal data in it: types and places, never values."""
    plan: Plan | None = None
    reply: EmbeddingReply | None = None
    overhead_ms: float = 0.0
    error: str | None = None
    _tokens: int | None = None

    def count(self) -> int:
        """Tokens of all inputs, estimated on the safe side; counted at most once."""
        if self._tokens is None:
            self._tokens = sum(
                estimate_tokens(one) if isinstance(one, str) else len(one)
                for one in self.asked.inputs
            )
        return self._tokens

    def abandon(self) -> None:
        """Nobody waits any more. A cloud that was asked has read the inputs."""
        if self.was_asked and self.target.tier is Tier.CLOUD:
            usage = Usage(self.count(), 0, estimated=True)
            self.bill = bill(usage, self.target.price, None)
