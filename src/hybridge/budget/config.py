"""Money, and what each API key may ask for."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import Field

from hybridge.core.config import Section


class AssumedPriceConfig(Section):
    """What a cloud without a known price is counted at, USD per million tokens.

    Dear on purpose, as the dearest widely used models: a budget that fires too early is noticed.
    """

    input_usd: Decimal = Field(default=Decimal(15), ge=0)
    """For what is sent."""
    output_usd: Decimal = Field(default=Decimal(75), ge=0)
    """For what comes back."""


class BudgetConfig(Section):
    """Section `budget`."""

    daily_usd: Decimal | None = Field(default=Decimal(100), ge=0)
    """All keys together, per day (UTC). None: no limit."""
    monthly_usd: Decimal | None = Field(default=None, ge=0)
    """All keys together, per calendar month (UTC). None: no limit."""
    unpriced: Literal["assume", "refuse", "allow"] = "assume"
    """What a budget does about a cloud model whose price nobody knows. `assume`: it is counted at
    `assumed_price`. `refuse`: this gateway does not start with one. `allow`: it passes, and no
    budget can count it. In reports and records its cost is unknown, never 0."""
    assumed_price: AssumedPriceConfig = AssumedPriceConfig()
    """The price that budgets count such a model at."""


class LimitsConfig(Section):
    """Section `limits`: for every API key that has none of its own, and for callers without one."""

    rpm: int | None = Field(default=None, ge=1)
    """Requests in any 60 seconds. None: no limit."""
    tpm: int | None = Field(default=None, ge=1)
    """Tokens in any 60 seconds, of prompts and answers. None: no limit."""
    max_parallel: int | None = Field(default=None, ge=1)
    """Requests under way at once. None: no limit."""
