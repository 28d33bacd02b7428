"""The one door (R32): nothing that may not leave gets through it, and what leaves is noted."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from itertools import product

import pytest
from msgspec.structs import replace

from hybridge.core.backend import BackendSpec, Call
from hybridge.core.clock import Deadline
from hybridge.core.errors import BackendError, Fault
from hybridge.core.request import Clearance, Message, Request, Tier
from hybridge.core.response import Completion, Event
from hybridge.core.trail import Exit, Trail
from hybridge.execution.egress import Guarded, let_out
from hybridge.testing.clock import ManualClock

REAL = Request(id="1", model="auto", messages=(Message("user", "13800138000"),), body={})
HIDDEN = replace(REAL, messages=(Message("user", "[PHONE_1_abcd]"),), trail=Trail())


class Mask:
    """A disguise that can be told from the request it hides."""

    request = HIDDEN

    async def restored(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        async for event in events:
            yield replace(event, text=event.text.replace("[PHONE_1_abcd]", "13800138000"))


class Echo:
    """Answers with what it was asked."""

    def __init__(self, *, leaves: bool) -> None:
        self.spec = BackendSpec("echo", Tier.CLOUD, "m", leaves_device=leaves)
        self.asked: list[Request] = []

    async def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        self.asked.append(call.request)
        yield Completion(b"{}", call.request.messages[0].text)

    async def probe(self) -> None: ...


def asked(clearance: Clearance, *, disguised: bool) -> Request:
    return replace(REAL, clearance=clearance, disguise=Mask() if disguised else None, trail=Trail())


@pytest.mark.anyio
@pytest.mark.parametrize(("clearance", "disguised"), list(product(Clearance, (False, True))))
async def test_who_is_here_gets_it_as_it_is(clearance: Clearance, disguised: bool) -> None:
    backend, request = Echo(leaves=False), asked(clearance, disguised=disguised)
    deadline = Deadline.after(1.0, ManualClock())
    (answer,) = [event async for event in Guarded(backend).answer(Call(request, deadline))]
    assert answer.text == "13800138000"
    assert backend.asked == [request]
    assert request.trail.exits == ()


@pytest.mark.anyio
@pytest.mark.parametrize("disguised", [False, True])
async def test_who_is_elsewhere_gets_what_may_leave(disguised: bool) -> None:
    deadline = Deadline.after(1.0, ManualClock())
    for clearance in Clearance:
        backend, request = Echo(leaves=True), asked(clearance, disguised=disguised)
        call = Call(request, deadline)
        if clearance is Clearance.ANYWHERE:
            (answer,) = [event async for event in Guarded(backend).answer(call)]
            assert backend.asked == [request]
            assert request.trail.exits == (Exit("echo"),)
        elif clearance is Clearance.DISGUISED and disguised:
            (answer,) = [event async for event in Guarded(backend).answer(call)]
            assert backend.asked == [HIDDEN]
            assert answer.text == "13800138000"
            assert request.trail.exits == (Exit("echo", disguised=True),)
        else:
            with pytest.raises(BackendError) as error:
                Guarded(backend).answer(call)
            assert error.value.fault is Fault.REFUSED
            assert backend.asked == []
            assert request.trail.exits == ()


def test_what_leaves_after_the_end_is_told_as_well() -> None:
    late: list[Exit] = []
    request = asked(Clearance.ANYWHERE, disguised=False)
    elsewhere = Echo(leaves=True).spec
    let_out(request, elsewhere)
    assert request.trail.close(late.append) == (Exit("echo"),)
    let_out(request, elsewhere, "judge")
    assert late == [Exit("echo", "judge")]
    assert request.trail.exits == (Exit("echo"),)
