"""What API keys have spent and may still ask for, as Prometheus reads it (R44, R61, R80)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

from prometheus_client.registry import CollectorRegistry

from hybridge.budget.ledger import LedgerStatus, Spend
from hybridge.telemetry.series import Counts, Labels, Readings

EVERYONE = "*"
"""The key's label for the limits of all keys together."""

Reading = Callable[[Spend], Decimal | None]


class Allowed:
    """Read from the books themselves, so that a limit that changed shows at once.

    Labels are bounded by configuration: `key` is the name of an API key, never what a caller says.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        of_budget = ("period", "key")
        self._spent = Readings(
            registry, "budget_spent_usd", "Money spent in the period, in USD.", *of_budget
        )
        self._assumed = Readings(
            registry,
            "budget_assumed_usd",
            "The part of it that was assumed.",
            *of_budget,
        )
        self._reserved = Readings(
            registry, "budget_reserved_usd", "Money promised to requests under way.", *of_budget
        )
        self._left = Readings(
            registry, "budget_left_usd", "Money that may still be promised.", *of_budget
        )
        self._under_way = Readings(
            registry, "key_in_flight", "Requests under way of a key with limits.", "key"
        )
        self._refused = Counts(
            registry, "rate_limited", "Requests refused for a key's limit.", "key", "limit"
        )

    def watch_budget(self, status: Callable[[], LedgerStatus]) -> None:
        """Where to read the books, whenever somebody looks."""
        self._spent.source = lambda: _read(status(), lambda spend: spend.spent)
        self._assumed.source = lambda: _read(status(), lambda spend: spend.assumed)
        self._reserved.source = lambda: _read(status(), lambda spend: spend.reserved)
        self._left.source = lambda: _read(status(), lambda spend: spend.left)

    def watch_keys(self, under_way: Callable[[], Mapping[str, int]]) -> None:
        """Where to read the requests under way, by key."""
        self._under_way.source = lambda: [((key,), float(n)) for key, n in under_way().items()]

    def refused(self, key: str, limit: str) -> None:
        """Counts a request that one of its key's limits refused."""
        self._refused.add((key, limit))


def _read(status: LedgerStatus, reading: Reading) -> Iterator[tuple[Labels, float]]:
    for spend in status.spends:
        value = reading(spend)
        if value is not None:
            yield (spend.period.value, spend.owner or EVERYONE), float(value)
