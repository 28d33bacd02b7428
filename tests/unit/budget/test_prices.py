"""Prices come from the table or not at all (R60), and cost is never negative (R61)."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.budget.prices import Prices, cost, estimate
from hybridge.core.backend import FREE, Price
from hybridge.core.response import Usage

PRICE = Price(Decimal("2.5"), Decimal(10), Decimal("1.25"))
counts = st.integers(min_value=-1000, max_value=10**7)


def test_a_known_model_has_its_price() -> None:
    price = Prices().find("openai", "gpt-4o")
    assert price is not None
    assert price.output_usd > price.input_usd > 0
    assert price.cached_usd is not None
    assert price.cached_usd < price.input_usd


@pytest.mark.parametrize(
    ("provider", "model"),
    [("openai", "no-such-model"), ("no-such-provider", "gpt-4o"), ("openai", ""), ("", "gpt-4o")],
)
def test_an_unknown_model_is_not_free(provider: str, model: str) -> None:
    assert Prices().find(provider, model) is None


def test_a_price_is_looked_up_once() -> None:
    prices = Prices()
    assert prices.find("openai", "gpt-4o") is prices.find("openai", "gpt-4o")


def test_the_dearest_hour_counts() -> None:
    price = Prices().find("deepseek", "deepseek-chat")
    assert price == Price(Decimal("0.27"), Decimal("1.1"), Decimal("0.07"))


def test_other_names_of_providers() -> None:
    assert Prices().find("zhipu", "glm-4.5") == Prices().find("zhipuai", "glm-4.5")


def test_cached_tokens_have_their_own_price() -> None:
    assert cost(PRICE, Usage(1_000_000, 0)) == Decimal("2.5")
    assert cost(PRICE, Usage(1_000_000, 0, cached_tokens=400_000)) == Decimal("2.0")
    assert cost(PRICE, Usage(1_000_000, 100_000, cached_tokens=1_000_000)) == Decimal("2.25")


def test_tokens_put_into_a_cache_have_their_own_price() -> None:
    price = Price(Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"))
    usage = Usage(1_000_000, 0, cached_tokens=200_000, cache_written_tokens=400_000)
    assert cost(price, usage) == Decimal("0.06") + Decimal("1.5") + Decimal("1.2")
    assert cost(PRICE, usage) == cost(PRICE, Usage(1_000_000, 0, cached_tokens=200_000))
    known = Prices().find("anthropic", "claude-sonnet-4-5")
    assert known is not None
    assert known.cache_write_usd == Decimal("3.75")


def test_without_a_price_for_cached_tokens_they_cost_like_others() -> None:
    plain = Price(Decimal(1), Decimal(1))
    assert cost(plain, Usage(10, 0, cached_tokens=10)) == cost(plain, Usage(10, 0))


def test_no_price_no_cost() -> None:
    assert cost(None, Usage(10, 10)) is None
    assert cost(FREE, Usage(10, 10)) == 0


@given(counts, counts, counts)
def test_cost_lies_between_nothing_and_the_estimate(prompt: int, cached: int, written: int) -> None:
    actual = cost(PRICE, Usage(prompt, written, cached_tokens=cached))
    assert 0 <= actual <= estimate(PRICE, max(0, prompt), max(0, written))
