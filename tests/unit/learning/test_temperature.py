"""Temperature scaling: it finds the temperature, keeps the order, and reads labels from tokens."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.learning.temperature import (
    COLDEST,
    HOTTEST,
    UNSEEN,
    fit,
    label_logits,
    probabilities,
)

LOGITS = st.lists(st.floats(-30, 30), min_size=2, max_size=6)


def drawn(temperature: float, n: int = 2000) -> tuple[list[list[float]], list[int]]:
    """Logits, and labels as a classifier of that temperature would have them."""
    rng = random.Random(1)
    records = [[rng.gauss(0, 3) for _ in range(3)] for _ in range(n)]
    labels = [rng.choices(range(3), probabilities(z, temperature))[0] for z in records]
    return records, labels


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_it_finds_the_temperature_of_the_records(temperature: float) -> None:
    assert fit(*drawn(temperature)) == pytest.approx(temperature, rel=0.1)


@given(LOGITS, st.floats(COLDEST, HOTTEST))
def test_probabilities_add_up_and_keep_the_order(logits: list[float], temperature: float) -> None:
    told = probabilities(logits, temperature)
    assert sum(told) == pytest.approx(1.0)
    for a, p in zip(logits, told, strict=True):
        for b, q in zip(logits, told, strict=True):
            assert a <= b or p >= q


@given(
    st.lists(
        st.tuples(st.lists(st.floats(-9, 9), min_size=3, max_size=3), st.integers(0, 2)),
        min_size=1,
        max_size=30,
    )
)
def test_it_stays_within_its_bounds(records: list[tuple[list[float], int]]) -> None:
    found = fit([logits for logits, _ in records], [label for _, label in records])
    assert COLDEST - 1e-9 <= found <= HOTTEST + 1e-9


def test_labels_are_read_from_the_first_token() -> None:
    top = {"pos": math.log(0.6), " Pos": math.log(0.2), "neg": math.log(0.1), "The": math.log(0.1)}
    positive, negative, neutral = label_logits(top, ["positive", "negative", "neutral"])
    assert positive == pytest.approx(math.log(0.8))
    assert negative == pytest.approx(math.log(0.1))
    assert neutral == UNSEEN
    assert label_logits({"正": -0.1}, ["正面", "负面"]) == [pytest.approx(-0.1), UNSEEN]
