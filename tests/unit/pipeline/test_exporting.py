"""Exporting from PyTorch. The first part reads folders; the rest needs the extra `export`."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridge.core.errors import ConfigError, ModelError
from hybridge.edge.embedder_config import EmbedderConfig
from hybridge.edge.sentence_model import SentenceModel
from hybridge.pipeline.exporting.folder import describe
from hybridge.pipeline.graph_runner import GraphRunner
from hybridge.pipeline.quantising.integers import Recipe, candidates
from hybridge.pipeline.quantising.quantise import run

needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "onnxscript")),
    reason='needs pip install "hybridge[export]", 800 MB: no part of the tests\' own packages',
)
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "weather", "is", "fine", "今", "天"]


def write(place: Path, **files: Any) -> Path:
    """`a__b` is the file b.json in the folder a."""
    for name, said in files.items():
        path = place / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(said))
    return place


@pytest.mark.parametrize(
    ("files", "kind", "pooling", "unit"),
    [
        ({"config": {"architectures": ["BertModel"]}}, "encoder", "mean", True),
        ({"config": {"architectures": ["BertForSequenceClassification"]}}, "classifier", "mean", True),
        (
            {"config": {"a": 1}, "1_Pooling__config": {"pooling_mode_cls_token": True}},
            "encoder", "cls", True,
        ),
        ({"config": {"a": 1}, "1_Pooling__config": {"pooling_mode": "cls"}}, "encoder", "cls", True),
        (
            {"config": {"a": 1}, "modules": [{"type": "x.Transformer"}, {"type": "x.Pooling"}]},
            "encoder", "mean", False,
        ),
    ],
)  # fmt: skip
def test_a_folder_says_what_it_is(
    tmp_path: Path, files: dict[str, Any], kind: str, pooling: str, unit: bool
) -> None:
    told = describe(write(tmp_path, **files))
    assert (told.kind, told.pooling, told.unit) == (kind, pooling, unit)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "no config.json"),
        ({"config": {"a": 1}, "modules": [{"type": "x.LSTM"}]}, "not known: LSTM"),
        (
            {"config": {"a": 1}, "modules": [{"type": "x.Normalize"}, {"type": "x.Dense"}]},
            "order that is not known: Normalize, Dense",
        ),
        (
            {
                "config": {"a": 1},
                "modules": [{"type": "x.Dense", "path": "2_Dense"}],
                "2_Dense__config": {"activation_function": "torch.nn.modules.activation.GELU"},
            },
            "wants torch.nn.modules.activation.GELU: only Identity and Tanh",
        ),
        (
            {"config": {"a": 1}, "1_Pooling__config": {"pooling_mode_max_tokens": True}},
            "wants max_tokens: only mean and cls",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused_with_its_reason(
    tmp_path: Path, files: dict[str, Any], said: str
) -> None:
    with pytest.raises(ModelError, match=said):
        describe(write(tmp_path, **files))


def bert(place: Path, *, classifier: bool = False) -> Path:
    """Random weights in Hugging Face's layout, with a vocabulary of a few words."""
    import torch
    import transformers

    torch.manual_seed(0)
    place.mkdir()
    (place / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    transformers.BertTokenizerFast(vocab_file=str(place / "vocab.txt")).save_pretrained(place)
    config = transformers.BertConfig(
        vocab_size=64, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=64, num_labels=3,
    )  # fmt: skip
    kind = transformers.BertForSequenceClassification if classifier else transformers.BertModel
    kind(config).save_pretrained(place)
    return place


def with_dense(place: Path, activation: str) -> Path:
    """Pooled vectors of 32 numbers become 48."""
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(1)
    kinds = {"Transformer": "", "Pooling": "1_Pooling", "Dense": "2_Dense", "Normalize": "3"}
    modules = [{"type": f"x.{kind}", "path": path} for kind, path in kinds.items()]
    write(place, modules=modules, **{"2_Dense__config": {"activation_function": activation}})
    weights = {"linear.weight": torch.randn(48, 32), "linear.bias": torch.randn(48)}
    save_file(weights, place / "2_Dense" / "model.safetensors")
    return place


@needs_torch
@pytest.mark.timeout(600)  # PyTorch's exporter takes its time
@pytest.mark.parametrize("classifier", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_a_model_goes_all_the_way_to_int8(tmp_path: Path, classifier: bool) -> None:
    from hybridge.pipeline.exporting.export import export

    source, out = bert(tmp_path / "bert", classifier=classifier), tmp_path / "fp32"
    done = export(source, out, source="a test")
    assert done.output == ("logits" if classifier else "sentence_embedding")
    assert ("token_type_ids" in done.inputs) is classifier
    assert done.parity.max_abs_difference < 1e-5
    assert "encoder.layer.0.attention.self.query/MatMul" in " ".join(candidates(out / "model.onnx"))
    runner = GraphRunner.of(out / "model.onnx", out / "tokenizer.json")
    batch = [runner.tokens("the weather"), runner.tokens("今天 the weather is fine")]
    alone = np.concatenate([runner.raw([tokens]) for tokens in batch])
    assert np.allclose(runner.raw(batch), alone, atol=1e-5)
    quantised = run(out, tmp_path / "int8", Recipe(), worst="auto")
    assert quantised.written
    assert json.loads((out / "export.json").read_text())["source"] == "a test"
    if not classifier:
        row = EmbedderConfig(name="own", model=str(tmp_path / "int8"))
        model = SentenceModel.load(row)
        assert model.dimensions == 32
        assert model.max_tokens == 64
    with pytest.raises(ConfigError, match="is there already"):
        export(source, out, source="a test")


@needs_torch
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("activation", ["torch.nn.modules.linear.Identity", "Tanh"])
def test_a_dense_layer_is_part_of_the_graph(tmp_path: Path, activation: str) -> None:
    from safetensors.numpy import load_file

    from hybridge.pipeline.exporting.export import export

    plain, source = bert(tmp_path / "plain"), with_dense(bert(tmp_path / "bert"), activation)
    write(plain, modules=[{"type": "x.Transformer"}, {"type": "x.Pooling"}])
    rows = []
    for folder in (plain, source):
        out = tmp_path / f"{folder.name}-fp32"
        export(folder, out, source="a test")
        runner = GraphRunner.of(out / "model.onnx", out / "tokenizer.json")
        rows.append(runner.raw([runner.tokens("the weather is fine")])[0])
    weights = load_file(source / "2_Dense" / "model.safetensors")
    led = weights["linear.weight"] @ rows[0] + weights["linear.bias"]
    led = np.tanh(led) if activation == "Tanh" else led
    assert np.allclose(rows[1], led / np.linalg.norm(led), atol=1e-5)


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_a_dense_layer_without_its_weights_is_refused(tmp_path: Path) -> None:
    from hybridge.pipeline.exporting.export import export

    source = with_dense(bert(tmp_path / "bert"), "Tanh")
    (source / "2_Dense" / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="holds no dense layer"):
        export(source, tmp_path / "out", source="a test")


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_a_folder_without_its_weights_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    from hybridge.pipeline.exporting.export import export

    source = bert(tmp_path / "bert")
    weights = load_file(source / "model.safetensors")
    del weights["encoder.layer.0.output.dense.weight"]
    save_file(weights, source / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lacks 1 weights, encoder\.layer\.0\.output"):
        export(source, tmp_path / "fp32", source="a test")
    assert not (tmp_path / "fp32").exists()
