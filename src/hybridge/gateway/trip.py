"""One request's way through the gateway: what is known of it so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hybridge.budget.ledger import Reservation
from hybridge.core.backend import BackendSpec
from hybridge.core.clock import Deadline
from hybridge.core.plan import Plan
from hybridge.core.request import Request
from hybridge.gateway.shadowing import Shadowing
from hybridge.routing.facts import Facts, estimate_prompt_tokens, gather

if TYPE_CHECKING:
    from hybridge.gateway.reply import Reply


@dataclass(slots=True)
class Trip:
    """Filled in step by step; the only value here that changes, and only its own request's."""

    request: Request
    deadline: Deadline
    named: BackendSpec | None = None
    """The backend that the caller asked for, where there is one of that name."""
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
