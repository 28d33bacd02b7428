"""An answer under way: what it counts, and what its breaker is told."""

from __future__ import annotations

import pytest

from hybridge.core.assembly import as_chunks
from hybridge.core.backend import Call
from hybridge.core.clock import Deadline
from hybridge.core.plan import Attempt, Route
from hybridge.core.request import Message, Request, Tier
from hybridge.execution.answer import TOKEN_S, Answer
from hybridge.testing.backend import calling, spec, whole
from hybridge.testing.clock import ManualClock

pytestmark = pytest.mark.anyio
TOOK_S = 2.0


class Told:
    """A permit that writes down what it was told."""

    def __init__(self):
        self.said = []

    def began(self, first_byte_s):
        self.said.append(("began", first_byte_s))

    def succeeded(self, first_byte_s):
        self.said.append(("succeeded", first_byte_s))

    def failed(self, fault, retry_after_s):
        self.said.append(("failed", fault.value))

    def abandon(self):
        self.said.append(("abandoned",))


def answering(*events, told=None):
    """The answer of a cloud whose every event takes `TOOK_S`."""
    clock = ManualClock()

    async def source():
        for event in events:
            clock.advance(TOOK_S)
            yield event

    request = Request("r", "auto", (Message("user", "Hi"),), {})
    return Answer(
        Attempt("c", Tier.CLOUD, Route.DIRECT),
        spec("c", Tier.CLOUD),
        source(),
        Call(request, Deadline.after(100, clock)),
        told or Told(),
        clock,
        lambda _: None,
    )


@pytest.mark.parametrize("said", [whole("one two three four"), calling("f", '{"a": 1}')])
async def test_every_event_of_a_stream_is_a_piece(said):
    events = as_chunks(said)
    answer = answering(*events)
    assert len([event async for event in answer]) == len(events) == answer.pieces
    assert answer.elapsed_ms == 1000 * TOOK_S * len(events)


async def test_a_stream_says_that_it_began_before_it_says_how_it_ended():
    told = Told()
    answer = answering(*as_chunks(whole("Hello.")), told=told)
    await anext(answer)
    assert told.said == [("began", TOOK_S)]
    assert [event async for event in answer]
    assert told.said[1:] == [("succeeded", TOOK_S)]


async def test_a_long_answer_that_came_whole_is_no_slow_first_byte():
    told = Told()
    words = 30
    answer = answering(whole(" ".join(["word"] * words)), told=told)
    assert [event async for event in answer]
    assert answer.first_event_s == TOOK_S
    assert told.said == [("succeeded", pytest.approx(TOOK_S - words * TOKEN_S))]


async def test_nothing_at_all_is_no_success():
    told = Told()
    assert [event async for event in answering(told=told)] == []
    assert told.said == [("failed", "protocol")]


async def test_the_model_is_what_the_backend_calls_it_wherever_it_says_so():
    first, *others = as_chunks(whole("Hello.", model="m-2030-01-01"))
    answer = answering(type(first)(b"{}"), first, *others)
    assert [event async for event in answer]
    assert answer.model == "m-2030-01-01"
