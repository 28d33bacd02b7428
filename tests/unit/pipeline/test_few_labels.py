"""What labels are worth: nothing leaks from those that are learned to those that are measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hybridge.pipeline import few_labels, train
from hybridge.pipeline.few_labels import learned
from hybridge.pipeline.outcomes import Row
from hybridge.routing.view import EMBEDDING, PRIOR, SIZE


def rows(gains: np.ndarray) -> list[Row]:
    return [
        Row(f"k{n}", f"g{n // 2}", 0, "made", "weak", "en", gain, 1.0)
        for n, gain in enumerate(gains)
    ]


def test_what_shows_in_the_views_is_learned() -> None:
    random = np.random.default_rng(0)
    gains = (random.random(600) < 0.5).astype(float)
    views = np.zeros((600, SIZE), np.float32)
    views[:, EMBEDDING.start] = np.where(gains > 0, 1, -1)
    found = learned(rows(gains), views, labels=60, draws=2)
    assert np.mean(found.prior) == pytest.approx(0.5, abs=0.02)
    assert min(found.adapter) > 0.7


def test_what_only_a_twin_could_tell_is_not() -> None:
    """Twins share a group and their luck; with one labelled the other is not asked about."""
    random = np.random.default_rng(1)
    gains = np.repeat((random.random(300) < 0.5).astype(float), 2)
    views = np.zeros((600, SIZE), np.float32)
    views[:, EMBEDDING] = np.repeat(random.normal(size=(300, 384)), 2, axis=0) / 384**0.5
    found = learned(rows(gains), views, labels=300, draws=3)
    assert np.mean(found.adapter) < 0.56


def test_the_command_prints_each_pair_and_the_mean(
    made, tmp_path: Path, capsys, monkeypatch
) -> None:
    files = made()
    monkeypatch.setattr(few_labels, "LEAST_ROWS", 100)
    for source in ("zeroeval", "mmlu_pro"):
        out = tmp_path / f"{source}.npz"
        train.main([*files.arguments, "--out", str(out), "--leave-out", source])
    arguments = files.arguments[:6]
    few_labels.main([*arguments, "--heads", str(tmp_path), "--labels", "40", "--draws", "2"])
    printed = capsys.readouterr().out
    assert "zeroeval gemma-2-2b-it en" in printed
    assert "mean" in printed.splitlines()[-1]


def test_views_hold_the_prior() -> None:
    from hybridge.routing.head import Head

    seen = few_labels.seen(Head.shipped(), "Prove it.", None)
    assert seen[PRIOR] != 0
    assert seen.shape == (SIZE,)
