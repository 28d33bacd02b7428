"""How sure the edge is of the answer it gave (R5): plain sense first, then what was fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridge.core.backend import BackendSpec
from hybridge.core.plan import Score
from hybridge.core.response import Token
from hybridge.execution import evidence, second
from hybridge.execution.form import flaw
from hybridge.execution.head import Head, shipped
from hybridge.execution.second import Source
from hybridge.execution.wanted import Wanted
from hybridge.learning.agreement import Said
from hybridge.learning.isotonic import Knots

FLAWED = 0.05
"""Confidence of an answer with a visible flaw (`docs/explanation/confidence.md`)."""
CLEAR_TOKENS = 8
"""A streamed answer is not judged on fewer tokens than this, unless it ends before."""
CLEAR_MARGIN = 0.1
"""Above the bound by this much after `CLEAR_TOKENS`, an answer is let go early."""
TOKEN_CHARACTERS = 3
"""Characters that stand for a token where the backend names none."""

Measured = Mapping[tuple[str, str], Knots]
"""By the backend's name and its weights' version: from the shipped confidence to what the
operator's own comparisons say of it (R22)."""


class Judge:
    """Judges answers by nothing but what the backend sent. Pure; a fraction of a millisecond."""

    def __init__(self, head: Head | None = None, measured: Measured | None = None) -> None:
        """Without a head of the operator's own, the shipped one."""
        self._head = head or shipped()
        self._measured = measured or {}

    @property
    def version(self) -> str:
        """Of the head; what was measured with another one says nothing of this one."""
        return self._head.version

    def recalibrate(self, measured: Measured) -> None:
        """From now on these curves hold, and no others (`learning.recalibration`)."""
        self._measured = measured

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
        is not used: beside the answer's own signs it adds nothing. `by` is who answered: weights
        that were measured have trees, wording and calibration of their own.
        """
        del score
        if flaw(text, finish_reason=finish_reason, wanted=wanted) is not None:
            return FLAWED
        said = _said(tokens)
        if not said:
            return None
        shown = evidence.features(said, text, finish_reason=finish_reason, wanted=wanted)
        version = by.version if by is not None else ""
        told = self._head.confidence(shown, version=version, wanted=wanted)
        own = self._measured.get((by.name, version)) if by is not None else None
        return told if own is None else own(told)

    def with_second(
        self,
        confidence: float | None,
        text: str,
        said: Said | str,
        *,
        wanted: Wanted,
        source: Source = "sample",
        version: str = "",
        second_confidence: float | None = None,
    ) -> float | None:
        """The confidence of the whole answer `text`, once a second one to its request is known.

        `confidence` is what `confidence()` said of the first, `second_confidence` what it says of
        the second, where that was judged as well; `source` is where the second comes from,
        `version` that of the weights that gave it. Never lower for a second answer that agrees,
        never higher for one that does not. None stays None, and a second answer with a visible flaw
        changes nothing.
        """
        other = said.text if isinstance(said, Said) else said
        weights = self._head.of_second(source, version)
        if confidence is None or weights is None:
            return confidence
        if flaw(other, finish_reason="stop", wanted=wanted) is not None:
            return confidence
        agreed = second.same(text, said, wanted)
        return second.moved(confidence, second_confidence, weights, agreed=agreed)

    def settled(
        self,
        tokens: Sequence[Token],
        text: str,
        *,
        hold_tokens: int,
        wanted: Wanted,
        bound: float,
        by: BackendSpec | None = None,
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
        if len(tokens) < CLEAR_TOKENS:
            return False
        told = self.confidence(tokens, text, finish_reason=None, wanted=wanted, score=None, by=by)
        return told is not None and told >= bound + CLEAR_MARGIN


def _said(tokens: Sequence[Token]) -> list[float]:
    """Log-probabilities, without that of the token that only ends the answer: streams and whole
    answers, engines and servers differ in whether they tell it."""
    said = [token.logprob for token in tokens]
    return said[:-1] if len(said) > 1 and not tokens[-1].text else said
