"""What every backend must do, whatever is behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

import pytest

from hybridge.cloud.config import TimeoutsConfig
from hybridge.cloud.openai_compatible import OpenAICompatible
from hybridge.cloud.transport import Transport
from hybridge.core.backend import Backend, Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor
from hybridge.core.request import Message, Request
from hybridge.core.response import Chunk, Completion
from hybridge.testing.backend import Hang, ScriptedBackend, saying, spec
from hybridge.testing.replies import fails, hangs, says
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()
Make = Callable[[str], AbstractAsyncContextManager[Backend]]
"""Makes a backend that behaves as named: `well`, `silent` or `broken`."""


@asynccontextmanager
async def scripted(behaviour: str) -> AsyncIterator[Backend]:
    broken = BackendError("told to fail", backend="b", fault=Fault.SERVER)
    scripts = {"well": saying("One two three.", confidence=0.9), "silent": [Hang()], "broken": [broken]}
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
            yield OpenAICompatible(
                spec("b"), transport, limit_field="as_sent", redact=Redactor(), clock=CLOCK
            )


@pytest.fixture(params=[scripted, over_http])
def make(request: pytest.FixtureRequest) -> Make:
    return request.param


def call(*, stream: bool = False, within_s: float = 20.0, want_logprobs: bool = False) -> Call:
    body = {"model": "auto", "messages": [{"role": "user", "content": "Count."}], "max_tokens": 12}
    body |= {"stream": True} if stream else {}
    request = Request(
        "r", "auto", (Message("user", "Count."),), body, stream=stream, max_tokens=12
    )
    return Call(request, Deadline.after(within_s, CLOCK), want_logprobs)


async def test_a_whole_answer_is_one_completion(make):
    async with make("well") as backend:
        events = [event async for event in backend.answer(call())]
    (answer,) = events
    assert isinstance(answer, Completion)
    assert answer.text == "One two three."
    assert answer.finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.completion_tokens > 0


async def test_a_stream_says_the_same_in_chunks(make):
    async with make("well") as backend:
        events = [event async for event in backend.answer(call(stream=True))]
    assert all(isinstance(event, Chunk) for event in events)
    assert "".join(event.text for event in events) == "One two three."
    assert [e.finish_reason for e in events if e.finish_reason] == ["stop"]


@pytest.mark.parametrize("stream", [False, True])
async def test_token_probabilities_come_when_the_judge_wants_them_and_stay_out_of_the_wire(
    make, stream
):
    async with make("well") as backend:
        wanted = call(stream=stream, want_logprobs=True)
        events = [event async for event in backend.answer(wanted)]
    assert sum(len(event.tokens) for event in events) >= 3
    if not isinstance(backend, ScriptedBackend):
        assert not any(b"logprobs" in event.wire for event in events)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_failure_is_a_backend_error_with_its_fault(make, stream):
    async with make("broken") as backend:
        with pytest.raises(BackendError) as raised:
            [event async for event in backend.answer(call(stream=stream))]
    assert raised.value.fault is Fault.SERVER
    assert raised.value.backend == "b"


@pytest.mark.parametrize("stream", [False, True])
async def test_nothing_runs_longer_than_the_deadline(make, stream):
    async with make("silent") as backend:
        with pytest.raises(BackendError) as raised:
            [event async for event in backend.answer(call(stream=stream, within_s=0.2))]
    assert raised.value.fault is Fault.TIMEOUT


@pytest.mark.parametrize("stream", [False, True])
async def test_cancelling_stops_the_work_behind_it(stream):
    async with Upstream(hangs()) as upstream:
        transport = Transport(upstream.base_url, TimeoutsConfig(), key=None, proxy=None)
        async with transport:
            backend = OpenAICompatible(
                spec("b"), transport, limit_field="as_sent", redact=Redactor(), clock=CLOCK
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
        again = [event async for event in backend.answer(call())]
    assert again[0].text == "One two three."


async def test_a_probe_of_a_living_backend_returns(make):
    async with make("well") as backend:
        await backend.probe()


