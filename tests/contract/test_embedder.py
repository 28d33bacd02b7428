"""What every embedder must do, whatever is behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import numpy as np
import pytest

from hybridge.cloud.config import TimeoutsConfig
from hybridge.cloud.embeddings import OpenAIEmbedder
from hybridge.cloud.transport import Transport
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.embedding import Embedder, EmbeddingCall
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor
from hybridge.edge.embedder import OnnxEmbedder
from hybridge.edge.embedder_config import SHIPPED, EmbedderConfig
from hybridge.edge.sentence_model import SentenceModel
from hybridge.testing.backend import Hang
from hybridge.testing.embedding import (
    ScriptedEmbedder,
    Vectored,
    embedder_spec,
    embedding_request,
    embeds,
)
from hybridge.testing.replies import fails, hangs
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()
TEXTS = ("one", "two two", "three three three", "four", "five five", "six")
Make = Callable[[str], AbstractAsyncContextManager[Embedder]]
"""Makes an embedder that behaves as named: `well`, `silent` or `broken`. A real model does only well."""


@asynccontextmanager
async def scripted(behaviour: str) -> AsyncIterator[Embedder]:
    broken = BackendError("told to fail", backend="e", fault=Fault.SERVER)
    yield ScriptedEmbedder(
        embedder_spec("e"), {"well": Vectored(), "silent": Hang(), "broken": broken}[behaviour]
    )


@asynccontextmanager
async def over_http(behaviour: str, batch: int = 2048) -> AsyncIterator[Embedder]:
    replies = {"well": embeds(), "silent": hangs(), "broken": fails(500)}
    async with Upstream(replies[behaviour]) as upstream:
        transport = Transport(upstream.base_url, TimeoutsConfig(), key=None, proxy=None)
        async with transport:
            yield OpenAIEmbedder(
                embedder_spec("e"), transport, batch=batch, dimensions=None, redact=Redactor()
            )


@asynccontextmanager
async def onnx(_: str, batch: int = 1) -> AsyncIterator[Embedder]:
    row = EmbedderConfig(name="e", model=SHIPPED)
    spec = embedder_spec("e", dimensions=384)
    embedder = OnnxEmbedder(spec, partial(SentenceModel.load, row), batch=batch, queue=16)
    yield embedder
    embedder.close()


@pytest.fixture(params=[scripted, over_http, onnx])
def make(request: pytest.FixtureRequest) -> Make:
    """Every kind of embedder."""
    return request.param


@pytest.fixture(params=[scripted, over_http])
def stage(request: pytest.FixtureRequest) -> Make:
    """Those that can be told to misbehave."""
    return request.param


def call(*texts: str, within_s: float = 30.0) -> EmbeddingCall:
    return EmbeddingCall(embedding_request(*texts), Deadline.after(within_s, CLOCK))


async def test_each_input_has_its_vector_in_the_order_of_the_inputs(make):
    async with make("well") as embedder:
        together = await embedder.embed(call(*TEXTS))
        alone = [await embedder.embed(call(text)) for text in TEXTS]
    assert together.vectors.dtype == np.float32
    assert together.vectors.shape == (len(TEXTS), alone[0].vectors.shape[1])
    assert np.array_equal(together.vectors, np.concatenate([one.vectors for one in alone]))


@pytest.mark.parametrize("batch", [1, 2, 4, 5])
async def test_batches_do_not_change_the_vectors_of_a_server(batch):
    async with over_http("well", batch) as small, over_http("well") as large:
        cut, whole = await small.embed(call(*TEXTS)), await large.embed(call(*TEXTS))
    assert np.array_equal(cut.vectors, whole.vectors)
    assert cut.usage == whole.usage


async def test_batches_keep_the_order_of_the_shipped_model():
    """In INT8 a vector depends a little on its neighbours, which is why one at a time is usual."""
    async with onnx("well", 4) as batched, onnx("well") as single:
        some, one = await batched.embed(call(*TEXTS)), await single.embed(call(*TEXTS))
    assert (np.argmax(some.vectors @ one.vectors.T, axis=1) == np.arange(len(TEXTS))).all()


async def test_the_vectors_are_of_length_one(make):
    async with make("well") as embedder:
        embedded = await embedder.embed(call(*TEXTS))
    assert np.linalg.norm(embedded.vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


async def test_tokens_are_counted(make):
    async with make("well") as embedder:
        embedded = await embedder.embed(call(*TEXTS))
    assert embedded.usage is not None
    assert embedded.usage.prompt_tokens >= len(TEXTS)
    assert embedded.usage.completion_tokens == 0


async def test_a_failure_is_a_backend_error_with_its_fault(stage):
    async with stage("broken") as embedder:
        with pytest.raises(BackendError) as raised:
            await embedder.embed(call("x"))
    assert (raised.value.fault, raised.value.backend) == (Fault.SERVER, "e")


async def test_nothing_runs_longer_than_the_deadline(stage):
    async with stage("silent") as embedder:
        with pytest.raises(BackendError) as raised:
            await embedder.embed(call("x", within_s=0.2))
    assert raised.value.fault is Fault.TIMEOUT


async def test_a_real_model_is_stopped_at_the_deadline_too():
    async with onnx("well") as embedder:
        await embedder.embed(call("loads the model"))
        with pytest.raises(BackendError) as raised:
            await embedder.embed(call(*["many words " * 100] * 500, within_s=0.2))
        again = await embedder.embed(call("the next one"))
    assert raised.value.fault is Fault.TIMEOUT
    assert len(again.vectors) == 1


async def test_cancelling_stops_the_work_behind_it():
    async with Upstream(hangs()) as upstream:
        transport = Transport(upstream.base_url, TimeoutsConfig(), key=None, proxy=None)
        async with transport:
            embedder = OpenAIEmbedder(
                embedder_spec("e"), transport, batch=8, dimensions=None, redact=Redactor()
            )
            asking = asyncio.ensure_future(embedder.embed(call("x")))
            while not upstream.posts:
                await asyncio.sleep(0.01)
            asking.cancel()
            await asyncio.wait_for(upstream.posts[0].gone.wait(), 5)
