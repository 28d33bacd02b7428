"""Training a head on made-up outcomes: it learns, it is calibrated, it refuses leaks."""

from __future__ import annotations

import dataclasses
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from hybridge.pipeline import outcomes, train, transfer
from hybridge.pipeline.design import Grams, Table
from hybridge.pipeline.outcomes import check_leakage, in_folds
from hybridge.routing.head import Head


def test_a_head_learns_what_fails_and_is_calibrated(made, tmp_path: Path) -> None:
    out = tmp_path / "head.npz"
    train.main([*made().arguments, "--out", str(out)])
    head, card = Head.load(out), json.loads((tmp_path / "head.card.json").read_text())
    hard, easy = "Prove a theorem about a bridge, case 7.", "Say something about a bridge, case 7."
    assert head.predict(hard, None).p > 0.6
    assert head.predict(easy, None).p < 0.4
    assert card["version"] == head.version
    assert card["sources"]["zeroeval"] == {
        "licence": "Apache-2.0", "rows": 240, "weak_models": ["gemma-2-2b-it"],
    }  # fmt: skip
    assert card["test_folds_small_models"]["text"]["en"]["auroc"] > 0.75
    assert card["test_folds_small_models"]["text"]["en"]["ece"] < 0.2


def test_the_same_outcomes_give_the_same_head(made) -> None:
    files = made()
    rows, prompts = outcomes.read(files.outcomes, files.groups, files.own)
    table = Table.of(prompts, files.embeddings)
    (one, _), (other, _) = train.train(rows, table), train.train(rows, table)
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_a_planted_leak_is_found(made) -> None:
    files = made(leak=True)
    rows, prompts = outcomes.read(files.outcomes, files.groups)
    with pytest.raises(SystemExit, match="group shared lies in two splits"):
        train.train(rows, Table.of(prompts, files.embeddings))


def test_a_prompt_in_two_splits_is_a_leak_too(made) -> None:
    files = made()
    rows, _ = outcomes.read(files.outcomes, files.groups)
    check_leakage(rows)
    twin = dataclasses.replace(rows[0], group="another", fold=2 if rows[0].fold != 2 else 5)
    with pytest.raises(SystemExit, match=f"prompt {twin.key}"):
        check_leakage([*rows, twin])


def test_a_source_without_a_licence_is_refused_for_training_only(made) -> None:
    files = made(("zeroeval", "someones_benchmark"))
    with pytest.raises(SystemExit, match="someones_benchmark"):
        outcomes.read(files.outcomes, files.groups)
    rows, _ = outcomes.read(files.outcomes, files.groups, training=False)
    assert {row.source for row in rows} == {"zeroeval", "someones_benchmark"}


def test_a_prompt_without_a_group_is_an_error(made, tmp_path: Path) -> None:
    files = made()
    (tmp_path / "none.csv.gz").write_bytes(gzip.compress(b"key,group,fold\n"))
    with pytest.raises(KeyError):
        outcomes.read(files.outcomes, tmp_path / "none.csv.gz")


def test_our_own_questions_about_one_thing_stay_together(made) -> None:
    files = made()
    rows, prompts = outcomes.read(files.outcomes, files.groups, files.own)
    own = [row for row in rows if row.source in outcomes.OWN]
    assert {row.source for row in own} == set(outcomes.OWN)
    assert all(row.key in prompts for row in own)
    assert len({(row.group, row.fold) for row in own}) == len({row.group for row in own}) == 48
    assert all(row.gain == row.fails for row in own)


def test_a_head_that_leaves_out_a_source_knows_nothing_of_it(made, tmp_path: Path) -> None:
    files, out = made(), tmp_path / "head.npz"
    train.main([*files.arguments, "--out", str(out), "--leave-out", "zeroeval"])
    sources = json.loads((tmp_path / "head.card.json").read_text())["sources"]
    assert sources.keys() == {"mmlu_pro", *outcomes.OWN}
    rows, _ = outcomes.read(files.outcomes, files.groups, files.own)
    twin = dataclasses.replace(rows[0], source="mmlu_pro", key="another")
    assert twin.group not in {row.group for row in train.without([*rows, twin], rows[0].source)}
    with pytest.raises(SystemExit, match="no such source"):
        train.without(rows, "nobody")


def test_the_transfer_never_trains_on_the_source_it_measures(made) -> None:
    files = made()
    rows, prompts = outcomes.read(files.outcomes, files.groups)
    backwards = [
        dataclasses.replace(row, fails=1.0 - row.fails) if row.source == "mmlu_pro" else row
        for row in rows
    ]
    lengths = {key: float(len(text)) for key, text in prompts.items()}
    table = Table.of(prompts, files.embeddings)
    for source, said in transfer.leave_one_out(backwards, backwards, table, lengths):
        assert said.auroc(transfer.TEXT) < 0.3, source


def test_the_transfer_prints_a_line_for_each_pair_and_the_means(made, capsys) -> None:
    files = made()
    transfer.main([*files.arguments, "--measure-only", str(files.outcomes)])
    printed = capsys.readouterr().out
    assert printed.count("mmlu_pro gemma-2-2b-it en") == 2
    assert "mean of all" in printed
    assert "lead over length" in printed


def test_folds_partition_the_rows(made) -> None:
    files = made()
    rows, _ = outcomes.read(files.outcomes, files.groups)
    parts = [in_folds(rows, folds) for folds in outcomes.SPLITS]
    assert sum(map(len, parts)) == len(rows)
    assert all(parts)


def test_sparse_products_are_those_of_the_dense_matrix() -> None:
    rows = [
        (np.array([0, 5]), np.array([0.6, 0.8], np.float32)),
        (np.zeros(0, np.int64), np.zeros(0, np.float32)),
        (np.array([5]), np.array([1.0], np.float32)),
    ]
    grams, weights = Grams(rows), np.arange(1 << 15, dtype=float)
    assert grams.dot(weights) == pytest.approx([4.0, 0.0, 5.0])
    assert grams.transposed_dot(np.array([1.0, 2.0, 3.0]))[[0, 5]] == pytest.approx([0.6, 3.8])
