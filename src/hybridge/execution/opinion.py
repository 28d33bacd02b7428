"""A second answer to the same request, as far as it says something about the first (R5)."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from hybridge.core.request import Feature, Request
from hybridge.execution.confidence import Judge
from hybridge.execution.second import Source
from hybridge.execution.wanted import Wanted
from hybridge.learning.agreement import Said

SAMPLED_AT = 0.7
"""Temperature of another sample of the same model: at 0 it would say the same again."""
SEED = 20
"""Of a sample, where the caller gave none; else the caller's, plus one."""
_LEFT_OUT = frozenset(
    {"max_completion_tokens", "max_tokens", "stream", "stream_options", "temperature", "seed"}
    | {"top_p", "top_k", "min_p", "logprobs", "top_logprobs"}
)
"""Fields that are set anew, or that would keep a sample from being another one."""


class Terms(Struct, frozen=True):
    """When a second opinion is asked for, and of whom."""

    backend: str | None
    """An edge backend; None: whoever gave the first answer."""
    low: float
    """Confidence from which on one is asked for, 0-1."""
    high: float
    """Confidence from which on none is needed."""
    max_tokens: int
    """Longest first answer, and limit of the second."""
    timeout_s: float
    """How long it may take, seconds."""
    similarity_min: float = 0.85
    """From which on two texts mean the same (SPEC R21)."""


class Opinion(Struct, frozen=True):
    """What a second answer says about the first."""

    by: str
    """Name of the backend that gave it."""
    version: str
    """Of that backend's weights."""
    source: Source
    said: Said
    """What the judge compares with the first answer. A paraphrase of that stands here in the first
    one's own words, for the judge looks at spelling."""
    agreed: bool
    confidence: float | None
    """As the judge sees the second answer by itself."""

    @property
    def reason(self) -> str:
        """For the decision's reasons."""
        verdict = "agreed" if self.agreed else "disagreed"
        by = "" if self.source == "sample" else f", by {self.by},"
        return f"a second answer{by} {verdict}"

    def weigh(
        self, judge: Judge, confidence: float | None, text: str, wanted: Wanted
    ) -> float | None:
        """The confidence of the first answer in the light of this one, by what was fitted for
        whoever gave it."""
        return judge.with_second(
            confidence,
            text,
            self.said,
            wanted=wanted,
            source=self.source,
            version=self.version,
            second_confidence=self.confidence,
        )


def ask_again(request: Request, source: Source, max_tokens: int) -> Request:
    """The request as it is put a second time: in one piece, short, and drawn anew.

    Another model gives the answer that it holds likeliest; the same one is sampled.
    """
    limit = min(max_tokens, request.max_tokens or max_tokens)
    body = {key: value for key, value in request.body.items() if key not in _LEFT_OUT}
    body |= {"max_tokens": limit, "temperature": 0.0}
    if source == "sample":
        body |= {"temperature": SAMPLED_AT, "seed": _another(request.body.get("seed"))}
    return replace(
        request,
        body=body,
        stream=False,
        include_usage=False,
        max_tokens=limit,
        features=request.features - {Feature.LOGPROBS},
    )


def _another(seed: object) -> int:
    return seed + 1 if isinstance(seed, int) else SEED
