"""From log-probabilities to a confidence: a logistic curve over two plain features (R5).

The shipped coefficients lie in `assets/confidence.json` with their source and their figures, which
`docs/explanation/confidence.md` explains.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Self

WINDOW = 8
"""Tokens over which a passage's mean log-probability is taken."""
LOW_SHARE = 0.2
"""The low passage is the one below which a fifth of all passages lie: it does not depend on how
long the answer is, so that a streamed beginning and a whole answer are judged alike."""
FLOOR = -4.0
"""Log-probabilities below this say nothing more."""
SMALLEST = 0.01
"""Surprise, in nats, below which an answer does not get any surer; keeps the logarithm finite."""


@dataclass(frozen=True, slots=True)
class Curve:
    """`1 / (1 + exp(-(intercept + whole * w + passage * p)))`, growing with both features."""

    intercept: float
    whole: float
    """Weight of the sureness of the whole answer, not negative."""
    passage: float
    """Weight of the sureness of its low passage, not negative."""
    version: str

    @classmethod
    def shipped(cls) -> Self:
        """The one that comes with the package."""
        text = files("hybridge.execution").joinpath("assets/confidence.json").read_text("utf-8")
        asset = json.loads(text)
        return cls(**asset["curve"], version=asset["version"])

    def confidence(self, logprobs: Sequence[float]) -> float:
        """0-1 for the natural-log probabilities of an answer's tokens, at least one."""
        whole, passage = features(logprobs)
        z = self.intercept + self.whole * whole + self.passage * passage
        return 1.0 / (1.0 + math.exp(-z))


def features(logprobs: Sequence[float]) -> tuple[float, float]:
    """Sureness of the whole answer and of its low passage. Linear time in the tokens.

    Sureness is `-ln(0.01 + surprise)`, surprise being the mean of `-logprob`. The logarithm lets
    tokens of .99 count for more than those of .9, as they do in the answers it was fitted on.
    """
    clipped = [min(0.0, max(logprob, FLOOR)) for logprob in logprobs]
    return _sureness(sum(clipped) / len(clipped)), _sureness(_low_passage(clipped))


def _sureness(mean_logprob: float) -> float:
    return -math.log(SMALLEST - mean_logprob)


def _low_passage(logprobs: Sequence[float]) -> float:
    """The lower fifth's bound of the means of all windows, interpolated linearly."""
    width = min(WINDOW, len(logprobs))
    total = sum(logprobs[:width])
    means = [total / width]
    for leaving, coming in zip(logprobs, logprobs[width:], strict=False):
        total += coming - leaving
        means.append(min(0.0, total / width))
    means.sort()
    at = LOW_SHARE * (len(means) - 1)
    below = int(at)
    above = min(below + 1, len(means) - 1)
    return means[below] + (at - below) * (means[above] - means[below])
