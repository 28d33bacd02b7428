"""What the gateway learns from comparing both tiers."""

from __future__ import annotations

from decimal import Decimal

from pydantic import Field

from hybridge.core.config import Section


class JudgeConfig(Section):
    """Section `learning.judge`: a cloud that compares answers where nothing exact can be."""

    backend: str
    """Name of a cloud backend; better one of another family than those whose answers it compares,
    for models favour their own. Only requests that hold no personal data are put before it."""
    daily_usd: Decimal = Field(default=Decimal("0.5"), ge=0)
    """Its money per day. It counts for `budget`, too."""
    timeout_s: float = Field(default=20.0, gt=0)
    """How long it may take for one comparison; then similarity decides."""


class LearningConfig(Section):
    """Section `learning`."""

    alpha: float = Field(default=0.1, gt=0, lt=1)
    """Accepted share of requests kept on the edge that the cloud would have answered better."""
    delta: float = Field(default=0.05, gt=0, lt=1)
    """Accepted probability that the promise about `alpha` does not hold."""
    similarity_min: float = Field(default=0.85, ge=0, le=1)
    """Answers at least this similar agree, where nothing more exact can be compared."""
    shadow_daily_usd: Decimal = Field(default=Decimal(1), ge=0)
    """Cloud money per day for comparisons that the request itself did not need."""
    shadow_rate: float = Field(default=0.0, ge=0, le=1)
    """Share of requests outside the band that are compared all the same, at random."""
    shadow_queue: int = Field(default=32, ge=0)
    """Comparisons that may wait; more are dropped and counted."""
    shadow_concurrency: int = Field(default=1, ge=1)
    """Comparisons that run at once."""
    shadow_timeout_s: float = Field(default=60.0, gt=0)
    """How long the edge may take for a comparison."""
    keep_views: bool = True
    """Whether a comparison keeps numbers about its prompt, so that an adapter can be fitted to your
    models. They are no text, but tell what it was about: see docs/explanation/privacy.md. False: no
    adapter."""
    half_life_days: float = Field(default=30.0, gt=0)
    """After so many days a comparison counts half, and after twice as many a quarter."""
    judge: JudgeConfig | None = None
    """A cloud that says whether two answers serve equally well. None: their similarity decides."""
