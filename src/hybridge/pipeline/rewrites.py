"""The same graph in nodes that ONNX Runtime is quick at on a CPU. Needs the extra `export`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from onnxscript.rewriter import pattern
from onnxscript.rewriter import rewrite as apply

UNLIKELY = -40.0
"""A logit so far below the largest of its row has a share of e-40 of it, which no float feels.
From -87 on the share would be a subnormal number, and processors are many times slower with those.
"""
_LAST = -1


def rewrite(graph: onnx.ModelProto) -> onnx.ModelProto:
    """What PyTorch's exporter writes, lighter; any other graph as it is.

    Outputs stay, within float precision, and nodes that are not replaced keep their names.
    """
    typed = onnx.shape_inference.infer_shapes(graph)
    lighter: onnx.ModelProto = apply(typed, pattern_rewrite_rules=_RULES)
    return lighter


def _five_nodes(op: Any, x: Any) -> Any:
    return op.Mul(x, op.Mul(0.5, op.Add(op.Erf(op.Div(x, math.sqrt(2))), 1.0)))


def _gelu(op: Any, x: Any) -> Any:
    return op.Gelu(x, _domain="com.microsoft", _version=1)


def _softmax(op: Any, logits: Any) -> Any:
    return op.Softmax(logits, axis=_LAST, _outputs=["shares"])


def _without_subnormals(op: Any, logits: Any, **_matched: Any) -> Any:
    last = op.Constant(value=ir.tensor(np.array([_LAST], np.int64)))
    least = op.Constant(value=ir.tensor(np.array(UNLIKELY, np.float32)))
    below = op.Sub(logits, op.ReduceMax(logits, last, keepdims=1))
    return op.Softmax(op.Clip(below, least), axis=_LAST)


def _is_attention(_context: Any, logits: ir.Value, shares: ir.Value, **_matched: Any) -> bool:
    """Shares that values are multiplied with; in 32 bits, and not rewritten before."""
    maker = logits.producer()
    rewritten = maker is not None and maker.op_type == "Clip"
    readers = {reader.op_type for reader, _input in shares.uses()}
    return not rewritten and readers == {"MatMul"} and logits.dtype == ir.DataType.FLOAT


_RULES = pattern.RewriteRuleSet(
    [
        pattern.RewriteRule(_five_nodes, _gelu),
        pattern.RewriteRule(_softmax, _without_subnormals, _is_attention),
    ],
    commute=True,
)
