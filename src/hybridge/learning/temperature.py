"""Temperature scaling of a classifier's probabilities (Guo et al. 2017, arXiv 1706.04599).

One number divides all logits, so that the order of the labels stays and only the sureness changes.
A language model that names a label is a classifier too: what it gives for the first token of each
label are logits up to a constant (`label_logits`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Logits = Sequence[float]

COLDEST, HOTTEST = 0.05, 20.0
"""Bounds of the temperature: with few or separable records there is no best one."""
STEPS = 50
UNSEEN = -20.0
"""Log-probability of a label that is not among those that the engine names."""


def probabilities(logits: Logits, temperature: float = 1.0) -> list[float]:
    """Softmax of the logits over the temperature, as long as they are."""
    highest = max(logits)
    weights = [math.exp((logit - highest) / temperature) for logit in logits]
    total = sum(weights)
    return [weight / total for weight in weights]


def fit(records: Sequence[Logits], labels: Sequence[int]) -> float:
    """The temperature that makes these labels likeliest; `labels` are places in the logits.

    The loss is convex in its inverse, which Newton's method finds. At least one record.
    """
    inverse = 1.0
    for _ in range(STEPS):
        slope = curvature = 1e-12
        for logits, label in zip(records, labels, strict=True):
            told = probabilities(logits, 1.0 / inverse)
            mean = sum(p * logit for p, logit in zip(told, logits, strict=True))
            slope += mean - logits[label]
            curvature += sum(p * (z - mean) ** 2 for p, z in zip(told, logits, strict=True))
        moved = inverse - slope / curvature
        # half the way at most: far from the best one the curvature says little
        inverse = min(max(moved, inverse / 2, 1 / HOTTEST), inverse * 2, 1 / COLDEST)
    return 1.0 / inverse


def label_logits(first_token: Mapping[str, float], labels: Sequence[str]) -> list[float]:
    """A logit for each label out of the log-probabilities of an answer's first token.

    A token counts for each label that it begins, whatever its case and the spaces around it.
    """
    spelled = [(token.strip().casefold(), logprob) for token, logprob in first_token.items()]
    found = []
    for label in labels:
        plain = label.strip().casefold()
        mass = sum(
            math.exp(logprob) for token, logprob in spelled if token and plain.startswith(token)
        )
        found.append(math.log(mass) if mass > 0 else UNSEEN)
    return found
