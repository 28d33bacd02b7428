"""Writes the figures into the page on confidence, between its markers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.measured import table

SHARES = (0, 1, 2, 3, 5, 7, 9)
"""Tenths of the requests that go to the cloud, of those that are shown."""
POLICIES = ("prompt's length", "prompt's score", "judge", "judge + second model")


def fill(page: Path, found: Mapping[str, Any]) -> None:
    """Puts the tables in. Raises `ValueError` where the page lacks a marker."""
    text = page.read_text("utf-8")
    perfect, fallible = found["curves"].values()
    tables = {
        "groups": _groups(found["groups"]),
        "curves": _curves(perfect),
        "curves of a fallible cloud": _curves(fallible),
        "seconds": _seconds(found["groups"]),
        "streaming": _streaming(found["streaming"]),
        "time": f"An answer of 200 tokens is judged in {found['judged_ms']:.2f} ms (median).",
    }
    for name, filled in tables.items():
        marked = rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)"
        text, times = re.subn(marked, rf"\g<1>{filled}\n\g<2>", text, flags=re.DOTALL)
        if times != 1:
            raise ValueError(f"{page}: one place for {name!r} is needed, there are {times}")
    page.write_text(text, "utf-8")


def _groups(groups: Mapping[str, Any]) -> str:
    head = (
        "answers of",
        "n",
        "right",
        "AUROC",
        "95 %",
        "ECE",
        "by chance",
        "reach .7",
        "of those right",
    )
    return table(head, [[name, *_figures(one)] for name, one in groups.items()])


def _figures(one: Mapping[str, Any]) -> list[str]:
    low, high = one["auroc_interval"]
    right = one["right_of_passed"]
    return [
        str(one["answers"]),
        _percent(one["right"]),
        _short(one["auroc"]),
        f"{_short(low)}-{_short(high)}",
        _short(one["ece"]),
        _short(one["ece_by_chance"]),
        _percent(one["passed"]),
        "-" if right is None else _percent(right),
    ]


def _seconds(groups: Mapping[str, Any]) -> str:
    head = (
        "answers of",
        "second answer of",
        "n",
        "AUROC alone",
        "with it",
        "95 %",
        "ECE",
        "asked for",
        "always asked",
    )
    rows = []
    for name, one in groups.items():
        for second, figures in one["seconds"].items():
            low, high = figures["auroc_interval"]
            told = _short(figures["alone"]), _short(figures["auroc"])
            interval = f"{_short(low)}-{_short(high)}"
            asked = _short(figures["ece"]), _percent(figures["asked"]), _short(figures["always"])
            rows.append([name, second, str(figures["answers"]), *told, interval, *asked])
    return table(head, rows)


def _curves(groups: Mapping[str, Any]) -> str:
    head = ("edge", "routed by", *(f"{10 * share} %" for share in SHARES))
    rows = [
        [name, policy, *(_short(curves[policy][share]) for share in SHARES)]
        for name, curves in groups.items()
        for policy in POLICIES
        if policy in curves
    ]
    return table(head, rows)


def _streaming(groups: Mapping[str, Any]) -> str:
    head = ("answers of", "tokens", "longer", "decide alike", "let go wrongly")
    rows = [
        [
            name,
            str(tokens),
            str(one["answers"]),
            _percent(one["alike"]),
            _percent(one["let_go_wrongly"]),
        ]
        for name, by_tokens in groups.items()
        for tokens, one in by_tokens.items()
    ]
    return table(head, rows)


def _short(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}".removeprefix("0")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
