"""A made-up pair of models, and comparisons of them, for tests of the adapter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from hybridge.learning.evidence import Evidence, Pair
from hybridge.routing.adapter import sigmoid
from hybridge.routing.view import EMBEDDING, LENGTH, PRIOR, PROJECTED, SIZE, pack

HEAD = "prior-test"
NOW = datetime(2030, 1, 2, tzinfo=UTC)
MONTH = timedelta(days=30)
PAIR = Pair("local", "v1", "gpt")


class World:
    """Prompts, and an edge model whose failures depend on their length and topic.

    `prior_knows`: how much of that the prior says; 0 is a prior that says nothing.
    """

    def __init__(self, seed: int = 0, *, prior_knows: float = 0.0) -> None:
        self.random = np.random.default_rng(seed)
        topic = np.random.default_rng(99).normal(size=EMBEDDING.stop - EMBEDDING.start)
        self.topic = topic / np.linalg.norm(topic)
        self.prior_knows = prior_knows

    def prompts(self, n: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Views, and the probability that the edge fails on each."""
        views = np.zeros((n, SIZE), np.float32)
        of_topic = self.random.integers(0, 2, n)
        noise = self.random.normal(size=(n, len(self.topic)))
        vectors = np.where(of_topic, 1.5, -1.5)[:, None] * self.topic + 0.05 * noise
        views[:, EMBEDDING] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        views[:, LENGTH] = self.random.normal(size=n)
        views[:, PROJECTED] = self.random.normal(size=(n, PROJECTED.stop - PROJECTED.start)) / 16
        truth = np.where(of_topic, 1.6, -1.6) + views[:, LENGTH]
        views[:, PRIOR] = self.prior_knows * truth
        return views, sigmoid(truth)

    def evidence(self, n: int, **changes: object) -> list[Evidence]:
        """So many comparisons, a minute apart, the last one now."""
        views, p = self.prompts(n)
        failed = (self.random.random(n) < p).astype(float)
        return [
            Evidence(
                **{
                    "pair": PAIR,
                    "at": NOW - timedelta(minutes=n - i),
                    "task": "chat",
                    "failed": float(failed[i]),
                    "propensity": 1.0,
                    "p": 0.5,
                    "view": pack(views[i]),
                    "head": HEAD,
                    "request_id": f"r{i}",
                }
                | changes
            )
            for i in range(n)
        ]
