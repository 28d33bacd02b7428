"""Clouds whose price nobody knows, told of at the start rather than at the end of the month."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from hybridge.budget.config import BudgetConfig
from hybridge.core.backend import BackendSpec
from hybridge.core.errors import ConfigError
from hybridge.core.request import Tier

_log = logging.getLogger("hybridge.budget")

_WAY_OUT = "give it a `price` (0 where it costs nothing)"


def check_prices(specs: Iterable[BackendSpec], config: BudgetConfig) -> None:
    """Warns of every cloud without a price and says what the budget does about it.

    Raises `ConfigError` where the policy is to refuse. To be called once, where a limit applies.
    """
    for spec in specs:
        if spec.tier is Tier.CLOUD and spec.price is None:
            _check(spec, config)


def _check(spec: BackendSpec, config: BudgetConfig) -> None:
    what = f"cloud backend `{spec.name}`: the price of {spec.model} is not known"
    if config.unpriced == "refuse":
        raise ConfigError(f"{what}, and `budget.unpriced` is `refuse`; {_WAY_OUT}")
    if config.unpriced == "assume":
        price = config.assumed_price
        rule = (
            f"budgets count it at the assumed {price.input_usd:f} USD per million tokens in and "
            f"{price.output_usd:f} out"
        )
    else:
        rule = "no budget can count it"
    _log.warning("%s; %s, and its cost is reported as unknown; %s", what, rule, _WAY_OUT)
