"""The sentence encoder, with the real shipped model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridge.edge.encoder import ASSETS, QUEUE, Encoder, available

pytestmark = pytest.mark.anyio
LONG = "word " * 2000


@pytest.fixture(scope="module")
def encoder() -> Iterator[Encoder]:
    encoder = Encoder.shipped(threads=1)
    yield encoder
    encoder.close()


async def test_a_text_becomes_a_vector_of_length_one(encoder: Encoder) -> None:
    vector = await encoder.embed("What is the capital of France?", 30)
    assert vector is not None
    assert (vector.shape, vector.dtype) == ((384,), np.float32)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_alike_is_nearer_than_unlike(encoder: Encoder) -> None:
    refund, money_back, recipe = (
        encoder.encode(text)
        for text in ("I want a refund", "Please give me my money back", "How do I bake bread?")
    )
    assert refund @ money_back > refund @ recipe + 0.2


def test_of_a_long_text_both_ends_are_read(encoder: Encoder) -> None:
    question = "Translate the following poem into French."
    plain, asked_first, asked_last = (
        encoder.encode(text) for text in (LONG, f"{question} {LONG}", f"{LONG} {question}")
    )
    wanted = encoder.encode(question)
    assert wanted @ asked_first > wanted @ plain + 0.1
    assert wanted @ asked_last > wanted @ plain + 0.1


@settings(max_examples=30, deadline=None)
@given(text=st.text(max_size=300))
def test_every_text_has_a_vector(encoder: Encoder, text: str) -> None:
    vector = encoder.encode(text)
    assert vector.shape == (384,)
    assert np.isfinite(vector).all()


def test_half_a_surrogate_pair_is_read_as_something(encoder: Encoder) -> None:
    assert np.isfinite(encoder.encode("\ud83d broken")).all()


async def test_late_is_none_and_does_not_hold_up_the_next(encoder: Encoder) -> None:
    assert await encoder.embed(LONG, 0.0) is None
    assert await encoder.embed("and now?", 30) is not None


async def test_a_crowd_is_answered_in_part_and_never_piles_up(encoder: Encoder) -> None:
    results = await asyncio.gather(*(encoder.embed(LONG, 30) for _ in range(3 * QUEUE)))
    answered = [vector for vector in results if vector is not None]
    assert QUEUE <= len(answered) < 3 * QUEUE
    assert await encoder.embed("the next", 30) is not None


async def test_who_goes_away_frees_the_place(encoder: Encoder) -> None:
    gone = [asyncio.create_task(encoder.embed(LONG, 30)) for _ in range(QUEUE)]
    await asyncio.sleep(0)
    for task in gone:
        task.cancel()
    await asyncio.gather(*gone, return_exceptions=True)
    while await encoder.embed("still here", 30) is None:
        await asyncio.sleep(0.01)  # the one under way has to notice first


def test_it_asks_for_what_is_here_and_for_the_processor_last() -> None:
    assert available()[-1] == "CPUExecutionProvider"
    assert set(available()) <= set(ort.get_available_providers())


def test_a_missing_model_is_an_error_at_load(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"nowhere\.onnx"):
        Encoder.load(tmp_path / "nowhere.onnx", ASSETS / "tokenizer.json", threads=1)


def test_a_graph_that_wants_token_types_and_does_not_pool_works_too(tmp_path: Path) -> None:
    model = tmp_path / "plain.onnx"
    model.write_bytes(unpooled_graph())
    encoder = Encoder.load(model, ASSETS / "tokenizer.json", threads=1)
    assert encoder.encode("a few words").tolist() == [1.0]  # the unit vector of one dimension
    encoder.close()


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
