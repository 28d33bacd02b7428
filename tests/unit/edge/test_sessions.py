"""What computes, and why not what would be better. No GPU is needed: what is missing is missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper
from tests.unit.edge.onnx_graphs import table_graph

from hybridge.edge.encoder import SCORER, Encoder
from hybridge.edge.sessions import (
    CPU,
    PROVIDERS,
    Hardware,
    gpu_is_here,
    open_best,
    session_options,
    wanted,
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "table.onnx"
    path.write_bytes(table_graph(30522, 4))
    return path


def providers(session: ort.InferenceSession) -> list[str]:
    found: list[str] = session.get_providers()
    return found


@pytest.mark.parametrize(
    ("asked", "order"),
    [
        ("auto", PROVIDERS),
        ("cuda", ("CUDAExecutionProvider", CPU)),
        ("tensorrt", ("TensorrtExecutionProvider", CPU)),
        ("cpu", (CPU,)),
    ],
)
def test_the_order(asked: str, order: tuple[str, ...]) -> None:
    assert tuple(wanted(asked)) == order  # type: ignore[arg-type]


def test_without_a_gpu_the_processor_computes_and_says_so(model: Path) -> None:
    opened = open_best(model, Hardware(), 1, providers, built_with=PROVIDERS, has_device=False)
    assert (opened.made, opened.provider) == ([CPU], CPU)
    assert opened.passed_over == (
        "TensorRT: no NVIDIA GPU on this machine",
        "CUDA: no NVIDIA GPU on this machine",
    )


def test_the_package_that_has_it_is_named(model: Path) -> None:
    opened = open_best(model, Hardware("cuda"), 1, providers, built_with=[CPU], has_device=True)
    assert opened.provider == CPU
    (why,) = opened.passed_over
    assert "pip install onnxruntime-gpu" in why


@pytest.mark.skipif(
    len(set(PROVIDERS) & set(ort.get_available_providers())) > 1, reason="this one has a GPU build"
)
def test_libraries_that_cannot_be_loaded_are_named_and_the_next_is_tried(
    model: Path, tmp_path: Path
) -> None:
    """This build takes the request for CUDA and opens without it: so do missing libraries."""
    hardware = Hardware(cache=tmp_path / "engines")
    opened = open_best(model, hardware, 1, providers, built_with=PROVIDERS, has_device=True)
    assert opened.provider == CPU
    assert [why.partition(":")[0] for why in opened.passed_over] == ["TensorRT", "CUDA"]
    assert all("could not be loaded" in why for why in opened.passed_over)


def test_what_the_processor_fails_on_is_an_error(model: Path) -> None:
    def fails(_: ort.InferenceSession) -> None:
        raise ValueError("no good")

    with pytest.raises(ValueError, match="no good"):
        open_best(model, Hardware("cpu"), 1, fails)


def test_a_gpu_is_where_the_driver_says_so(tmp_path: Path) -> None:
    assert not gpu_is_here([tmp_path / "none"])
    assert gpu_is_here([tmp_path / "none", tmp_path])


def test_an_encoder_falls_back_with_a_warning(
    model: Path, caplog: pytest.LogCaptureFixture
) -> None:
    if gpu_is_here():
        pytest.skip("there is a GPU here")
    with caplog.at_level("INFO", "hybridge.encoder"):
        words = SCORER / "tokenizer.json"
        encoder = Encoder.load(model, words, threads=1, hardware=Hardware("cuda"))
        Encoder.load(model, words, threads=1).close()
    assert encoder.provider == CPU
    assert encoder.dimensions == 4
    encoder.close()
    named, by_itself = caplog.records
    assert (named.levelname, by_itself.levelname) == ("WARNING", "INFO")
    assert "CUDA: no NVIDIA GPU" in named.getMessage()


def layer(path: Path) -> Path:
    """A sum that is normalised, and one with a bias that goes through GELU."""
    floats = {
        name: helper.make_tensor_value_info(name, 1, [1, 4, 16]) for name in ("x", "y", "out")
    }
    ones = [numpy_helper.from_array(np.ones(16, np.float32), name) for name in ("scale", "bias")]
    nodes = [
        helper.make_node("Add", ["x", "y"], ["sum"]),
        helper.make_node("LayerNormalization", ["sum", "scale", "bias"], ["normed"]),
        helper.make_node("Add", ["normed", "bias"], ["more"]),
        helper.make_node("Gelu", ["more"], ["out"], domain="com.microsoft"),
    ]
    graph = helper.make_graph(nodes, "layer", [floats["x"], floats["y"]], [floats["out"]], ones)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
    return path


def kernels(model: Path, options: ort.SessionOptions) -> set[str]:
    """What ONNX Runtime makes of a graph."""
    made = model.with_name("made.onnx")
    options.optimized_model_filepath = str(made)
    options.log_severity_level = 3
    ort.InferenceSession(str(model), options, providers=[CPU])
    return {node.op_type for node in onnx.load(made).graph.node}


def test_nodes_are_not_fused_into_slower_ones(tmp_path: Path) -> None:
    slow = {"SkipLayerNormalization", "BiasGelu"}
    model = layer(tmp_path / "layer.onnx")
    assert slow <= kernels(model, ort.SessionOptions())
    assert not slow & kernels(model, session_options(1))
    assert slow <= kernels(model, session_options(1, PROVIDERS[1])), "a GPU has kernels of its own"
