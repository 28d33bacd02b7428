"""Money."""

from __future__ import annotations

from decimal import Decimal

from pydantic import Field

from hybridge.core.config import Section


class BudgetConfig(Section):
    """Section `budget`."""

    daily_usd: Decimal | None = Field(default=Decimal(100), ge=0)
    """All keys together, per day (UTC). None: no limit."""
    monthly_usd: Decimal | None = Field(default=None, ge=0)
    """All keys together, per calendar month (UTC). None: no limit."""
