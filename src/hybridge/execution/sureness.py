"""How sure a model was of the tokens it wrote: features of their log-probabilities (R5).

Each feature rises, or stays, when any token gets likelier: that keeps the judge's direction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from operator import sub

WINDOW = 8
"""Tokens over which a passage's mean log-probability is taken."""
LOW_SHARE = 0.2
"""The low passage is the one below which a fifth of all passages lie."""
FLOOR = -8.0
"""Log-probabilities below this say nothing more."""
SMALLEST = 0.01
"""Surprise, in nats, below which an answer does not get any surer; keeps the logarithm finite."""
HEAD = 32
"""Tokens of the beginning in which the least sure one is looked for, and whose probabilities are
multiplied: over a long text both only measure its length."""
LIKELY = -0.7
"""A token above this was likelier than all others together."""

NAMES = (
    "whole", "low", "first", "first3", "worst", "rest_worst", "total", "rest_total", "likely",
)  # fmt: skip


def features(logprobs: Sequence[float]) -> list[float]:
    """As `NAMES` lists them, for at least one natural-log probability. Linear in the tokens.

    Sureness is `-ln(0.01 + s)`, `s` being a surprise in nats: of the mean token, of the low
    passage, of the first token, of the first three, of the least sure one of the beginning, of that
    without the very first (which often only chooses between "The" and "It"), and of the beginning
    as one whole, with and without the first.
    """
    clipped = [min(0.0, max(logprob, FLOOR)) for logprob in logprobs]
    head = clipped[:HEAD]
    rest = head[1:] or head
    return [
        _sureness(sum(clipped) / len(clipped)),
        _sureness(_low_passage(clipped)),
        _sureness(head[0]),
        _sureness(sum(head[:3]) / len(head[:3])),
        _sureness(min(head)),
        _sureness(min(rest)),
        _sureness(sum(head)),
        _sureness(sum(rest)),
        sum(logprob > LIKELY for logprob in head) / len(head),
    ]


def _sureness(logprob: float) -> float:
    return -math.log(SMALLEST - logprob)


def _low_passage(logprobs: Sequence[float]) -> float:
    """The lower fifth's bound of the means of all windows, interpolated linearly."""
    width = min(WINDOW, len(logprobs))
    so_far = list(accumulate(logprobs, initial=0.0))
    sums: list[float] = sorted(map(sub, so_far[width:], so_far))
    at = LOW_SHARE * (len(sums) - 1)
    below = int(at)
    above = min(below + 1, len(sums) - 1)
    return min(0.0, sums[below] + (at - below) * (sums[above] - sums[below])) / width
