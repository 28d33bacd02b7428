"""deploy/prometheus/alerts.yml says what the built-in rules say."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from hybridge.budget.config import BudgetConfig
from hybridge.telemetry.alerts.alert import Name
from hybridge.telemetry.alerts.config import AlertsConfig
from hybridge.telemetry.alerts.rules import cost_limit
from hybridge.telemetry.metrics import Metrics

FILE = Path(__file__).parents[3] / "deploy/prometheus/alerts.yml"
RULES = {
    rule["labels"]["alert"]: rule
    for group in yaml.safe_load(FILE.read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
}
CONFIG = AlertsConfig()


def numbers(alert: Name) -> set[float]:
    """Those that something is compared with."""
    return {float(n) for n in re.findall(r"(?:[<>=]|- )\s*([\d.]+)\b", RULES[alert]["expr"])}


def test_there_is_a_rule_for_every_alert():
    assert set(RULES) == set(Name)
    assert all(rule["annotations"]["summary"] for rule in RULES.values())


def test_every_metric_in_them_exists():
    known: set[str] = set()
    for collector in Metrics().registry._collector_to_names:
        for family in collector.describe():
            ends = {"counter": ("_total",), "histogram": ("_sum", "_count", "_bucket")}
            known |= {family.name + end for end in ends.get(family.type, ("",))}
    for rule in RULES.values():
        assert set(re.findall(r"\bhybridge_\w+", rule["expr"])) <= known


def test_the_numbers_are_the_defaults():
    assert numbers(Name.CLOUD_COST) == {
        float(cost_limit(CONFIG.cloud_daily_usd, BudgetConfig().daily_usd))
    }
    assert numbers(Name.LATENCY) == {CONFIG.latency_ratio, CONFIG.latency_min_requests}
    assert numbers(Name.AGREEMENT) == {CONFIG.agreement_drop, CONFIG.agreement_min_comparisons}
