"""How the next token is chosen from its logits, step by step as llama.cpp does it.

The choice itself is an argmax, which is the engine's: noise is added first that makes the argmax a
fair draw (Gumbel-max; Maddison, Tarlow, Minka 2014).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Logits = NDArray[np.float32]

LAST_TOKENS = 64
"""So many are looked at for penalties (source: llama.cpp, `penalty_last_n`)."""


class Sampler:
    """Chooses the tokens of one answer."""

    def __init__(
        self,
        *,
        temperature: float,
        top_k: int,
        top_p: float,
        min_p: float,
        repeat_penalty: float = 1.0,
        presence_penalty: float = 0.0,
        frequency_penalty: float = 0.0,
        logit_bias: Mapping[int, float] | None = None,
        seed: int | None = None,
    ) -> None:
        """Temperature 0 is the most probable token; `top_k` 0, `top_p` 1 and `min_p` 0 are all."""
        self._temperature = temperature
        self._top_k, self._top_p, self._min_p = top_k, top_p, min_p
        self._repeat, self._presence = repeat_penalty, presence_penalty
        self._frequency = frequency_penalty
        self._bias = dict(logit_bias or {})
        self._random = np.random.default_rng(seed)
        self._last: deque[int] = deque(maxlen=LAST_TOKENS)

    @property
    def is_plain(self) -> bool:
        """Whether it is the argmax of the logits as they are, so that nothing need be computed."""
        return not (self._temperature or self._bias or self._punishes)

    @property
    def _punishes(self) -> bool:
        return self._repeat != 1 or bool(self._presence or self._frequency)

    def saw(self, token: int) -> None:
        """A token of the prompt or of the answer."""
        self._last.append(token)

    def noisy(self, logits: Logits, allowed: NDArray[np.bool_] | None = None) -> Logits:
        """Logits (vocabulary,) whose argmax is the choice; those that are given stay as they are.

        Only what is `allowed` is chosen, where a grammar says so.
        """
        changed = logits.copy()
        if allowed is not None:
            changed[~allowed] = -np.inf
        for token, bias in self._bias.items():
            if 0 <= token < len(changed):
                changed[token] += bias
        if self._punishes:
            self._punish(changed)
        return self._drawn(changed) if self._temperature else changed

    def _punish(self, logits: Logits) -> None:
        """For what was said lately (source: llama.cpp, `llama_sampler_penalties_apply`)."""
        for token, count in Counter(self._last).items():
            value = logits[token]
            value = value / self._repeat if value > 0 else value * self._repeat
            logits[token] = value - count * self._frequency - self._presence

    def _drawn(self, logits: Logits) -> Logits:
        kept = self._kept(logits)
        drawn = np.full_like(logits, -np.inf)
        noise = self._random.gumbel(size=len(kept)).astype(np.float32)
        drawn[kept] = logits[kept] / np.float32(self._temperature) + noise
        return drawn

    def _kept(self, logits: Logits) -> NDArray[np.intp]:
        """The tokens that may be drawn, the most probable ones first."""
        count = len(logits)
        if 0 < self._top_k < count:
            part = np.argpartition(logits, count - self._top_k)[count - self._top_k :]
        else:
            part = np.arange(count)
        order = part[np.argsort(-logits[part], kind="stable")]
        weights = np.exp(logits[order] - logits[order[0]])
        before = np.cumsum(weights) - weights
        kept = (before < self._top_p * weights.sum()) | (self._top_p >= 1)
        kept &= weights >= self._min_p
        kept[0] = True
        chosen: NDArray[np.intp] = order[kept]
        return chosen


def log_probabilities(logits: Logits) -> Logits:
    """Natural logarithms of the softmax."""
    shifted: Logits = logits - logits.max()
    logs: Logits = shifted - np.float32(np.log(np.exp(shifted).sum()))
    return logs
