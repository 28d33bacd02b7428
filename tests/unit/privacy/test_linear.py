"""Looking at a text costs in proportion to its length, whatever is in it.

What is counted are calls of functions and steps of their Python code, which do not depend on the
machine; what the patterns themselves may do is bounded by their repeats, which are looked at too.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest
from benchmarks.pii.adversarial import MORSELS
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridge.privacy import cues, detectors, normalise
from hybridge.privacy.finding import Level
from hybridge.privacy.scan import PIECE, detect
from hybridge.privacy.view import MOST


def steps(text: str) -> int:
    """Lines and calls of Python code, the C code they call included."""
    count = 0

    def trace(_frame: FrameType, _event: str, _argument: Any) -> None:
        nonlocal count
        count += 1

    sys.setprofile(trace)
    try:
        detect(text)
    finally:
        sys.setprofile(None)
    return count


def repeated(morsel: str, size: int) -> str:
    return (morsel * (size // len(morsel) + 1))[:size]


@pytest.mark.parametrize("morsel", MORSELS)
def test_four_times_the_text_is_at_most_four_times_the_work(morsel: str) -> None:
    once, four_times = steps(repeated(morsel, PIECE)), steps(repeated(morsel, 4 * PIECE))
    assert four_times <= 5 * once + 10_000
    assert four_times < 8 * 4 * PIECE  # a character costs little


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(MORSELS), min_size=2, max_size=6).map("".join))
def test_so_it_is_for_mixtures(morsel: str) -> None:
    once, four_times = steps(repeated(morsel, PIECE)), steps(repeated(morsel, 4 * PIECE))
    assert four_times <= 5 * once + 10_000


PARSER: Any = importlib.import_module("re._parser")
CONSTANTS: Any = importlib.import_module("re._constants")
REPEATS = (CONSTANTS.MAX_REPEAT, CONSTANTS.MIN_REPEAT)


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    modules = [cues, normalise, importlib.import_module("hybridge.privacy.view")]
    for found in pkgutil.iter_modules(detectors.__path__):
        modules.append(importlib.import_module(f"{detectors.__name__}.{found.name}"))
    for module in modules:
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                yield f"{module.__name__}.{name}", value


def unbounded(parsed: Any) -> Iterator[Any]:
    """Repeats without an end that give characters back when what follows does not match."""
    for op, argument in parsed:
        if op in REPEATS:
            _, most, inside = argument
            if most == CONSTANTS.MAXREPEAT:
                yield inside
            yield from unbounded(inside)
        else:
            for part in argument if isinstance(argument, tuple | list) else ():
                for inner in part if isinstance(part, list) else (part,):
                    if isinstance(inner, PARSER.SubPattern):
                        yield from unbounded(inner)


ENDLESS = {
    "cards._EVEN": "matches one short number",
    "phones._NUMBERS_BESIDE": "matches a few lengths",
    "hybridge.privacy.normalise._MANY_DIGITS": "matches one short number",
    "hybridge.privacy.normalise._NUMERAL_RUN": "a run that is long enough is a match",
    "credentials._ISSUED": "runs to the end of a key, which is a match",
    "numbers._GROUP": "runs over one short number",
    "emails._CLOSE": "runs over one short address",
    "addresses._CHINESE": "runs over a window of a hundred characters",
}
"""Patterns with a repeat without end, and why that is all right."""


def test_patterns_look_no_further_than_a_line_or_two() -> None:
    endless = {
        name.removeprefix("hybridge.privacy.detectors.")
        for name, pattern in patterns()
        if any(unbounded(PARSER.parse(pattern.pattern, pattern.flags)))
    }
    assert endless == set(ENDLESS)


@pytest.mark.parametrize(
    ("morsel", "kind"),
    [
        ("13800138000 ", "PHONE"),
        ("a@b.io ", "EMAIL"),
        ("4111 1111 1111 1111\n", "BANK_CARD"),
        ("京A12345 ", "PLATE"),
        ("536-22-1234, ", "US_SSN"),
    ],
)
def test_a_crowded_text_is_covered_as_a_whole(morsel: str, kind: str) -> None:
    text = repeated(morsel, 3 * PIECE)
    findings = detect(text)
    values = [match.span() for match in re.finditer(re.escape(morsel.strip(", \n")), text)]
    covered = bytearray(len(text))
    for finding in findings:
        assert finding.level >= Level.MEDIUM
        covered[finding.start : finding.end] = b"\x01" * (finding.end - finding.start)
    assert kind in {finding.type for finding in findings}
    assert all(all(covered[start:end]) for start, end in values)


def test_what_many_look_alikes_hide_is_found() -> None:
    decoys = "".join(f"12345{i:04d}, " for i in range(MOST))
    text = f"{decoys} 13912345678 {decoys}"
    assert "PHONE" in {f.type for f in detect(text) if f.level >= Level.MEDIUM}


def test_a_table_of_numbers_is_nobodys() -> None:
    rows = "\n".join(
        " ".join(str(1000 + (i * 37 + j * 911) % 9000) for j in range(9)) for i in range(400)
    )
    ids = "\n".join(str(1_700_000_000 + 7 * i) for i in range(2000))
    for text in (rows, ids, "10.0.0.1 up\n" * 2000, "0 1 1 0 " * 4000):
        assert [f for f in detect(text) if f.level >= Level.MEDIUM] == []
