"""Quantising to INT8: what it writes, what it refuses, and whom it blames."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from onnx import numpy_helper
from tests.unit.pipeline.tiny_models import SPOILT, folder, labelled

from hybridge.core.errors import ConfigError, ModelError
from hybridge.pipeline.graph_runner import GraphRunner
from hybridge.pipeline.quantising import integers
from hybridge.pipeline.quantising.integers import Recipe, candidates, four_bits
from hybridge.pipeline.quantising.judge import Judge, nearest_class
from hybridge.pipeline.quantising.quantise import run
from hybridge.pipeline.texts import SHIPPED, Labelled, read

LAYERS = ["words/Gather", "layer.0/MatMul", "layer.1/MatMul", "layer.2/MatMul"]


def kinds(path: Path) -> set[str]:
    return {node.op_type for node in onnx.load(path).graph.node}


def floats(path: Path) -> int:
    """Bytes of weights in 32 bits."""
    weights = onnx.load(path).graph.initializer
    return sum(numpy_helper.to_array(w).nbytes for w in weights if w.data_type == 1)


@pytest.mark.parametrize("mode", ["dynamic", "static"])
@pytest.mark.parametrize("embeddings", ["int4", "int8"])
def test_a_sound_model_is_written_with_what_belongs_to_it(
    tmp_path: Path, mode: integers.Mode, embeddings: integers.Embeddings
) -> None:
    source, out = folder(tmp_path / "fp32"), tmp_path / "int8"
    texts = labelled(tmp_path / "test.jsonl")
    done = run(source, out, Recipe(mode, embeddings), test=texts, calibration=texts)
    assert done.written
    assert done.verdict.loss <= 1
    assert done.verdict.all.cosine > 0.97
    assert {path.name for path in out.iterdir()} == {
        "model.onnx",
        "tokenizer.json",
        "config.json",
        "quantize.json",
    }
    assert floats(out / "model.onnx") < floats(source / "model.onnx") / 4
    wanted = {"dynamic": "MatMulInteger", "static": "QuantizeLinear"}[mode]
    assert wanted in kinds(out / "model.onnx")
    assert ("GatherBlockQuantized" in kinds(out / "model.onnx")) is (embeddings == "int4")
    told = json.loads((out / "quantize.json").read_text())
    assert told["recipe"] == {"mode": mode, "embeddings": embeddings, "exclude": []}


def test_the_layer_that_loses_the_most_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    source, out = folder(tmp_path / "fp32", spoilt=True), tmp_path / "int8"
    done = run(source, out, Recipe(), test=labelled(tmp_path / "test.jsonl"))
    assert not done.written
    assert done.verdict.loss > 1
    assert done.culprits[0].node == SPOILT
    assert done.culprits[0].harm > 10 * done.culprits[1].harm
    assert sorted(culprit.node for culprit in done.culprits) == sorted(LAYERS)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["fp32"]


@pytest.mark.parametrize("worst", ["auto", 1])
def test_as_few_layers_as_it_takes_stay_in_32_bits(tmp_path: Path, worst: int | str) -> None:
    source, out = folder(tmp_path / "fp32", spoilt=True), tmp_path / "int8"
    texts = labelled(tmp_path / "test.jsonl")
    done = run(source, out, Recipe(), test=texts, worst=worst)
    assert done.written
    assert done.recipe.exclude == (SPOILT,)
    by_hand = tmp_path / "by-hand"
    assert run(source, by_hand, Recipe(exclude=(SPOILT,)), test=texts).written
    assert (by_hand / "model.onnx").read_bytes() == (out / "model.onnx").read_bytes()


def test_nothing_is_excluded_where_nothing_has_to_be(tmp_path: Path) -> None:
    source, texts = folder(tmp_path / "fp32"), labelled(tmp_path / "test.jsonl")
    done = run(source, tmp_path / "int8", Recipe(), test=texts, worst="auto")
    assert done.written
    assert done.recipe.exclude == ()


def test_a_classifier_is_held_to_its_labels_or_to_itself(tmp_path: Path) -> None:
    source = folder(tmp_path / "fp32", classifier=True)
    texts = labelled(tmp_path / "test.jsonl")
    done = run(source, tmp_path / "int8", Recipe(), test=texts)
    assert done.verdict.test == "labels of the texts"
    assert done.verdict.all.fp32 > 95
    alone = run(source, tmp_path / "alone", Recipe())
    assert "own decisions" in alone.verdict.test
    assert alone.verdict.all.fp32 == 100


def test_a_label_that_the_classifier_does_not_know_is_named(tmp_path: Path) -> None:
    source, texts = folder(tmp_path / "fp32", classifier=True), tmp_path / "test.jsonl"
    texts.write_text('{"text": "east1", "label": "up"}')
    with pytest.raises(ConfigError, match="label `up`; it knows: north, east, south, west"):
        run(source, tmp_path / "int8", Recipe(), test=texts)


def test_what_cannot_be_done_is_said_before_any_work(tmp_path: Path) -> None:
    source = folder(tmp_path / "fp32")
    with pytest.raises(ConfigError, match="no layer `layer.9` is quantised; there are:\n  words"):
        run(source, tmp_path / "int8", Recipe(exclude=("layer.9",)))
    with pytest.raises(ConfigError, match="is there already"):
        run(source, source, Recipe())
    with pytest.raises(ConfigError, match="hybridge models export"):
        run(tmp_path / "nothing", tmp_path / "int8", Recipe())
    (source / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError, match="cannot be optimised"):
        run(source, tmp_path / "int8", Recipe())
    assert not (tmp_path / "int8").exists()


def test_only_weights_are_candidates(tmp_path: Path) -> None:
    assert candidates(folder(tmp_path) / "model.onnx") == LAYERS


blocks = arrays(
    np.float32,
    (3, 2 * integers.BLOCK),
    elements=st.floats(-1e3, 1e3, width=32, allow_subnormal=False),
)


@settings(deadline=None)
@given(blocks)
def test_four_bits_are_never_further_off_than_plain_rounding(table: np.ndarray) -> None:
    packed, scales = four_bits(table)
    low, high = (packed & 15).astype(np.int8), (packed >> 4).astype(np.int8)
    steps = np.stack([low, high], axis=-1).reshape(table.shape)
    steps = np.where(steps > 7, steps - 16, steps).reshape(3, 2, integers.BLOCK)
    off = np.square(steps * scales[..., None] - table.reshape(steps.shape)).sum(axis=-1)
    widest = np.abs(table.reshape(steps.shape)).max(axis=-1)
    # The step of a block is an eighth of its largest number; half of it is the most for each
    # number, but for one of the other sign, which is off by a whole step at the most.
    assert np.all(off <= integers.BLOCK * np.square(widest / 8) * 1.001 + 1e-6)


def test_the_runtime_reads_four_bits_as_they_were_written(tmp_path: Path) -> None:
    """The table's own rows come back, within half a step of their block."""
    source = folder(tmp_path / "fp32")
    texts = labelled(tmp_path / "test.jsonl")
    others = tuple(LAYERS[1:])
    run(source, tmp_path / "int4", Recipe(exclude=others), test=texts)
    words = ["north3", "west15 east0"]
    tokenizer = source / "tokenizer.json"
    ours = GraphRunner.of(tmp_path / "int4" / "model.onnx", tokenizer).rows(words)
    theirs = GraphRunner.of(source / "model.onnx", tokenizer).rows(words)
    assert 0 < np.abs(ours - theirs).max() < 0.5


