"""Embeddings on this device, with the real shipped model."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.embedding import EmbeddingCall
from hybridge.core.errors import BackendError, Fault, ModelError, Unsupported
from hybridge.edge.embedder import OnnxEmbedder
from hybridge.edge.embedder_config import SHIPPED, EmbedderConfig, EmbeddingsConfig
from hybridge.edge.encoder import MEANING, Encoder
from hybridge.edge.sentence_model import SentenceModel
from hybridge.testing.embedding import embedder_spec, embedding_request

pytestmark = pytest.mark.anyio
ROW = EmbedderConfig(name="local", model=SHIPPED)
LONG = "word " * 200


@pytest.fixture(scope="module")
def model() -> SentenceModel:
    return SentenceModel.load(ROW)


@pytest.fixture
async def embedder(model: SentenceModel) -> AsyncIterator[OnnxEmbedder]:
    embedder = OnnxEmbedder(embedder_spec("local", dimensions=384), lambda: model, batch=1, queue=4)
    yield embedder
    embedder.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shipped model as somebody else would have it."""
    place = tmp_path / "minilm"
    place.mkdir()
    shutil.copy(MEANING / "encoder.onnx", place / "model.onnx")
    shutil.copy(MEANING / "tokenizer.json", place)
    return place


def call(*texts: str, within_s: float = 60.0) -> EmbeddingCall:
    return EmbeddingCall(embedding_request(*texts), Deadline.after(within_s, SystemClock()))


def test_a_vector_is_the_scorers_own(model):
    encoder = Encoder.shipped(threads=1, folder=MEANING)
    text = "What is the capital of France?"
    (reading,) = model.read([text])
    assert np.allclose(model.run([reading.ids])[0], encoder.encode(text), atol=1e-5)
    encoder.close()


def test_alike_is_nearer_than_unlike(model):
    read = model.read(["I want a refund", "Please give me my money back", "How do I bake bread?"])
    refund, money_back, recipe = (model.run([one.ids])[0] for one in read)
    assert refund @ money_back > refund @ recipe + 0.2


@settings(max_examples=30, deadline=None)
@given(text=st.text(max_size=300))
def test_every_text_is_read_and_what_has_content_has_a_vector_of_length_one(model, text):
    (reading,) = model.read([text])
    assert reading.content >= 0
    if reading.tokens <= model.max_tokens:
        (vector,) = model.run([reading.ids])
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_a_text_that_is_too_long_is_refused_with_its_place_and_both_numbers(embedder):
    with pytest.raises(Unsupported, match=r"`input\[1\]` has 302 tokens.*reads 256 at most") as no:
        await embedder.embed(call("short", "word " * 300))
    assert (no.value.param, no.value.code) == ("input[1]", "context_length_exceeded")


async def test_of_a_text_that_is_far_too_long_the_number_is_a_guess(embedder):
    with pytest.raises(Unsupported, match=r"has about \d{6} tokens"):
        await embedder.embed(call("word " * 200_000))


async def test_the_longest_text_that_is_allowed_is_read_to_its_end(embedder):
    one, other = "word " * 253 + "dog", "word " * 253 + "tax"
    embedded = await embedder.embed(call(one, other))
    assert embedded.usage.prompt_tokens == 512
    assert not np.array_equal(*embedded.vectors)


@pytest.mark.parametrize("text", ["👍", "\u200b", "你好吗今天天气怎么样", "\x00\x01"])
async def test_a_text_of_which_the_model_knows_nothing_is_refused(embedder, text):
    with pytest.raises(Unsupported) as no:
        await embedder.embed(call("fine", text))
    assert (no.value.param, no.value.code) == ("input[1]", "unreadable_input")


async def test_a_mark_of_the_model_within_a_text_is_only_text(embedder, model):
    said, marks = model.read(["a [SEP] b"])[0].ids, model.read(["a"])[0].ids
    assert said.count(marks[-1]) == 1


async def test_more_requests_than_the_queue_holds_are_told_to_come_back(embedder):
    first = [asyncio.create_task(embedder.embed(call(LONG, LONG))) for _ in range(4)]
    await asyncio.sleep(0)
    with pytest.raises(BackendError) as refused:
        await embedder.embed(call("one more"))
    await asyncio.gather(*first)
    assert (refused.value.fault, refused.value.retry_after_s) == (Fault.BUSY, 1.0)
    await embedder.embed(call("room again"))


async def test_a_short_request_does_not_wait_for_a_long_one(embedder):
    done: list[str] = []

    async def embed(name: str, *texts: str) -> None:
        await embedder.embed(call(*texts))
        done.append(name)

    long = asyncio.create_task(embed("long", *[LONG] * 30))
    await asyncio.sleep(0.01)
    await embed("short", "hello")
    await long
    assert done == ["short", "long"]


