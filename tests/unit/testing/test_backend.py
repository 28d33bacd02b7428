"""The scripted backend does what its script says, and remembers what was asked."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from hybridge.core.backend import Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.errors import BackendError, Fault
from hybridge.core.request import Request, Tier
from hybridge.core.response import Chunk, Completion
from hybridge.testing.backend import Hang, Pause, ScriptedBackend, saying, spec, whole

pytestmark = pytest.mark.anyio
BROKEN = BackendError("told to fail", backend="b", fault=Fault.SERVER)


def call(*, stream: bool = False, within_s: float = 20.0) -> Call:
    request = Request("r", "auto", (), {}, stream=stream)
    return Call(request, Deadline.after(within_s, SystemClock()))


async def told(backend: ScriptedBackend, **how):
    return [event async for event in backend.answer(call(**how))]


async def test_without_a_script_it_says_something():
    (answer,) = await told(ScriptedBackend(spec("b")))
    assert isinstance(answer, Completion)
    assert answer.usage is not None


async def test_scripts_are_played_in_order_and_the_last_one_again():
    backend = ScriptedBackend(spec("b"), saying("one"), saying("two"))
    texts = [(await told(backend))[0].text for _ in range(3)]
    assert texts == ["one", "two", "two"]
    assert len(backend.calls) == 3


async def test_a_whole_answer_streams_when_a_stream_is_asked_for():
    chunks = await told(ScriptedBackend(spec("b"), saying("你 好")), stream=True)
    assert all(isinstance(event, Chunk) for event in chunks)
    assert "".join(event.text for event in chunks) == "你 好"


async def test_confidence_is_the_probability_of_each_word():
    (answer,) = await told(ScriptedBackend(spec("b"), saying("one two", confidence=1.0)))
    assert [(t.text, t.logprob) for t in answer.tokens] == [("one", 0.0), (" two", 0.0)]


async def test_an_error_ends_the_script():
    first, *_ = saying("one two", stream=True)
    backend = ScriptedBackend(spec("b"), [first, BROKEN])
    async with aclosing(backend.answer(call(stream=True))) as events:
        assert await anext(events) is first
        with pytest.raises(BackendError) as caught:
            await anext(events)
    assert (str(caught.value), caught.value.fault) == (str(BROKEN), BROKEN.fault)
    assert BROKEN.__traceback__ is None, "a script that is played again must not remember"
    assert (backend.closed, backend.running) == (0, 0)


@pytest.mark.parametrize("step", [Hang(), Pause(30.0)])
async def test_waiting_ends_with_the_deadline(step):
    backend = ScriptedBackend(spec("b"), [step, whole("late")])
    with pytest.raises(BackendError) as caught:
        await told(backend, within_s=0.05)
    assert caught.value.fault is Fault.TIMEOUT


async def test_a_pause_is_only_one():
    backend = ScriptedBackend(spec("b"), [Pause(0.01), whole("here")])
    assert (await told(backend))[0].text == "here"


async def test_who_closes_early_is_counted():
    backend = ScriptedBackend(spec("b"), saying("one two"))
    async with aclosing(backend.answer(call(stream=True))) as events:
        await anext(events)
        assert backend.running == 1
    assert (backend.closed, backend.running) == (1, 0)
    await told(backend)
    assert backend.closed == 1


async def test_probes_fail_as_told_and_then_no_more():
    backend = ScriptedBackend(spec("b"), probes=[BROKEN, None])
    with pytest.raises(BackendError):
        await backend.probe()
    await backend.probe()
    await backend.probe()
    assert backend.probed == 3


def test_a_cloud_leaves_the_device_unless_told_otherwise():
    assert spec("c", Tier.CLOUD).leaves_device
    assert not spec("e").leaves_device
    assert spec("e", leaves_device=True).leaves_device
