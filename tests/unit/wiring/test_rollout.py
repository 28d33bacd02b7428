"""What becomes of a version that loads and then fails, and of a store that cannot be reached."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.unit.wiring.scene import until

from hybridge.core.backend import Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.errors import BackendError, Fault, ModelError
from hybridge.core.events import Events, GatewayEvent, ModelSwitched
from hybridge.core.request import Request
from hybridge.modelstore.folder import FolderPlace
from hybridge.modelstore.model_library import Library
from hybridge.modelstore.place import Stamped, Unreachable
from hybridge.modelstore.trial import Terms
from hybridge.modelstore.versions import Versions
from hybridge.testing.backend import Script, ScriptedBackend, saying, spec
from hybridge.wiring.following import Following
from hybridge.wiring.rollout import Rollout
from hybridge.wiring.steps import Steps

pytestmark = pytest.mark.anyio
CLOCK = SystemClock()
SPEC = replace(spec("local"), model="m")


class Far(FolderPlace):
    """A place that is reached over a network which may be gone."""

    gone = False
    mute = False

    def read(self, key: str) -> Stamped | None:
        self._look(self.gone)
        return super().read(key)

    def write(self, key: str, data: bytes, *, expecting: str | None = None) -> None:
        self._look(self.gone or self.mute)
        super().write(key, data, expecting=expecting)

    def _look(self, gone: bool) -> None:
        if gone:
            raise Unreachable(f"{self.address} cannot be reached")


class Weights(ScriptedBackend):
    """An engine that does as its weights say: `good`, or how many of its answers are good."""

    freed = 0

    def __init__(self, version: str, text: str) -> None:
        scripts: list[Script] = [saying(text)]
        if text.startswith("fails after "):
            failure = BackendError("it broke", backend="local", fault=Fault.SERVER)
            scripts = [saying(text)] * int(text.removeprefix("fails after ")) + [[failure]]
        sick = BackendError("it is gone", backend="local", fault=Fault.NETWORK)
        probes = [None, *[sick] * 1000] if text == "falls ill" else ()
        super().__init__(replace(SPEC, version=version), *scripts, probes=probes)

    async def close(self) -> None:
        Weights.freed += 1


@dataclass
class Stage:
    rollout: Rollout
    store: Versions
    place: Far
    folder: Path
    following: Following
    events: list[GatewayEvent] = field(default_factory=list)

    def push(self, text: str) -> str:
        return pushed(self.store, self.folder, text)

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(e.outcome, e.version) for e in self.events if isinstance(e, ModelSwitched)]

    async def ask(self) -> tuple[str, str]:
        """What was said, and by which version."""
        asked = Request(id="r", model="auto", messages=(), body={})
        call = Call(asked, Deadline.after(30, CLOCK))
        texts = [event.text async for event in self.rollout.engine.answer(call)]
        return "".join(texts), asked.trail.version("local", "unknown")

    async def settle(self, wanted: Callable[[], object]) -> None:
        await self.following.look()
        await until(wanted)


def pushed(store: Versions, folder: Path, text: str) -> str:
    path = folder / "w.gguf"
    path.write_text(text)
    return store.push("m", path).version


@pytest.fixture
def stage(tmp_path: Path):
    @asynccontextmanager
    async def opened(
        *texts: str, far: bool = False, base: bool = False, terms: Terms | None = None
    ) -> AsyncIterator[Stage]:
        place = Far(tmp_path / "store")
        store = Versions(place)
        for text in texts:
            store.activate("m", pushed(store, tmp_path, text))
        library = Library(store, FolderPlace(tmp_path / "copies") if far else place)
        held_to, heard = terms or Terms(10, 300, 0.2, 0.02), list[GatewayEvent]()

        async def make(folder: Path, version: str) -> Weights:
            text = (folder / "model.gguf").read_text()
            if text == "cannot be loaded":
                raise ModelError(text)
            return Weights(version, "" if text == "mute" else text)

        async def known() -> Weights:
            return Weights("base", "base")

        following = Following(library, 3600)
        steps = Steps(library, "m", CLOCK)
        rollout = Rollout(
            SPEC, steps, make, known if base else None, lambda: held_to, Events(heard.append), CLOCK
        )
        following.follow("m", rollout.moved)
        try:
            yield Stage(rollout, store, place, tmp_path, following, heard)
        finally:
            await rollout.close()
            await rollout.engine.unload()

    return opened


async def test_a_version_whose_first_answers_fail_is_rolled_back(stage) -> None:
    async with stage("good") as scene:
        await scene.rollout.engine.load()
        good, bad = scene.store.pointer("m").active, scene.push("fails after 4")
        scene.store.activate("m", bad)
        await scene.settle(lambda: ("activated", bad) in scene.outcomes)
        for _ in range(2 * 3):
            with suppress(BackendError):
                await scene.ask()
        await scene.settle(lambda: ("rolled_back", good) in scene.outcomes)
        assert await scene.ask() == ("good", good)
        last = scene.store.history("m")[-1]
        assert (last.by, last.reason) == ("gateway", "3 of its first 6 answers failed")


async def test_a_version_that_falls_ill_is_rolled_back(stage) -> None:
    async with stage("good") as scene:
        await scene.rollout.engine.load()
        good, ill = scene.store.pointer("m").active, scene.push("falls ill")
        scene.store.activate("m", ill)
        await scene.settle(lambda: ("rolled_back", good) in scene.outcomes)
        assert scene.store.history("m")[-1].reason == "3 health probes in a row failed"


async def test_a_version_that_serves_well_stays_and_may_fail_later(stage) -> None:
    async with stage("good", terms=Terms(3, 300, 0.2)) as scene:
        await scene.rollout.engine.load()
        new = scene.push("fails after 5")
        scene.store.activate("m", new)
        await scene.settle(lambda: ("activated", new) in scene.outcomes)
        for _ in range(4):
            assert await scene.ask() == ("fails after 5", new)
        for _ in range(4):
            with pytest.raises(BackendError):
                await scene.ask()
        await scene.following.look()
        assert scene.store.pointer("m").active == new


async def test_a_canary_that_fails_costs_nobody_an_answer(stage) -> None:
    async with stage("good") as scene:
        await scene.rollout.engine.load()
        good, bad = scene.store.pointer("m").active, scene.push("fails after 1")
        scene.store.activate("m", bad, share=0.999)
        await scene.settle(lambda: ("on_trial", bad) in scene.outcomes)
        for _ in range(8):
            assert await scene.ask() == ("good", good)
        await scene.settle(lambda: ("withdrawn", bad) in scene.outcomes)
        assert scene.store.pointer("m").trial is None
        assert Weights.freed


async def test_a_canary_without_answers_stays_one(stage) -> None:
    async with stage("good", terms=Terms(3, 0.05, 0.2, 0.02)) as scene:
        await scene.rollout.engine.load()
        new = scene.push("better")
        scene.store.activate("m", new, share=0.5)
        await scene.settle(lambda: ("on_trial", new) in scene.outcomes)
        await asyncio.sleep(0.2)
        assert scene.store.pointer("m").trial is not None
        scene.store.activate("m")
        await scene.settle(lambda: ("promoted", new) in scene.outcomes)
        assert await scene.ask() == ("better", new)


async def test_what_cannot_be_taken_back_in_the_store_is_taken_back_here(stage) -> None:
    async with stage("good") as scene:
        await scene.rollout.engine.load()
        good, bad = scene.store.pointer("m").active, scene.push("mute")
        scene.store.activate("m", bad)
        scene.place.mute = True
        await scene.settle(lambda: ("refused", bad) in scene.outcomes)
        assert await scene.ask() == ("good", good)
        await scene.following.look()
        assert scene.outcomes == [("refused", bad)]  # and not tried again and again
        scene.place.mute = False
        again = scene.push("better")
        scene.store.activate("m", again)
        await scene.settle(lambda: ("activated", again) in scene.outcomes)


async def test_a_store_that_is_gone_leaves_what_is_there_and_is_followed_again(stage) -> None:
    async with stage("good", far=True) as scene:
        await scene.rollout.engine.load()
        good, new = scene.store.pointer("m").active, scene.push("better")
        scene.store.activate("m", new)
        scene.place.gone = True
        await scene.following.look()
        assert not await scene.rollout.moved()
        assert await scene.ask() == ("good", good)
        scene.place.gone = False
        await scene.settle(lambda: ("activated", new) in scene.outcomes)


async def test_a_start_without_the_store_takes_what_was_in_force_last(stage) -> None:
    async with stage("good", far=True) as scene:
        await scene.rollout.engine.load()
        good = scene.store.pointer("m").active
        await scene.rollout.engine.unload()
        scene.place.gone = True
        await scene.rollout.engine.load()
        assert await scene.ask() == ("good", good)


async def test_a_first_start_without_the_store_names_it(stage) -> None:
    async with stage(far=True) as scene:
        scene.place.gone = True
        with pytest.raises(ModelError, match=r"store cannot be reached"):
            await scene.rollout.engine.load()


async def test_without_a_version_the_way_out_is_named(stage) -> None:
    async with stage() as scene:
        with pytest.raises(ModelError, match="hybridge models push m PATH"):
            await scene.rollout.engine.load()


async def test_of_many_versions_that_fail_at_the_start_the_last_good_one_is_taken(stage) -> None:
    async with stage("good", "mute", "cannot be loaded") as scene:
        await scene.rollout.engine.load()
        assert (await scene.ask())[0] == "good"
        whats = [step.what for step in scene.store.history("m")][-2:]
        assert whats == ["rolled back", "rolled back"]


async def test_where_all_fail_at_the_start_the_cause_is_told(stage) -> None:
    async with stage("mute", "cannot be loaded") as scene:
        with pytest.raises(ModelError, match="said nothing|cannot be loaded"):
            await scene.rollout.engine.load()


async def test_a_first_version_that_fails_leaves_the_catalogues_weights(stage) -> None:
    async with stage(base=True) as scene:
        await scene.rollout.engine.load()
        bad = scene.push("mute")
        scene.store.activate("m", bad)
        await scene.settle(lambda: scene.store.pointer("m").active is None)
        assert await scene.ask() == ("base", "base")
        good = scene.push("good")
        scene.store.activate("m", good)
        await scene.settle(lambda: ("activated", good) in scene.outcomes)
        scene.store.roll_back("m", by="gateway")
        await scene.settle(lambda: ("rolled_back", "") in scene.outcomes)
        assert await scene.ask() == ("base", "base")
