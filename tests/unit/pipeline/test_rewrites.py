"""Rewriting a graph: lighter nodes, the same numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from hybridge.core.errors import ModelError
from hybridge.pipeline.graphs import optimise
from hybridge.pipeline.rewrites import UNLIKELY, rewrite

Floats = np.ndarray[Any, np.dtype[np.float32]]

TOKENS, WIDTH = 12, 8
SHAPE = (1, TOKENS, WIDTH)
SMALLEST = float(np.finfo(np.float32).tiny)
"""Below it numbers are subnormal."""


def constant(name: str, value: float) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=helper.make_tensor(name, 1, [], [value]))


def block(*, swapped: bool = False) -> onnx.ModelProto:
    """Attention, then GELU in five nodes, as PyTorch's exporter writes them; a softmax at the end."""
    half = ["half", "one_more"][:: -1 if swapped else 1]
    nodes = [
        constant("root", math.sqrt(2)),
        constant("one", 1.0),
        constant("half", 0.5),
        helper.make_node("Transpose", ["k"], ["kt"], "keys/Transpose", perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "kt"], ["logits"], "scores/MatMul"),
        helper.make_node("Softmax", ["logits"], ["shares"], "self/Softmax", axis=-1),
        helper.make_node("MatMul", ["shares", "v"], ["mixed"], "values/MatMul"),
        helper.make_node("Div", ["mixed", "root"], ["by_root"], "act/Div"),
        helper.make_node("Erf", ["by_root"], ["erf"], "act/Erf"),
        helper.make_node("Add", ["erf", "one"], ["one_more"], "act/Add"),
        helper.make_node("Mul", half, ["gate"], "act/Mul"),
        helper.make_node("Mul", ["mixed", "gate"], ["gelu"], "act/Mul_"),
        helper.make_node("Softmax", ["gelu"], ["labels"], "head/Softmax", axis=-1),
    ]
    floats = [helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE) for name in "qkv"]
    told = [
        helper.make_tensor_value_info("gelu", TensorProto.FLOAT, SHAPE),
        helper.make_tensor_value_info("labels", TensorProto.FLOAT, SHAPE),
    ]
    graph = helper.make_graph(nodes, "block", floats, told)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def run(model: onnx.ModelProto, feeds: dict[str, Floats], *more: str) -> list[Floats]:
    """The graph's outputs, and those of the nodes that are named."""
    told = onnx.ModelProto()
    told.CopyFrom(model)
    for name in more:
        told.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(
        told.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, feeds))


def drawn(scale: float, seed: int) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    return {
        name: (rng.normal(size=SHAPE) * (scale if name == "q" else 1)).astype(np.float32)
        for name in "qkv"
    }


def kinds(model: onnx.ModelProto) -> dict[str, str]:
    """The operator of each node, by name."""
    return {node.name: node.op_type for node in model.graph.node}


@settings(max_examples=40, deadline=None)
@given(
    scale=st.sampled_from([0.0, 0.1, 1.0, 30.0, 300.0]),
    seed=st.integers(0, 999),
    swapped=st.booleans(),
)
def test_the_numbers_stay_and_none_is_subnormal(scale: float, seed: int, swapped: bool) -> None:
    model, feeds = block(swapped=swapped), drawn(scale, seed)
    lighter = rewrite(block(swapped=swapped))
    (softmax,) = [
        node.output[0]
        for node in lighter.graph.node
        if node.op_type == "Softmax" and node.output[0] != "labels"
    ]
    before, after = run(model, feeds), run(lighter, feeds, softmax)
    for one, other in zip(before, after[:2], strict=True):
        np.testing.assert_allclose(one, other, atol=2e-6, rtol=1e-5)
    assert after[2].min() >= math.exp(UNLIKELY) / TOKENS * 0.99 > SMALLEST


def test_wide_logits_were_subnormal_before() -> None:
    """Else the test above shows nothing."""
    (*_, shares) = run(block(), drawn(30.0, 0), "shares")
    assert ((shares > 0) & (shares < SMALLEST)).any()


def test_only_what_is_slow_is_replaced_and_the_rest_keeps_its_name() -> None:
    before, after = kinds(block()), kinds(rewrite(block()))
    assert sorted(after.values()).count("Gelu") == 1
    assert "Erf" not in after.values()
    kept = ["keys/Transpose", "scores/MatMul", "values/MatMul", "head/Softmax"]
    assert {name: after.get(name) for name in kept} == {name: before[name] for name in kept}
    assert "self/Softmax" not in after


def test_what_was_rewritten_once_stays() -> None:
    once = rewrite(block())
    assert sorted(kinds(rewrite(once)).values()) == sorted(kinds(once).values())


def test_shares_in_16_bits_stay() -> None:
    """Their smallest number is nearer than the bound."""
    half = block()
    for value in (*half.graph.input, *half.graph.output):
        value.type.tensor_type.elem_type = TensorProto.FLOAT16
    for node in half.graph.node:
        if node.op_type == "Constant":
            narrow = numpy_helper.to_array(node.attribute[0].t).astype(np.float16)
            node.attribute[0].t.CopyFrom(numpy_helper.from_array(narrow))
    assert "self/Softmax" in kinds(rewrite(half))


def test_a_file_that_is_no_graph_is_refused_by_name(tmp_path) -> None:
    source = tmp_path / "model.onnx"
    source.write_bytes(b"no graph")
    with pytest.raises(ModelError, match=r"model\.onnx cannot be optimised"):
        optimise(source, tmp_path / "out.onnx")
