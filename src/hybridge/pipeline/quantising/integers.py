"""Weights as whole numbers of eight bits, embeddings of four or eight. Needs the extra `export`."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
from msgspec import Struct
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)

Mode = Literal["dynamic", "static"]
Embeddings = Literal["int4", "int8", "float"]
Feed = Mapping[str, Any]

MULTIPLIED = ("MatMul", "Gemm", "Attention")
LOOKED_UP = "Gather"
BLOCK = 16
"""Embedding weights that share a scale in four bits: the smallest that ONNX Runtime takes. In
blocks of 16 MiniLM keeps a cosine of .9987 to FP32, of 32 .9981, of 128 .9963."""
SHARES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75)
"""Scales of a block that are tried, in parts of the one that reaches its largest number."""
LEAST_WEIGHTS = 1024
"""Smaller tables are not worth a scale."""
BLOCK_DOMAIN = "com.microsoft"


class Recipe(Struct, frozen=True):
    """How a graph is quantised."""

    mode: Mode = "dynamic"
    embeddings: Embeddings = "int4"
    exclude: tuple[str, ...] = ()
    """Nodes that stay in 32 bits."""


def candidates(graph: Path) -> list[str]:
    """The nodes that multiply by weights or look them up, in the graph's order."""
    model = onnx.load(graph)
    weights = {one.name for one in model.graph.initializer if _large(one)}
    return [node.name for node in model.graph.node if _holds(node, weights)]


def quantise(
    source: Path,
    target: Path,
    recipe: Recipe,
    calibration: Sequence[Feed] = (),
    only: Iterable[str] | None = None,
) -> None:
    """Writes the INT8 graph. `only`: these nodes and no others.

    Weights have one scale per channel and seven bits, since processors without VNNI overflow with
    eight; activations eight bits, measured at run time (dynamic) or beforehand (static).
    """
    names = candidates(source) if only is None else list(only)
    wanted = [name for name in names if name not in recipe.exclude]
    model = onnx.load(source)
    looked_up = {node.name for node in model.graph.node if node.op_type == LOOKED_UP}
    if recipe.embeddings == "int4":
        _to_four_bits(model, looked_up & set(wanted))
    integer = recipe.embeddings == "int8"
    left = [name for name in wanted if integer or name not in looked_up]
    if not left:  # an empty list would mean all of them
        onnx.save(model, target)
        return
    with _silent():
        if recipe.mode == "static":
            _static(model, target, left, calibration)
        else:
            _dynamic(model, target, left)
    _tidy(target)


def _dynamic(model: onnx.ModelProto, target: Path, nodes: list[str]) -> None:
    quantize_dynamic(
        model,
        target,
        nodes_to_quantize=nodes,
        per_channel=True,
        reduce_range=True,
        weight_type=QuantType.QInt8,
        extra_options={"MatMulConstBOnly": True, "DefaultTensorType": TensorProto.FLOAT},
    )


def _static(
    model: onnx.ModelProto, target: Path, nodes: list[str], calibration: Sequence[Feed]
) -> None:
    _declare(model, set(nodes))
    quantize_static(
        model,
        target,
        _Calibration(calibration),
        quant_format=QuantFormat.QDQ,
        nodes_to_quantize=nodes,
        per_channel=True,
        reduce_range=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        extra_options={
            "MatMulConstBOnly": True,
            "DefaultTensorType": TensorProto.FLOAT,
            # What a layer gives goes on in 32 bits: additions and norms keep their precision.
            "OpTypesToExcludeOutputQuantization": list(MULTIPLIED),
        },
    )


def _declare(model: onnx.ModelProto, nodes: set[str]) -> None:
    """The values around the nodes are floats: ONNX cannot tell past ONNX Runtime's own operators,
    and the calibration watches what it knows for floats."""
    constant = {one.name for one in model.graph.initializer}
    known = constant | {one.name for one in (*model.graph.value_info, *model.graph.input)}
    known |= {one.name for one in model.graph.output}
    around = [
        name
        for node in model.graph.node
        if node.name in nodes and node.op_type != LOOKED_UP
        for name in (node.input[0], node.output[0])
    ]
    for name in dict.fromkeys(around):
        if name not in known:
            value = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
            model.graph.value_info.append(value)


