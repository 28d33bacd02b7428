"""One request's way through the gateway: what is known of it so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hybridge.budget.ledger import Reservation
from hybridge.core.clock import Deadline
from hybridge.core.plan import Plan
from hybridge.core.request import Request
from hybridge.gateway.shadowing import Shadowing
from hybridge.routing.facts import Facts

if TYPE_CHECKING:
    from hybridge.gateway.reply import Reply


@dataclass(slots=True)
class Trip:
    """Filled in step by step; the only value here that changes, and only its own request's."""

    request: Request
    facts: Facts
    deadline: Deadline
    reservation: Reservation | None = None
    """None when there is no money left for a paid backend."""
    over_budget: str | None = None
    """Why there is none."""
    screen_reasons: tuple[str, ...] = ()
    plan: Plan | None = None
    shadowing: Shadowing | None = None
    """The comparison that runs beside, if any."""
    reply: Reply | None = None
    """None until an answer has begun."""
    overhead_ms: float = 0.0
    """From arrival until the plan stood."""
    error: str | None = None
    """Name of what ended it, when it did not end well."""
