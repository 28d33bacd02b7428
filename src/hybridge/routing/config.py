"""The operator's side of routing."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from hybridge.core.config import Section
from hybridge.core.plan import Thresholds

SAMPLE = "sample"
"""In place of a backend's name: whoever gave the first answer."""


class SecondOpinionConfig(Section):
    """Section `routing.second_opinion`: a second edge answer, where the first is in doubt."""

    by: str = SAMPLE
    """`sample`: whoever gave the first answer is asked once more, at another seed and temperature
    0.7. Else the name of another edge backend: a larger model's answer tells far more of the first
    than another sample does."""
    low: float = Field(default=0.4, ge=0.0, le=1.0)
    """Confidence from which on a second answer is asked for; below it, the first is bad enough."""
    high: float = Field(default=0.8, ge=0.0, le=1.0)
    """Confidence from which on none is needed."""
    max_tokens: int = Field(default=64, ge=1, le=512)
    """Longest first answer that is checked so, and limit of the second."""
    timeout_s: float = Field(default=5.0, gt=0)
    """How long the second may take, and half of the time left at most; then the first stands."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"low ({self.low:g}) must be below high ({self.high:g})")
        return self


class RoutingConfig(Section):
    """Section `routing`."""

    edge_max: int = Field(default=4, ge=0, le=10)
    """Scores up to this one go to the edge."""
    cloud_min: int = Field(default=7, ge=1, le=11)
    """Scores from this one on go to the cloud; between the two both run (shadow)."""
    confidence_min: float = Field(default=0.7, ge=0.0, le=1.0)
    """An edge answer below this confidence is not returned but escalated."""
    confidence_unknown: Literal["accept", "escalate"] = "accept"
    """What to do with an edge answer that nothing can be said about."""
    second_opinion: SecondOpinionConfig | None = None
    """A second edge answer to compare with, where confidence alone does not decide. None: no second
    answer is asked for."""
    session_window: int = Field(default=3, ge=1, le=100)
    """How many of a session's last scores are averaged."""
    session_ttl_s: float = Field(default=1800.0, gt=0)
    """Seconds after which a silent session is forgotten."""
    hedge_after_ms: float | None = Field(default=None, gt=0)
    """In the shadow band: return a confident edge answer when the cloud has not begun by then."""
    hedge_confidence: float = Field(default=0.9, ge=0.0, le=1.0)
    """The confidence that such an edge answer needs."""
    hold_tokens: int = Field(default=24, ge=1, le=512)
    """Tokens of a streamed edge answer held back until its confidence is decided."""
    score_timeout_ms: float = Field(default=25.0, gt=0)
    """The scorer's deadline; later than that, the text features decide alone."""
    fallbacks: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """For a backend that callers name: backends to ask, in order, should it fail."""
    rules: Path | None = None
    """A `routing_rules.json` of your own; None: the shipped rules."""
    head: Path | None = None
    """A scorer head of your own; None: the shipped one."""
    adapter: Path | None = None
    """An adapter that `hybridge train` wrote for that head; None: only what is learned here."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.edge_max >= self.cloud_min:
            raise ValueError(
                f"edge_max ({self.edge_max}) must be below cloud_min ({self.cloud_min}): "
                "a score can go to one side only"
            )
        return self

    @property
    def thresholds(self) -> Thresholds:
        """The boundaries as routing uses them."""
        shipped = Thresholds()
        same = (self.edge_max, self.cloud_min) == (shipped.edge_max, shipped.cloud_min)
        return shipped if same else Thresholds(self.edge_max, self.cloud_min, "configured")
