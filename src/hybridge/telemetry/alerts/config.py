"""Who is told, and of what, when something is wrong."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from hybridge.core.config import Section
from hybridge.telemetry.config import web_address

ShapeName = Literal["json", "slack", "dingtalk", "feishu", "wecom"]
SIGNING: frozenset[ShapeName] = frozenset({"json", "dingtalk", "feishu"})
"""The shapes that know a signature."""


class WebhookConfig(Section):
    """One row of `alerts.webhooks`."""

    name: str = Field(min_length=1)
    """What logs call it."""
    url: str | None = None
    """Where to post. Most addresses are as good as a password: better use `url_env`."""
    url_env: str | None = None
    """Environment variable that holds the address; one of both is needed."""
    shape: ShapeName = "json"
    """Whose JSON it is: `json` is our own, with all fields; the others are what the group robots of
    Slack, DingTalk, Feishu (Lark) and WeCom take."""
    secret_env: str | None = None
    """Environment variable with the secret that messages are signed with: for `dingtalk` and
    `feishu` the robot's own, for `json` any."""

    _is_address = field_validator("url")(web_address)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.url is None) == (self.url_env is None):
            raise ValueError("needs either url_env, the name of a variable, or url")
        if self.secret_env is not None and self.shape not in SIGNING:
            raise ValueError(f"shape `{self.shape}` knows no signature; take secret_env away")
        return self


class AlertsConfig(Section):
    """Section `alerts`. Without a webhook nothing is told; Prometheus has the same rules."""

    webhooks: tuple[WebhookConfig, ...] = ()
    """Each is told everything."""
    cloud_daily_usd: Decimal | None = Field(default=Decimal(100), gt=0)
    """Cloud money in one day (UTC) from which on it is told. Where `budget.daily_usd` is not above
    it, 95 % of that budget count, since no budget is ever quite used up. None: never."""
    latency_ratio: float | None = Field(default=1.5, gt=1)
    """Mean latency of a tier in the last 5 minutes, as a multiple of its mean in the day before.
    None: never."""
    latency_min_requests: int = Field(default=30, ge=1)
    """Requests that each of both means needs."""
    agreement_drop: float | None = Field(default=0.15, gt=0, lt=1)
    """By how much the share of shadow comparisons that agree may be lower in the last 6 hours than
    in the week before. None: never."""
    agreement_min_comparisons: int = Field(default=50, ge=1)
    """Comparisons that each of both shares needs."""
    repeat_s: float = Field(default=300.0, ge=0)
    """Seconds that must lie between two alerts of the same thing, should it come and go."""
