"""What every backend must do, whatever is behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

import pytest
from tests.unit.edge import genai_model

from hybridge.cloud.anthropic.dialect import HEADERS, Messages
from hybridge.cloud.chat_completions import ChatCompletions
from hybridge.cloud.config import TimeoutsConfig
from hybridge.cloud.http_backend import HttpBackend
from hybridge.cloud.transport import Transport
from hybridge.core.assembly import assemble
from hybridge.core.backend import Backend, Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor
from hybridge.core.request import Feature, Message, Request
from hybridge.core.response import Chunk, Completion
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.llamacpp import LlamaCpp, spec_of
from hybridge.settings import load
from hybridge.testing import anthropic
from hybridge.testing.backend import Hang, ScriptedBackend, saying, spec
from hybridge.testing.replies import fails, hangs, says
from hybridge.testing.upstream import Upstream
from hybridge.wiring import fetcher

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()
MODEL = "smollm2-135m"
Make = Callable[[str], AbstractAsyncContextManager[Backend]]
"""Makes a backend that behaves as named: `well`, `silent` or `broken`. A real model does only well."""


@asynccontextmanager
async def scripted(behaviour: str) -> AsyncIterator[Backend]:
    broken = BackendError("told to fail", backend="b", fault=Fault.SERVER)
    scripts = {
        "well": saying("One two three.", confidence=0.9),
        "silent": [Hang()],
        "broken": [broken],
    }
    yield ScriptedBackend(spec("b"), scripts[behaviour])


@asynccontextmanager
async def over_http(behaviour: str) -> AsyncIterator[Backend]:
    replies = {
        "well": says("One two three.", logprob=-0.1),
        "silent": hangs(),
        "broken": fails(500),
    }
    async with Upstream(replies[behaviour]) as upstream:
        transport = Transport(upstream.base_url, TimeoutsConfig(), key=None, proxy=None)
        async with transport:
            yield HttpBackend(
                spec("b", features=frozenset({Feature.LOGPROBS})),
                transport,
                ChatCompletions("m"),
                redact=Redactor(),
                clock=CLOCK,
            )


@asynccontextmanager
async def claude(behaviour: str) -> AsyncIterator[Backend]:
    replies = {
        "well": anthropic.says("One two three."),
        "silent": hangs(),
        "broken": anthropic.fails(500, "api_error"),
    }
    async with Upstream(replies[behaviour]) as upstream:
        transport = Transport(
            upstream.base_url,
            TimeoutsConfig(),
            key="k",
            proxy=None,
            key_header="x-api-key",
            headers=HEADERS,
        )
        async with transport:
            dialect = Messages("m", max_tokens=64, clock=CLOCK)
            yield HttpBackend(spec("b"), transport, dialect, redact=Redactor(), clock=CLOCK)


@asynccontextmanager
async def llama_cpp(_: str) -> AsyncIterator[Backend]:
    weights = await asyncio.to_thread(fetcher(load(None)).ensure, MODEL)
    row = EdgeBackendConfig(name="b", model=MODEL, slots=1)
    described = spec_of(row, features=frozenset(), version="test")
    backend = await LlamaCpp.load(described, weights, row, threads=1)
    try:
        yield backend
    finally:
        await backend.close()


@asynccontextmanager
async def ort_genai(_: str) -> AsyncIterator[Backend]:
    backend = await genai_model.loaded()
    try:
        yield backend
    finally:
        await backend.close()


@asynccontextmanager
async def ort_genai_with_real_weights(_: str) -> AsyncIterator[Backend]:
    if not genai_model.REAL.is_dir():
        pytest.skip("no real weights here: HYBRIDGE_GENAI_MODEL names a folder of them")
    backend = await genai_model.loaded(genai_model.REAL)
    try:
        yield backend
    finally:
        await backend.close()


@pytest.fixture(
    params=[
        scripted,
        over_http,
        claude,
        pytest.param(llama_cpp, marks=pytest.mark.model),
        ort_genai,
        ort_genai_with_real_weights,
    ]
)
def make(request: pytest.FixtureRequest) -> Make:
    """Every kind of backend."""
    return request.param


@pytest.fixture(params=[scripted, over_http, claude])
def stage(request: pytest.FixtureRequest) -> Make:
    """Those that can be told to misbehave."""
    return request.param


def call(*, stream: bool = False, within_s: float = 20.0, want_logprobs: bool = False) -> Call:
    body = {
        "model": "auto",
        "messages": [{"role": "user", "content": "Count."}],
        "max_tokens": 12,
        "temperature": 0,
    }
    body |= {"stream": True} if stream else {}
    request = Request("r", "auto", (Message("user", "Count."),), body, stream=stream, max_tokens=12)
    return Call(request, Deadline.after(within_s, CLOCK), want_logprobs)


async def test_a_whole_answer_is_one_completion(make):
    async with make("well") as backend:
        events = [event async for event in backend.answer(call())]
    (answer,) = events
    assert isinstance(answer, Completion)
    assert answer.text
    assert answer.finish_reason in ("stop", "length")
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 0
    assert answer.usage.completion_tokens > 0


async def test_a_stream_says_the_same_in_chunks(make):
    async with make("well") as backend:
        (whole,) = [event async for event in backend.answer(call())]
        events = [event async for event in backend.answer(call(stream=True))]
    assert all(isinstance(event, Chunk) for event in events)
    told = assemble(events)
    assert (told.text, told.finish_reason) == (whole.text, whole.finish_reason)
    assert told.usage is not None
    assert told.usage.completion_tokens == whole.usage.completion_tokens
    assert [e.finish_reason is not None for e in events if e.has_choices][-1]
    assert sum(e.finish_reason is not None for e in events) == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_token_probabilities_come_when_the_judge_wants_them_and_stay_out_of_the_wire(
    make, stream
):
    async with make("well") as backend:
        wanted = call(stream=stream, want_logprobs=True)
        events = [event async for event in backend.answer(wanted)]
    if make is claude:
        return  # its API has none; the judge does without
    assert sum(len(event.tokens) for event in events) >= 3
    if not isinstance(backend, ScriptedBackend):
        assert not any(b"logprobs" in event.wire for event in events)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_failure_is_a_backend_error_with_its_fault(stage, stream):
    async with stage("broken") as backend:
        with pytest.raises(BackendError) as raised:
            [event async for event in backend.answer(call(stream=stream))]
    assert raised.value.fault is Fault.SERVER
    assert raised.value.backend == "b"


@pytest.mark.parametrize("stream", [False, True])
async def test_nothing_runs_longer_than_the_deadline(stage, stream):
    async with stage("silent") as backend:
        with pytest.raises(BackendError) as raised:
            [event async for event in backend.answer(call(stream=stream, within_s=0.2))]
    assert raised.value.fault is Fault.TIMEOUT


@pytest.mark.parametrize("stream", [False, True])
async def test_cancelling_stops_the_work_behind_it(stream):
    async with Upstream(hangs()) as upstream:
        transport = Transport(upstream.base_url, TimeoutsConfig(), key=None, proxy=None)
        async with transport:
            backend = HttpBackend(
                spec("b"), transport, ChatCompletions("m"), redact=Redactor(), clock=CLOCK
            )
            asking = asyncio.ensure_future(anext(backend.answer(call(stream=stream))))
            while not upstream.posts:
                await asyncio.sleep(0.01)
            asking.cancel()
            await asyncio.wait_for(upstream.posts[0].gone.wait(), 5)


async def test_closing_the_generator_early_is_allowed(make):
    async with make("well") as backend:
        async with aclosing(backend.answer(call(stream=True))) as events:
            await anext(events)
        (again,) = [event async for event in backend.answer(call())]
    assert again.text


async def test_a_probe_of_a_living_backend_returns(make):
    async with make("well") as backend:
        await backend.probe()
