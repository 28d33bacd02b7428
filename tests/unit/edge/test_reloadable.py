"""An engine that can be put down and taken up again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from msgspec.structs import replace

from hybridge.core.backend import BackendSpec, Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.errors import BackendError, Fault, ModelError
from hybridge.core.request import Request
from hybridge.core.response import Event
from hybridge.edge.reloadable import Reloadable, State
from hybridge.testing.backend import Hang, ScriptedBackend, saying, spec

pytestmark = pytest.mark.anyio
EXPECTED = spec("e")
LOADED = replace(EXPECTED, version="abc")


class ScriptedEngine(ScriptedBackend):
    """A scripted backend that can be closed."""

    closed_engines = 0

    async def close(self) -> None:
        type(self).closed_engines += 1


def call() -> Call:
    request = Request(id="r", model="auto", messages=(), body={})
    return Call(request, Deadline.after(30, SystemClock()))


async def load() -> ScriptedEngine:
    await asyncio.sleep(0)
    return ScriptedEngine(LOADED, saying("here I am"))


async def test_it_answers_as_soon_as_it_is_loaded() -> None:
    backend = Reloadable(EXPECTED, load)
    assert backend.spec == EXPECTED
    await backend.load()
    assert backend.spec == LOADED
    (answer,) = [event async for event in backend.answer(call())]
    assert answer.text == "here I am"
    await backend.probe()


async def test_absent_it_fails_like_an_unreachable_server() -> None:
    backend = Reloadable(EXPECTED, load)
    for attempt in (backend.probe(), anext(backend.answer(call()))):
        with pytest.raises(BackendError) as caught:
            await attempt
        assert caught.value.fault is Fault.NETWORK


async def test_put_down_and_taken_up_again() -> None:
    backend, before = Reloadable(EXPECTED, load), ScriptedEngine.closed_engines
    await backend.load()
    await backend.unload()
    await backend.unload()
    assert ScriptedEngine.closed_engines == before + 1
    with pytest.raises(BackendError):
        await backend.probe()
    await backend.load()
    await backend.probe()


async def test_many_who_load_at_once_load_once() -> None:
    loads = []

    async def counted() -> ScriptedEngine:
        loads.append(1)
        return await load()

    backend = Reloadable(EXPECTED, counted)
    await asyncio.gather(*(backend.load() for _ in range(5)))
    assert len(loads) == 1


async def test_what_cannot_be_loaded_stays_absent() -> None:
    async def broken() -> ScriptedEngine:
        raise ModelError("no such file")

    backend = Reloadable(EXPECTED, broken)
    with pytest.raises(ModelError):
        await backend.load()
    with pytest.raises(BackendError):
        await backend.probe()


async def test_closing_an_answer_closes_the_engines() -> None:
    engine = ScriptedEngine(LOADED, [*saying("a b", stream=True)[:2], Hang()])

    async def loaded() -> ScriptedEngine:
        return engine

    backend = Reloadable(EXPECTED, loaded)
    await backend.load()
    answer = backend.answer(call())
    await anext(answer)
    await answer.aclose()
    assert (engine.closed, engine.running) == (1, 0)


class Gate:
    """Loads that end when told to, and count how many run at once."""

    def __init__(self, engine: ScriptedEngine | None = None) -> None:
        self.open = asyncio.Event()
        self.engine = engine
        self.loads = self.running = self.most = 0
        self.error: Exception | None = None

    async def load(self) -> ScriptedEngine:
        self.loads += 1
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.open.wait()
        finally:
            self.running -= 1
        if self.error is not None:
            raise self.error
        return self.engine or await load()


def short(seconds: float = 0.02) -> Call:
    request = Request(id="r", model="auto", messages=(), body={})
    return Call(request, Deadline.after(seconds, SystemClock()))


async def said(backend: Reloadable, asked: Call | None = None) -> str:
    return "".join([event.text async for event in backend.answer(asked or call())])


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_its_state_is_told() -> None:
    gate = Gate()
    backend = Reloadable(EXPECTED, gate.load)
    assert backend.state == State("absent")
    loading = asyncio.create_task(backend.load())
    await settled()
    assert backend.state == State("loading")
    with pytest.raises(BackendError, match="still loading") as caught:
        await backend.probe()
    assert caught.value.fault is Fault.REFUSED
    assert caught.value.retry_after_s
    gate.open.set()
    await loading
    assert backend.state == State("ready")
    await backend.unload()
    assert backend.state == State("absent")


async def test_who_asks_while_it_is_loaded_waits_for_it() -> None:
    gate = Gate()
    backend = Reloadable(EXPECTED, gate.load)
    loads = [asyncio.create_task(backend.load()) for _ in range(3)]
    await settled()
    asked = [asyncio.create_task(said(backend)) for _ in range(3)]
    await settled()
    gate.open.set()
    assert await asyncio.gather(*asked) == ["here I am"] * 3
    await asyncio.gather(*loads)
    assert gate.loads == 1


async def test_who_waits_for_it_waits_no_longer_than_the_deadline() -> None:
    gate = Gate()
    backend = Reloadable(EXPECTED, gate.load)
    loading = asyncio.create_task(backend.load())
    await settled()
    with pytest.raises(BackendError, match="still loading") as caught:
        await said(backend, short())
    assert caught.value.fault is Fault.REFUSED
    assert caught.value.retry_after_s
    gate.open.set()
    await loading


async def test_a_load_that_fails_fails_all_who_wait_with_its_cause() -> None:
    gate = Gate()
    gate.error = ModelError("/m/a.gguf is broken")
    backend = Reloadable(EXPECTED, gate.load)
    loads = [asyncio.create_task(backend.load()) for _ in range(3)]
    await settled()
    asked = asyncio.create_task(said(backend))
    await settled()
    gate.open.set()
    for outcome in await asyncio.gather(*loads, return_exceptions=True):
        assert isinstance(outcome, ModelError)
        assert str(outcome) == "/m/a.gguf is broken"
    with pytest.raises(BackendError, match=r"could not be loaded: /m/a\.gguf is broken") as caught:
        await asked
    assert caught.value.fault is Fault.NETWORK
    assert (gate.loads, backend.state) == (1, State("failed", "/m/a.gguf is broken"))
    gate.error = None
    await backend.load()
    assert await said(backend) == "here I am"


async def test_a_load_that_is_given_up_leaves_it_absent() -> None:
    gate = Gate()
    backend = Reloadable(EXPECTED, gate.load)
    loading = asyncio.create_task(backend.load())
    await settled()
    asked = asyncio.create_task(said(backend))
    await settled()
    loading.cancel()
    with pytest.raises(BackendError, match="not loaded"):
        await asked
    assert backend.state == State("absent")


class Two:
    """A backend that answers with a long stream, and one that may take its place."""

    def __init__(self, drain_s: float = 30.0) -> None:
        more = asyncio.Event()
        self.go_on = more
        self.old = SlowEngine(replace(EXPECTED, model="old", version="1"), more)
        self.new = ScriptedEngine(replace(EXPECTED, model="new", version="2"), saying("new here"))
        self.backend = Reloadable(EXPECTED, self.load_old, drain_s=drain_s)

    async def load_old(self) -> ScriptedEngine:
        return self.old

    async def load_new(self) -> ScriptedEngine:
        assert not self.old.freed  # the old one is still in service
        return self.new


class SlowEngine(ScriptedEngine):
    """Says one word, and the other when told to; closing it ends what it says."""

    def __init__(self, described: BackendSpec, go_on: asyncio.Event) -> None:
        super().__init__(described)
        self.go_on = go_on
        self.freed = False

    async def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        first, *rest = saying("old words", stream=True)
        yield first  # type: ignore[misc]
        await self.go_on.wait()
        if self.freed:
            raise BackendError("closed", backend="e", fault=Fault.NETWORK)
        for step in rest:
            yield step  # type: ignore[misc]

    async def close(self) -> None:
        self.freed = True
        self.go_on.set()


async def test_an_exchange_lets_the_old_one_finish_and_the_new_one_begin() -> None:
    two = Two()
    await two.backend.load()
    running = two.backend.answer(call())
    words = [(await anext(running)).text]
    await two.backend.swap(two.load_new)
    assert (two.backend.spec.model, two.backend.spec.version) == ("new", "2")
    assert await said(two.backend) == "new here"
    await settled()
    assert not two.old.freed
    two.go_on.set()
    words += [event.text async for event in running]
    assert "".join(words) == "old words"
    await settled()
    assert two.old.freed


async def test_the_old_one_gets_no_more_than_its_time() -> None:
    two = Two(drain_s=0.01)
    await two.backend.load()
    running = two.backend.answer(call())
    await anext(running)
    await two.backend.swap(two.load_new)
    with pytest.raises(BackendError):
        _ = [event async for event in running]
    assert two.old.freed


async def test_an_exchange_that_fails_changes_nothing() -> None:
    async def broken() -> ScriptedEngine:
        raise ModelError("/m/b.gguf is broken")

    two = Two()
    await two.backend.load()
    running = two.backend.answer(call())
    await anext(running)
    with pytest.raises(ModelError, match=r"/m/b\.gguf is broken; e goes on with old"):
        await two.backend.swap(broken)
    assert (two.backend.state, two.backend.spec.model) == (State("ready"), "old")
    two.go_on.set()
    assert "".join([event.text async for event in running]) == "old words"
    assert not two.old.freed
    await two.backend.swap(two.load_new)
    assert await said(two.backend) == "new here"


async def test_two_exchanges_at_once_follow_one_another() -> None:
    backend = Reloadable(EXPECTED, load)
    await backend.load()
    gate = Gate()
    swaps = [asyncio.create_task(backend.swap(gate.load)) for _ in range(3)]
    await settled()
    gate.open.set()
    await asyncio.gather(*swaps)
    assert (gate.loads, gate.most) == (3, 1)
    assert await said(backend) == "here I am"


async def test_an_exchange_of_nothing_is_a_load() -> None:
    two = Two()
    await two.backend.swap(two.load_new)
    assert two.backend.state == State("ready")
    assert await said(two.backend) == "new here"
    await two.backend.unload()
    await two.backend.load()  # what was taken last is what is taken up again
    assert two.backend.spec.model == "new"


async def test_putting_down_does_not_wait_for_an_exchanged_one() -> None:
    two = Two(drain_s=1000)
    await two.backend.load()
    running = two.backend.answer(call())
    await anext(running)
    await two.backend.swap(two.load_new)
    again = asyncio.create_task(two.backend.swap(load))  # waits until the old one is freed
    await settled()
    await asyncio.wait_for(two.backend.unload(), 5)
    await again
    assert two.old.freed
    with pytest.raises(BackendError):
        _ = [event async for event in running]


def versioned(name: str, *scripts) -> ScriptedEngine:
    return ScriptedEngine(replace(EXPECTED, version=name), *scripts)


class Trial:
    """One engine in force and another on trial, each request drawn as it is told."""

    def __init__(self, *scripts) -> None:
        self.lots = iter(())
        self.old, self.new = versioned("old", saying("old")), versioned("new", *scripts)
        self.backend = Reloadable(EXPECTED, self.load_old, draw=lambda: next(self.lots))
        self.heard: list[tuple[str, Fault | None]] = []
        self.backend.heard = lambda version, fault: self.heard.append((version, fault))

    async def load_old(self) -> ScriptedEngine:
        return self.old

    async def load_new(self) -> ScriptedEngine:
        return self.new

    async def begin(self, *lots: float) -> None:
        self.lots = iter(lots)
        await self.backend.load()
        await self.backend.try_out(self.load_new, 0.25)

    async def ask(self) -> tuple[str, str]:
        asked = call()
        return await said(self.backend, asked), asked.request.trail.version("e", "?")


async def test_an_engine_on_trial_gets_its_share() -> None:
    scene = Trial(saying("new"))
    await scene.begin(0.2, 0.3, 0.0, 0.9)
    told = [await scene.ask() for _ in range(4)]
    assert told == [("new", "new"), ("old", "old"), ("new", "new"), ("old", "old")]
    assert scene.heard == [("new", None), ("old", None)] * 2
    assert scene.backend.spec.version == "old"
    await scene.backend.probe_trial()


async def test_what_an_engine_on_trial_fails_at_first_the_other_answers() -> None:
    broken = [BackendError("broken", backend="e", fault=Fault.SERVER)]
    late = [*saying("half an", stream=True)[:2], *broken]
    mistaken = [BackendError("no", backend="e", fault=Fault.CALLER)]
    scene = Trial(broken, late, mistaken)
    await scene.begin(0, 0, 0)
    assert await scene.ask() == ("old", "old")
    for fault in (Fault.SERVER, Fault.CALLER):  # begun, or the caller's own
        with pytest.raises(BackendError) as caught:
            await scene.ask()
        assert caught.value.fault is fault
    assert scene.heard == [
        ("new", Fault.SERVER),
        ("old", None),
        ("new", Fault.SERVER),
        ("new", Fault.CALLER),
    ]


async def test_who_reads_no_further_than_the_end_has_an_answer_all_the_same() -> None:
    scene = Trial(saying("new"))
    await scene.begin(0)
    answer = scene.backend.answer(call())
    await anext(answer)
    await answer.aclose()
    assert scene.heard == [("new", None)]


async def test_a_promoted_engine_is_not_loaded_again_and_a_withdrawn_one_is_freed() -> None:
    scene, before = Trial(saying("new")), ScriptedEngine.closed_engines
    await scene.begin()
    await scene.backend.withdraw()
    assert ScriptedEngine.closed_engines == before + 1
    assert await scene.ask() == ("old", "old")
    await scene.backend.promote()  # nobody is on trial
    await scene.backend.try_out(scene.load_new, 0.25)
    await scene.backend.promote()
    assert await scene.ask() == ("new", "new")
    await scene.backend.unload()
    assert ScriptedEngine.closed_engines == before + 3
    await scene.backend.load()
    assert await scene.ask() == ("new", "new")


async def test_a_trial_that_cannot_be_loaded_changes_nothing() -> None:
    async def broken() -> ScriptedEngine:
        raise ModelError("no such file")

    scene = Trial()
    await scene.backend.load()
    with pytest.raises(ModelError, match="no such file"):
        await scene.backend.try_out(broken, 0.5)
    assert await scene.ask() == ("old", "old")