async def test_who_goes_away_frees_the_thread(embedder):
    gone = [asyncio.create_task(embedder.embed(call(*[LONG] * 500))) for _ in range(4)]
    await asyncio.sleep(0.05)
    for task in gone:
        task.cancel()
    await asyncio.gather(*gone, return_exceptions=True)
    async with asyncio.timeout(10):
        await embedder.embed(call("still here"))


async def test_the_scorer_goes_on_while_much_is_embedded(embedder):
    """Its session, its thread and its queue are its own."""
    encoder = Encoder.shipped(threads=1, folder=MEANING)
    much = asyncio.create_task(embedder.embed(call(*[LONG] * 100)))
    await asyncio.sleep(0.05)
    vectors = [await encoder.embed(f"question {i}", 30) for i in range(5)]
    assert not much.done()
    assert all(vector is not None for vector in vectors)
    much.cancel()
    await asyncio.gather(much, return_exceptions=True)
    encoder.close()


async def test_what_breaks_in_the_engine_is_a_backend_error():
    def broken() -> SentenceModel:
        raise RuntimeError("told to break")

    embedder = OnnxEmbedder(embedder_spec("local"), broken, batch=1, queue=4)
    with pytest.raises(BackendError) as raised:
        await embedder.embed(call("x"))
    assert raised.value.fault is Fault.SERVER
    embedder.close()


async def test_a_model_that_cannot_be_loaded_says_so_at_once(tmp_path):
    row = EmbedderConfig(name="mine", model=str(tmp_path))
    embedder = OnnxEmbedder(
        embedder_spec("mine"), partial(SentenceModel.load, row), batch=1, queue=4
    )
    with pytest.raises(ModelError, match=r"model\.onnx"):
        await embedder.load()
    embedder.close()


def test_a_folder_of_ones_own_gives_the_same_vectors(folder, model):
    mine = SentenceModel.load(EmbedderConfig(name="mine", model=str(folder)))
    (reading,) = mine.read(["hello there"])
    assert np.array_equal(mine.run([reading.ids]), model.run([reading.ids]))
    assert (mine.dimensions, mine.max_tokens) == (384, 512)


def test_the_graph_may_lie_deeper_as_on_the_hub(folder):
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model_int8.onnx")
    place = folder / "onnx" / "model_int8.onnx"
    assert SentenceModel.load(EmbedderConfig(name="mine", model=str(place))).dimensions == 384


def test_a_folder_says_how_much_its_model_reads(folder):
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 64}')
    (folder / "config.json").write_text('{"max_position_embeddings": 128}')
    row = EmbedderConfig(name="mine", model=str(folder))
    assert SentenceModel.load(row).max_tokens == 64
    longer = row.model_copy(update={"max_tokens": 128})
    assert SentenceModel.load(longer).max_tokens == 128
    with pytest.raises(ModelError, match="128 tokens at most: lower max_tokens"):
        SentenceModel.load(row.model_copy(update={"max_tokens": 256}))


def test_a_prefix_is_read_but_is_no_content(folder):
    row = EmbedderConfig(name="mine", model=str(folder), prefix="query: ")
    mine, plain = SentenceModel.load(row), SentenceModel.load(ROW)
    (prefixed,), (bare, whole) = mine.read(["dogs"]), plain.read(["dogs", "query: dogs"])
    assert prefixed.ids == whole.ids
    assert prefixed.content == bare.content


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_what_a_folder_lacks_is_named(folder, missing):
    (folder / missing).unlink()
    with pytest.raises(ModelError, match=missing):
        SentenceModel.load(EmbedderConfig(name="mine", model=str(folder)))


def test_what_is_no_model_is_refused_with_its_place(folder):
    (folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError, match=r"model\.onnx cannot be loaded"):
        SentenceModel.load(EmbedderConfig(name="mine", model=str(folder)))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"name": "auto", "model": "m"}, "`auto` is the name"),
        ({"name": "m", "model": "m", "base_url": "http://x"}, "belong to engine `openai`"),
    ],
)
def test_a_row_that_cannot_be_is_refused(row, said):
    with pytest.raises(ValidationError, match=said):
        EmbedderConfig.model_validate(row)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"auto": "nobody"}, "no backend `nobody`; there are: all-minilm-l6-v2"),
        ({"backends": [{"name": "a", "model": "m"}] * 2}, "`a` is the name of two backends"),
        ({"backends": []}, "at least 1"),
    ],
)
def test_a_section_that_cannot_be_is_refused(section, said):
    with pytest.raises(ValidationError, match=said):
        EmbeddingsConfig.model_validate(section)


def test_auto_is_the_first_row_unless_named():
    rows = [{"name": "a", "model": "m"}, {"name": "b", "model": "m"}]
    assert EmbeddingsConfig().automatic == SHIPPED
    assert EmbeddingsConfig.model_validate({"backends": rows}).automatic == "a"
    assert EmbeddingsConfig.model_validate({"backends": rows, "auto": "b"}).automatic == "b"
