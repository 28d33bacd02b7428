"""Comparing settings of an encoder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from tests.unit.edge.onnx_graphs import table_graph

from hybridge.core.errors import ModelError
from hybridge.edge.encoder import SCORER
from hybridge.edge.encoder_bench import Timed, Trial, best, compare, graphs, proposal, trials
from hybridge.edge.scorer_config import ScorerConfig


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("encoder")
    (place / "small.onnx").write_bytes(table_graph(30522, 2))
    (place / "large.onnx").write_bytes(table_graph(30522, 4))
    shutil.copy(SCORER / "tokenizer.json", place)
    return place


def row(trial: Trial, p99_ms: float, texts_per_s: float) -> Timed:
    def same(value: float) -> Mapping[int, float]:
        return {16: value, 64: value, 128: value}

    return Timed(trial, same(p99_ms / 2), same(p99_ms), same(texts_per_s), 10)


def test_every_setting_is_tried_in_every_file() -> None:
    wanted = list(trials(["a", "b"], 4))
    assert len(wanted) == len(set(wanted))
    for file in ("a", "b"):
        own = [trial for trial in wanted if trial.file == file]
        assert {trial.threads for trial in own} == {1, 2, 4}
        assert {trial.runs for trial in own} == {1, 2, 4}
        assert {trial.batch for trial in own} == {1, 2, 4, 8, 16, 32}
        assert {trial.mode for trial in own} == {"sequential", "parallel"}
        assert {trial.optimisation for trial in own} == {"all", "extended", "basic", "none"}


def test_on_one_core_nothing_is_tried_twice() -> None:
    wanted = list(trials(["a"], 1))
    assert len(wanted) == len(set(wanted))


def test_of_the_fast_enough_the_busiest_is_best() -> None:
    one, two = row(Trial("a"), 6, 200), row(Trial("a", runs=2), 9, 390)
    slow = row(Trial("b", runs=2), 20, 900)
    rows = [one, two, row(Trial("b"), 12, 450), slow, row(Trial("a", batch=8), 40, 999)]
    assert best(rows) == two


def test_where_none_is_fast_enough_the_fastest_is_best() -> None:
    one, two = row(Trial("a"), 30, 30), row(Trial("a", threads=2), 20, 50)
    assert best([one, two, row(Trial("a", runs=2), 40, 60)]) == two


def test_a_folder_is_compared_within_its_time(folder: Path) -> None:
    shares: list[float] = []
    found = compare(folder, 2, 0.2, shares.append)
    assert {one.trial.file for one in found.rows} == {"small.onnx", "large.onnx"}
    assert all(one.rounds >= 2 for one in found.rows)
    assert all(found.steady.values())
    assert found.likeness == {"large.onnx": 1, "small.onnx": None}  # which is another model
    assert shares == sorted(shares)
    assert shares[-1] == 1
    pasted = yaml.safe_load(proposal(found))
    ScorerConfig.model_validate(pasted["scorer"])


@pytest.mark.parametrize("missing", ["model", "tokenizer"])
def test_what_is_missing_is_named(tmp_path: Path, missing: str) -> None:
    if missing == "tokenizer":
        (tmp_path / "model.onnx").write_bytes(table_graph(10, 2))
    with pytest.raises(ModelError, match=r"\.onnx" if missing == "model" else r"tokenizer\.json"):
        graphs(tmp_path)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"nonsense")
    shutil.copy(SCORER / "tokenizer.json", tmp_path)
    with pytest.raises(ModelError, match=r"model\.onnx cannot be loaded"):
        compare(tmp_path, 1, 0.1)
