"""The sentence encoder, with the real shipped model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.edge.onnx_graphs import table_graph, unpooled_graph
from tokenizers import Tokenizer

from hybridge.edge.encoder import BATCH, SCORER, Encoder, Ran
from hybridge.edge.run_cost import Cost
from hybridge.edge.sessions import available
from hybridge.edge.text_graph import TextGraph, Vector

pytestmark = pytest.mark.anyio
LONG = "word " * 2000
WORDS = Tokenizer.from_file(str(SCORER / "tokenizer.json"))


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
    story = "The train was late again and nobody knew why. " * 60
    plain, asked_first, asked_last = (
        encoder.encode(text) for text in (story, f"{question} {story}", f"{story} {question}")
    )
    wanted = encoder.encode(question)
    assert wanted @ asked_first > wanted @ plain + 0.05
    assert wanted @ asked_last > wanted @ plain + 0.05


def test_it_reads_chinese_and_english_in_one_space(encoder: Encoder) -> None:
    wanted = encoder.encode("把下面这首诗翻译成法语。")
    same, other = map(encoder.encode, ("Translate this poem into French.", "Is it going to rain?"))
    assert wanted @ same > wanted @ other + 0.2


def test_a_vector_does_not_depend_on_its_neighbours(encoder: Encoder) -> None:
    assert encoder.batch == BATCH


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


async def test_a_crowd_is_answered_as_far_as_time_allows_and_the_rest_is_told_at_once(
    encoder: Encoder,
) -> None:
    why: list[str] = []
    encoder.refused = why.append
    results = await asyncio.gather(*(encoder.embed(LONG, 0.3) for _ in range(300)))
    answered = [vector for vector in results if vector is not None]
    assert len(answered) < 300
    assert why.count("queue") > 0
    assert len(answered) + len(why) == 300
    assert encoder.waiting == 0
    assert await encoder.embed("the next", 30) is not None


async def test_who_goes_away_frees_the_place(encoder: Encoder) -> None:
    gone = [asyncio.create_task(encoder.embed(LONG, 30)) for _ in range(20)]
    await asyncio.sleep(0)
    assert encoder.waiting > 0
    for task in gone:
        task.cancel()
    await asyncio.gather(*gone, return_exceptions=True)
    assert encoder.waiting == 0
    assert await encoder.embed("still here", 30) is not None


def test_it_asks_for_what_is_here_and_for_the_processor_last() -> None:
    assert available()[-1] == "CPUExecutionProvider"
    assert set(available()) <= set(ort.get_available_providers())


def test_a_missing_model_is_an_error_at_load(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"nowhere\.onnx"):
        Encoder.load(tmp_path / "nowhere.onnx", SCORER / "tokenizer.json", threads=1)


def test_a_graph_that_wants_token_types_and_does_not_pool_works_too(tmp_path: Path) -> None:
    model = tmp_path / "plain.onnx"
    model.write_bytes(unpooled_graph())
    encoder = Encoder.load(model, SCORER / "tokenizer.json", threads=1)
    assert encoder.encode("a few words").tolist() == [1.0]  # the unit vector of one dimension
    encoder.close()


class Table(TextGraph):
    """A graph whose vectors tell texts apart; runs can be held back, and are remembered."""

    def __init__(self, model: Path) -> None:
        super().__init__(ort.InferenceSession(str(model)), WORDS)
        self.may_run = threading.Event()
        self.may_run.set()
        self.runs: list[int] = []
        self.broken_over = 10_000

    def run(
        self, texts: Sequence[Sequence[int]], options: ort.RunOptions | None = None
    ) -> list[Vector]:
        self.may_run.wait()
        self.runs.append(len(texts))
        if options is not None and options.terminate:
            raise RuntimeError("stopped")
        if max(map(len, texts)) > self.broken_over:
            raise ValueError("too long for this one")
        return super().run(texts, options)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "table.onnx"
    path.write_bytes(table_graph(30522, 4))
    return path


@pytest.fixture
def table(model: Path) -> Table:
    return Table(model)


def batching(graph: TextGraph, runs: int = 1) -> Encoder:
    """Starting a run costs as much as 100 tokens do."""
    return Encoder(graph, Cost(1e-4, 1e-6), runs=runs, batch=BATCH)


async def test_what_comes_during_a_run_is_taken_together_in_the_next(table: Table) -> None:
    encoder, ran = batching(table), list[Ran]()
    encoder.told = ran.append
    table.may_run.clear()
    texts = [f"number {n}" for n in range(9)]
    first = asyncio.create_task(encoder.embed("the first", 30))
    await asyncio.sleep(0.01)
    others = [asyncio.create_task(encoder.embed(text, 30)) for text in texts]
    await asyncio.sleep(0)
    table.may_run.set()
    found = await asyncio.gather(first, *others)
    assert table.runs == [1, 8, 1]  # of nine, eight are read before the next run
    assert [one.texts for one in ran] == [1, 8, 1]
    assert ran[1].tokens == 8 * len(table.read(texts[0]))
    for text, vector in zip(["the first", *texts], found, strict=True):
        assert vector is not None
        assert vector.tolist() == encoder.encode(text).tolist()
    encoder.close()


Asked = tuple[str, float, bool]


@settings(max_examples=30, deadline=None)
@given(
    asked=st.lists(
        st.tuples(
            st.text(max_size=200) | st.integers(0, 60).map(lambda n: "word " * n),
            st.sampled_from([0.0, 0.001, 30.0]),
            st.booleans(),
        ),
        max_size=25,
    ),
    runs=st.integers(1, 3),
)
def test_each_text_has_its_own_vector_whatever_comes_with_it(
    model: Path, asked: list[Asked], runs: int
) -> None:
    """Some are late, some hang up; nobody else's answer is touched by it."""
    graph = Table(model)
    encoder = batching(graph, runs)

    async def ask(text: str, within_s: float, leaves: bool) -> Vector | None:
        task = asyncio.create_task(encoder.embed(text, within_s))
        await asyncio.sleep(0)
        if leaves:
            task.cancel()
        with suppress(asyncio.CancelledError):
            return await task
        return None

    async def everyone() -> list[Vector | None]:
        return await asyncio.gather(*(ask(*one) for one in asked))

    found = asyncio.run(everyone())
    for (text, within_s, leaves), vector in zip(asked, found, strict=True):
        if vector is not None:
            assert vector.tolist() == encoder.encode(text).tolist()
        else:
            assert leaves or within_s < 30
    assert encoder.waiting == 0
    encoder.close()


