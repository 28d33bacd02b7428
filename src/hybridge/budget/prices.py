"""What models cost, from a price table that is part of an installed package (R60).

The table is `genai-prices`; only its bundled data are read, never its network updates.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, overload

from hybridge.core.backend import Price
from hybridge.core.clock import Clock, SystemClock
from hybridge.core.response import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

_A_MILLIONTH = Decimal("0.000001")
_ALIASES = {"glm": "zhipuai", "kimi": "moonshotai", "zhipu": "zhipuai"}
"""Providers that the table knows by another name only."""


class Prices:
    """Prices of public providers' models. Each is looked up once."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._known: dict[tuple[str, str, bool], Price | None] = {}

    def find(self, provider: str, model: str, *, writes: bool = True) -> Price | None:
        """The price of a provider's model; None, never zero, when the table does not have it.

        Where prices vary with the time of day, the dearest hour's; where they rise with the length
        of the prompt, those of the shortest. `writes=False`: of a model that only reads, such as
        one for embeddings; the table has no price for what it never writes.
        """
        asked = (provider, model, writes)
        if asked not in self._known:
            called = _ALIASES.get(provider, provider)
            self._known[asked] = _find(called, model, self._clock.now(), writes=writes)
        return self._known[asked]


@overload
def cost(price: Price, usage: Usage) -> Decimal: ...
@overload
def cost(price: None, usage: Usage) -> None: ...
def cost(price: Price | None, usage: Usage) -> Decimal | None:
    """USD for an answer's tokens, cached ones at their own price; None when there is no price.

    Never negative, whatever an upstream counted.
    """
    if price is None:
        return None
    prompt = max(0, usage.prompt_tokens)
    cached = min(max(0, usage.cached_tokens), prompt)
    fresh = prompt * price.input_usd
    written = max(0, usage.completion_tokens) * price.output_usd
    if cached and price.cached_usd is not None:
        fresh -= cached * (price.input_usd - price.cached_usd)
    if usage.cache_written_tokens and price.cache_write_usd is not None:
        kept = min(max(0, usage.cache_written_tokens), prompt - cached)
        fresh += kept * (price.cache_write_usd - price.input_usd)
    return (fresh + written) * _A_MILLIONTH


def estimate(price: Price, prompt_tokens: int, max_tokens: int) -> Decimal:
    """USD that a request costs at most: nothing cached, the longest answer."""
    return (prompt_tokens * price.input_usd + max_tokens * price.output_usd) * _A_MILLIONTH


def _find(provider: str, model: str, now: datetime, *, writes: bool) -> Price | None:
    # A megabyte of data, of use only where a cloud is configured.
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, info = get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    dearest: Price | None = None
    for hour in range(24):
        price = _at(info, now.replace(hour=hour), writes=writes)
        if price is not None and (dearest is None or _dearer(price, dearest)):
            dearest = price
    return dearest


def _dearer(one: Price, other: Price) -> bool:
    return (one.output_usd, one.input_usd) > (other.output_usd, other.input_usd)


def _at(info: ModelInfo, moment: datetime, *, writes: bool) -> Price | None:
    """None where the table has only half of a price: a half is not a price."""
    prices = info.get_prices(moment)
    read, written = _flat(prices.input_mtok), _flat(prices.output_mtok)
    if read is None or (written is None and writes):
        return None
    cached, kept = _flat(prices.cache_read_mtok), _flat(prices.cache_write_mtok)
    return Price(read, written or Decimal(0), cached, kept)


def _flat(price: object) -> Decimal | None:
    """The price itself, or the first of those that rise with the prompt."""
    flat = getattr(price, "base", price)
    return flat if isinstance(flat, Decimal) else None
