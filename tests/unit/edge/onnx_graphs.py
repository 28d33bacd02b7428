"""Small ONNX models, written byte by byte: the tests need no library that writes them."""

from __future__ import annotations

import numpy as np


def unpooled_graph() -> bytes:
    """An ONNX model: `(1, tokens)` of three inputs, added up, to `(1, tokens, 1)`."""
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    nodes = (
        _node("Add", inputs[:2], "sum"),
        _node("Add", ("sum", inputs[2]), "all"),
        _node("Cast", ("all",), "real", _field(1, b"to") + _number(3, 1) + _number(20, 2)),
        _node("Unsqueeze", ("real",), "out", _field(1, b"axes") + _number(8, 2) + _number(20, 7)),
    )
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"graph")
    graph += b"".join(_field(11, _value(name, 7, 2)) for name in inputs)
    graph += _field(12, _value("out", 1, 3))
    return _number(1, 6) + _field(7, graph) + _field(8, _number(2, 11))


def table_graph(rows: int, width: int) -> bytes:
    """`(texts, tokens)` of token ids to `(texts, tokens, width)`: each token's own random row."""
    table = np.random.default_rng(7).normal(size=(rows, width)).astype(np.float32)
    tensor = _number(1, rows) + _number(1, width) + _number(2, 1)
    tensor += _field(8, b"table") + _field(9, table.tobytes())
    graph = _field(1, _node("Gather", ("table", "input_ids"), "out")) + _field(2, b"graph")
    graph += _field(5, tensor) + _field(11, _value("input_ids", 7, 2))
    graph += _field(12, _value("out", 1, 3))
    return _number(1, 6) + _field(7, graph) + _field(8, _number(2, 11))


def _node(kind: str, inputs: tuple[str, ...], output: str, attribute: bytes = b"") -> bytes:
    names = b"".join(_field(1, name.encode()) for name in inputs)
    attributes = _field(5, attribute) if attribute else b""
    return names + _field(2, output.encode()) + _field(4, kind.encode()) + attributes


def _value(name: str, kind: int, rank: int) -> bytes:
    shape = b"".join(_field(1, _field(2, f"d{axis}".encode())) for axis in range(rank))
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, kind) + _field(2, shape)))


def _field(tag: int, content: bytes) -> bytes:
    return _varint(tag << 3 | 2) + _varint(len(content)) + content


def _number(tag: int, value: int) -> bytes:
    return _varint(tag << 3) + _varint(value)


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + _varint(value >> 7)