class _Calibration(CalibrationDataReader):  # type: ignore[misc] # no types without the extra
    """Texts that show which values occur."""

    def __init__(self, feeds: Sequence[Feed]) -> None:
        self._feeds: Iterator[Feed] = iter(feeds)
        self._count = len(feeds)

    def get_next(self) -> Any:
        return next(self._feeds, None)

    def __len__(self) -> int:
        return self._count


def _to_four_bits(model: onnx.ModelProto, nodes: set[str]) -> None:
    """Tables become blocks of four bits with a scale each, read by `GatherBlockQuantized`."""
    graph = model.graph
    tables = {one.name: one for one in graph.initializer}
    for place, node in enumerate(graph.node):
        table = tables.get(node.input[0]) if node.name in nodes else None
        if table is None or table.dims[1] % BLOCK:
            continue
        packed, scales = four_bits(numpy_helper.to_array(table))
        name = f"{table.name}_int4"
        kept = (
            helper.make_tensor(name, TensorProto.INT4, table.dims, packed.tobytes(), raw=True),
            numpy_helper.from_array(scales, f"{name}_scales"),
        )
        known = {one.name for one in graph.initializer}
        graph.initializer.extend(one for one in kept if one.name not in known)
        new = helper.make_node(
            "GatherBlockQuantized",
            [name, node.input[1], f"{name}_scales"],
            list(node.output),
            node.name,
            domain=BLOCK_DOMAIN,
            gather_axis=0,
            quantize_axis=1,
            block_size=BLOCK,
        )
        graph.node.remove(node)
        graph.node.insert(place, new)
    if not any(one.domain == BLOCK_DOMAIN for one in model.opset_import):
        model.opset_import.append(helper.make_opsetid(BLOCK_DOMAIN, 1))
    _drop_unused(model)


def four_bits(table: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Two numbers from -8 to 7 a byte, the first in the lower half; and a scale for each block.

    The largest number of a block becomes -8 whatever its sign, or lies a little beyond where that
    brings the others closer: of a few scales the one with the least squared error.
    """
    rows, width = table.shape
    blocks = table.reshape(rows, width // BLOCK, BLOCK).astype(np.float32)
    place = np.abs(blocks).argmax(axis=-1)[..., None]
    widest = np.take_along_axis(blocks, place, -1) / -8
    widest[widest == 0] = 1
    scales, least = widest, np.full_like(widest, np.inf)
    for share in SHARES:
        tried = widest * np.float32(share)
        error = np.square(_steps(blocks, tried) * tried - blocks).sum(axis=-1, keepdims=True)
        scales = np.where(error < least, tried, scales)
        least = np.minimum(error, least)
    halves = _steps(blocks, scales).astype(np.int8).reshape(rows, width).view(np.uint8) & 15
    return halves[:, 0::2] | (halves[:, 1::2] << 4), scales[..., 0].astype(np.float32)


def _steps(blocks: np.ndarray[Any, Any], scales: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(np.clip(np.round(blocks / scales), -8, 7))


def _tidy(path: Path) -> None:
    model = onnx.load(path)
    _drop_unused(model)
    del model.graph.value_info[:]
    onnx.save(model, path)


def _drop_unused(model: onnx.ModelProto) -> None:
    used = {name for node in model.graph.node for name in node.input}
    used |= {output.name for output in model.graph.output}
    unused = [one for one in model.graph.initializer if one.name not in used]
    for one in unused:
        model.graph.initializer.remove(one)


def _large(tensor: onnx.TensorProto) -> bool:
    size = int(np.prod(tensor.dims)) if len(tensor.dims) == 2 else 0
    return tensor.data_type == TensorProto.FLOAT and size >= LEAST_WEIGHTS


def _holds(node: onnx.NodeProto, weights: set[str]) -> bool:
    if node.op_type == LOOKED_UP:
        return node.input[0] in weights
    return node.op_type in MULTIPLIED and len(node.input) > 1 and node.input[1] in weights


@contextmanager
def _silent() -> Iterator[None]:
    """The quantiser warns of a step that was made before."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