async def test_a_run_for_nobody_is_stopped(table: Table) -> None:
    encoder, ran = batching(table), list[Ran]()
    encoder.told = ran.append
    table.may_run.clear()
    pair = [asyncio.create_task(encoder.embed(text, 30)) for text in ("one", "two")]
    await asyncio.sleep(0.01)
    for task in pair:
        task.cancel()
    await asyncio.gather(*pair, return_exceptions=True)
    table.may_run.set()
    assert await encoder.embed("three", 30) is not None
    assert sum(one.texts for one in ran) == 1
    encoder.close()


async def test_late_ones_hear_it_at_their_deadline_though_the_run_goes_on(table: Table) -> None:
    encoder = batching(table)
    table.may_run.clear()
    patient = asyncio.create_task(encoder.embed("one", 30))
    assert await encoder.embed("two", 0.01) is None
    assert not patient.done()
    table.may_run.set()
    assert await patient is not None
    encoder.close()


async def test_one_bad_text_does_not_fail_those_computed_with_it(table: Table) -> None:
    table.broken_over = 20
    encoder = batching(table)
    table.may_run.clear()
    first = asyncio.create_task(encoder.embed("first", 30))
    await asyncio.sleep(0.01)
    texts = ["word " * 18, "word " * 19, "word " * 17]
    others = [asyncio.create_task(encoder.embed(text, 30)) for text in texts]
    await asyncio.sleep(0)
    table.may_run.set()
    found = await asyncio.gather(first, *others, return_exceptions=True)
    kinds = [type(one) for one in found]
    assert kinds == [np.ndarray, np.ndarray, ValueError, np.ndarray]
    assert 3 in table.runs
    encoder.close()


async def test_a_text_that_cannot_be_tokenised_is_its_own_matter(model: Path) -> None:
    class Picky(Table):
        def read(self, text: str) -> list[int]:
            if text == "poison":
                raise RuntimeError("panic")
            return super().read(text)

    encoder = batching(Picky(model))
    bad, good = await asyncio.gather(encoder.embed("poison", 0.2), encoder.embed("water", 30))
    assert bad is None
    assert good is not None
    assert await encoder.embed("more water", 30) is not None
    encoder.close()


async def test_closing_answers_everyone_and_takes_nobody_new(table: Table) -> None:
    encoder = batching(table)
    table.may_run.clear()
    asked = [asyncio.create_task(encoder.embed(f"number {n}", 30)) for n in range(5)]
    await asyncio.sleep(0.01)
    threading.Timer(0.02, table.may_run.set).start()
    encoder.close()
    assert await asyncio.gather(*asked) == [None] * 5
    assert await encoder.embed("later", 30) is None


def test_vectors_that_depend_on_each_other_are_computed_one_by_one(
    encoder: Encoder, table: Table
) -> None:
    assert table.is_steady()
    assert encoder.batch == (BATCH if encoder._graph.is_steady() else 1)


async def test_an_encoder_serves_one_loop_after_another(table: Table) -> None:
    encoder = batching(table)
    vector = await encoder.embed("the same", 30)
    other = await asyncio.to_thread(asyncio.run, encoder.embed("the same", 30))
    assert vector is not None
    assert other is not None
    assert vector.tolist() == other.tolist()
    encoder.close()
