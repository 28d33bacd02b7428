"""How sure the edge is of the answer it gave (R5): plain sense first, then token probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from hybridge.core.backend import BackendSpec
from hybridge.core.plan import Score
from hybridge.core.response import Token
from hybridge.execution.curve import Curve
from hybridge.execution.form import flaw
from hybridge.execution.wanted import Wanted
from hybridge.learning.agreement import Said, agree

FLAWED = 0.05
"""Confidence of an answer with a visible flaw; of such answers that confidence was fitted on, none
was right (`docs/explanation/confidence.md`)."""
CLEAR_TOKENS = 12
"""A streamed answer is not judged on fewer tokens than this, unless it ends before."""
CLEAR_MARGIN = 0.15
"""Above the bound by this much after `CLEAR_TOKENS`, an answer is let go early."""
TOKEN_CHARACTERS = 3
"""Characters that stand for a token where the backend names none."""
SAME = 0.85
"""Similarity from which two free texts say the same (SPEC R21)."""
Source = Literal["sample", "model"]
"""A second answer is another sample of the same model, or that of another small model."""
_SHIFTS: dict[Source, float] = {"sample": 1.0, "model": 1.0}
"""What agreement adds to the log-odds, and disagreement takes from them."""


class Judge:
    """Judges answers by nothing but what the backend sent. Pure; some microseconds a call."""

    def __init__(self, curve: Curve | None = None) -> None:
        """Without a curve of the operator's own, the shipped one."""
        self._curve = curve or Curve.shipped()

    def confidence(
        self,
        tokens: Sequence[Token],
        text: str,
        *,
        finish_reason: str | None,
        wanted: Wanted,
        score: Score | None,
        by: BackendSpec | None = None,
    ) -> float | None:
        """0-1; None when nothing is known: no token probabilities, and a text that looks sane.

        With `finish_reason` None, `text` is the beginning of an answer that still goes on. `score`
        is not used yet: token probabilities say more than the prompt, and no record holds both.
        `by` is who answered: what is known of its weights calibrates what is said of its answers.
        """
        del score, by
        if flaw(text, finish_reason=finish_reason, wanted=wanted) is not None:
            return FLAWED
        return self._curve.confidence([t.logprob for t in tokens]) if tokens else None

    def with_second(
        self,
        confidence: float | None,
        text: str,
        second: Said | str,
        *,
        wanted: Wanted,
        source: Source = "sample",
        second_confidence: float | None = None,
    ) -> float | None:
        """The confidence of the whole answer `text`, once a second one to the same request is known.

        `confidence` is what `confidence()` said of the first, `second_confidence` what it says of
        the second, where that was judged as well; `source` is where the second comes from. Never
        lower for a second answer that agrees, never higher for one that does not. None stays None,
        and a second answer with a visible flaw changes nothing.
        """
        del second_confidence
        said = second.text if isinstance(second, Said) else second
        if confidence is None or flaw(said, finish_reason="stop", wanted=wanted) is not None:
            return confidence
        found = agree(text, second, wanted.form, None, similarity_min=SAME)
        odds = math.log(max(confidence, 1e-6) / max(1 - confidence, 1e-6))
        shift = _SHIFTS[source]
        return 1.0 / (1.0 + math.exp(-(odds + (shift if found.agreed else -shift))))

    def settled(
        self, tokens: Sequence[Token], text: str, *, hold_tokens: int, wanted: Wanted, bound: float
    ) -> bool:
        """Whether the beginning of a stream is enough to decide its confidence.

        It is after `hold_tokens` tokens, and earlier when the answer is clearly good or visibly
        bad. JSON is held to its end: only then it shows whether it is any.
        """
        if flaw(text, finish_reason=None, wanted=wanted) is not None:
            return True
        if wanted.form == "json":
            return False
        if not tokens:
            return len(text) >= hold_tokens * TOKEN_CHARACTERS
        if len(tokens) >= hold_tokens:
            return True
        return len(tokens) >= CLEAR_TOKENS and self._is_clear(tokens, bound)

    def _is_clear(self, tokens: Sequence[Token], bound: float) -> bool:
        confidence = self._curve.confidence([token.logprob for token in tokens])
        return confidence >= bound + CLEAR_MARGIN