def test_the_nearest_class_is_found_without_the_text_itself() -> None:
    rows = np.array([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9], [1, 0]], np.float32)
    right = nearest_class(rows, np.array([0, 0, 1, 1, 1]))
    assert right.tolist() == [True, True, True, True, False]


def test_figures_are_told_by_language() -> None:
    texts = [Labelled("a", "x", "en"), Labelled("b", "y", "en"), Labelled("c", "x", "zh")]
    fp32 = np.array([[2, 1], [1, 2], [2, 1]], np.float32)
    verdict = Judge("classifier", texts, fp32, ["x", "y"]).judge(fp32[:, ::-1])
    assert verdict.languages["en"].int8 == 0
    assert verdict.languages["zh"].texts == 1
    assert verdict.loss == 100
    assert not verdict.passes


def test_the_shipped_texts_are_balanced() -> None:
    texts = read(SHIPPED)
    groups = [(text.label, text.language) for text in texts]
    assert len(texts) == len({text.text for text in texts}) == 360
    assert {groups.count(group) for group in groups} == {15}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "line 1: not JSON"),
        ('["a"]', "line 1: wants an object with `text`"),
        ('{"text": ""}', "which is not empty"),
        ('{"text": "a"}', "`label` is a text or a whole number"),
        ("", "holds no text"),
    ],
)
def test_a_test_that_cannot_be_read_names_file_and_line(
    tmp_path: Path, line: str, said: str
) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text(line)
    with pytest.raises(ConfigError, match=rf"test\.jsonl.*{said}"):
        read(path)
