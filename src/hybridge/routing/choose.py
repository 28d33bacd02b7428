"""Which backend of a tier comes first (R8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hybridge.routing.candidate import Candidate

_NEUTRAL = 0.5
"""What an unmeasured latency counts: neither fast nor slow."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each concern counts (SPEC R8)."""

    latency: float = 0.4
    cost: float = 0.3
    privacy: float = 0.3


DEFAULT = Weights()


def rank(candidates: Sequence[Candidate], weights: Weights = DEFAULT) -> tuple[Candidate, ...]:
    """Best first. Equals keep the order they came in, which is that of the configuration.

    Latency and price are scaled to 0-1 over these candidates. A price that is unknown counts as the
    dearest: a model without one must never look free.
    """
    if len(candidates) < 2:
        return tuple(candidates)
    slow = _scaled(
        [candidate.latency_s for candidate in candidates], unknown=_NEUTRAL, equal=_NEUTRAL
    )
    dear = _scaled([_price(candidate) for candidate in candidates], unknown=1.0, equal=0.0)
    burden = [
        weights.latency * slow[i]
        + weights.cost * dear[i]
        + weights.privacy * candidate.spec.leaves_device
        for i, candidate in enumerate(candidates)
    ]
    order = sorted(range(len(candidates)), key=lambda i: round(burden[i], 9))
    return tuple(candidates[i] for i in order)


def _price(candidate: Candidate) -> float | None:
    """USD for a million tokens in and a million out; only the comparison matters."""
    price = candidate.spec.price
    return None if price is None else float(price.input_usd + price.output_usd)


def _scaled(values: Sequence[float | None], *, unknown: float, equal: float) -> list[float]:
    """From 0 for the least to 1 for the greatest; `equal` for all where they do not differ."""
    known = [value for value in values if value is not None]
    low, span = min(known, default=0.0), max(known, default=0.0) - min(known, default=0.0)
    if not span:
        return [unknown if value is None else equal for value in values]
    return [unknown if value is None else (value - low) / span for value in values]
