"""R32, whole: whatever is configured, asked and broken, no private value leaves the device.

Each example is one configuration and one request with one value planted somewhere in it. The
gateway is the real one, and so is everything around it, on loopback; what is not on the device
records all that it is told.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.asgi import call
from tests.integration.private.elsewhere import MOODS, NEAR_MOODS, Elsewhere
from tests.integration.private.places import CHAT, EMBEDDINGS, HELLO, PLACES, RESPONSES
from tests.integration.private.values import VALUES, traces

from hybridge.settings import parse
from hybridge.wiring import House, open_house

EXAMPLES = 500
ENVIRONMENT = {"D_KEY": "d-key-0123456789"}
PATIENT = {"breaker_failures": 10**6, "breaker_window": 10**6, "deadline_s": 10}
COMPARING = {"shadow_rate": 1.0, "shadow_concurrency": 4}
QUESTION = {"role": "user", "content": "What is the capital of France?"}
_log = logging.getLogger()

routing = st.fixed_dictionaries(
    {
        "confidence_min": st.sampled_from([0.0, 0.7, 0.99]),
        "confidence_unknown": st.sampled_from(["accept", "escalate"]),
        "hedge_after_ms": st.sampled_from([None, 1]),
        "fallbacks": st.sampled_from([{}, {"e": ["c", "d"]}, {"c": ["d"], "e": ["d"]}]),
    }
).flatmap(
    lambda one: st.sampled_from([(4, 7), (10, 11), (0, 1), (0, 11)]).map(
        lambda bounds: one | {"edge_max": bounds[0], "cloud_min": bounds[1]}
    )
)
sections = st.fixed_dictionaries(
    {
        "routing": routing,
        "learning": st.sampled_from([{}, COMPARING, COMPARING | {"judge": {"backend": "c"}}]),
        "privacy": st.sampled_from(
            [
                {},
                {"private_sessions": False},
                {"types": {"SECRET": "block"}},
                {"action": "pseudonymise"},
                {"action": "block", "types": {"EMAIL": "pseudonymise", "PHONE": "local_only"}},
                {"types": {"PERSON": "allow"}, "unexamined": "local_only"},
            ]
        ),
    },
    optional={
        "cache": st.sampled_from([{}, {"semantic": {}}, {"scope": "all"}]).flatmap(
            lambda one: st.sampled_from([one, one | {"store": "redis"}])
        )
    },
)


@dataclass(frozen=True)
class Asked:
    """One request, and the moods of those who answer."""

    path: str
    place: str
    body: dict[str, Any]
    headers: dict[str, str]
    near: str
    far: str


@st.composite
def requests(draw: st.DrawFn, value: str) -> Asked:
    path = draw(st.sampled_from(sorted(PLACES)))
    place = draw(st.sampled_from(sorted(PLACES[path])))
    models = ["auto", "v"] if path == EMBEDDINGS else ["auto", "auto", "c", "d", "e"]
    body = {"model": draw(st.sampled_from(models)), **PLACES[path][place](value)}
    if path != EMBEDDINGS and draw(st.booleans()):
        body["stream"] = True
    headers = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "x-hybridge-route": st.sampled_from(["auto", "cloud", "edge"]),
                "x-hybridge-privacy": st.sampled_from(["low", "pseudonymise", "high"]),
                "x-session-id": st.sampled_from(["s", value]),
                "x-request-id": st.just("mine"),
            },
        )
    )
    near = draw(st.sampled_from(["sure", "sure", *sorted(NEAR_MOODS)]))
    far = draw(st.sampled_from(sorted(MOODS)))
    return Asked(path, place, body, headers, near, far)


class Memory(logging.Handler):
    """Everything that was logged, at every level."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@dataclass
class World:
    """A running gateway, what is around it, and what was seen so far."""

    runner: asyncio.Runner
    house: House
    elsewhere: Elsewhere
    folder: Path
    memory: Memory
    values: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    async def take(self, sections_: dict[str, Any]) -> None:
        data = self.elsewhere.config(**base(self.folder), **sections_)
        await self.house.take(parse(data, ENVIRONMENT))

    async def ask(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> bytes:
        """The status and the whole answer."""
        raw = json.dumps(body).replace(
            "http://127.0.0.1:9/", f"{self.elsewhere.pictures.root_url}/"
        )
        said = [(name.encode(), value.encode()) for name, value in headers.items()]
        status, answer = await call(self.house.app, path, raw.encode(), said)
        return b"%d " % status + answer

    async def settled(self) -> None:
        """Returns when comparisons that go on after their request are over."""
        while any(task.get_name() == "shadow" for task in asyncio.all_tasks()):
            await asyncio.sleep(0.005)


def base(folder: Path) -> dict[str, Any]:
    records = {"url": f"sqlite+aiosqlite:///{folder / 'records.db'}"}
    return {"records": records, "execution": PATIENT, "server": {"port": 0}}


class Connections:
    """Whom this process connects to, as the interpreter itself tells it."""

    def __init__(self) -> None:
        self.ports: set[int] = set()
        self.watching = True
        sys.addaudithook(self._on_event)

    def _on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.watching and event == "socket.connect" and isinstance(arguments[1], tuple):
            host, port = arguments[1][:2]
            self.ports.add(port if host in {"127.0.0.1", "::1"} else -1)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder, memory = tmp_path_factory.mktemp("private"), Memory()
    stack, level = AsyncExitStack(), _log.level
    _log.addHandler(memory)
    _log.setLevel(logging.DEBUG)
    with asyncio.Runner() as runner:
        elsewhere = runner.run(stack.enter_async_context(Elsewhere()))
        first = parse(elsewhere.config(**base(folder)), ENVIRONMENT)
        house = runner.run(stack.enter_async_context(open_house(first)))
        made = World(runner, house, elsewhere, folder, memory)
        connections = Connections()
        try:
            yield made
        finally:
            connections.watching = False
            assert connections.ports, "nothing was ever asked"
            assert connections.ports <= elsewhere.ports, "somebody else was asked"
            runner.run(stack.aclose())
            _log.removeHandler(memory)
            _log.setLevel(level)
            _nothing_is_kept(made)


def _nothing_is_kept(world: World) -> None:
    """Records, logs, alerts and traces of the whole run hold none of the values."""
    kept = b"".join(path.read_bytes() for path in world.folder.iterdir())
    logged = "\n".join(world.memory.lines).encode()
    elsewhere = world.elsewhere
    assert elsewhere.hook.posts, "nobody was alerted"
    assert elsewhere.collector.posts, "nothing was traced"
    news = b"\n".join(elsewhere.news())
    assert b"req-" in kept
    for value in world.values:
        for trace in traces(value):
            assert trace not in kept
            assert trace not in logged
            assert trace not in news


def leaks(said: list[bytes], value: str) -> list[bytes]:
    return [one for one in said for trace in traces(value) if trace in one]


@given(st.data())
@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def every_example(world: World, data: st.DataObject) -> None:
    value = data.draw(VALUES)
    configured, asked = data.draw(sections), data.draw(requests(value))
    world.values.append(value)
    world.runner.run(_nothing_leaves(world, value, configured, asked))


async def _nothing_leaves(
    world: World, value: str, configured: dict[str, Any], asked: Asked
) -> None:
    await world.take(configured)
    world.elsewhere.set(asked.near, asked.far)
    told = await world.ask(asked.path, asked.body, asked.headers)
    if asked.path == RESPONSES and told.startswith(b"200"):
        await _goes_on(world, asked, told)
    await world.ask("/v1/route", {**asked.body, "messages": [HELLO]}, asked.headers)
    await world.settled()
    said = world.elsewhere.told()
    assert leaks(said, value) == [], (asked, configured)
    assert not told.startswith(b"500"), (told, asked)
    assert value.encode() not in world.house.metrics.render()
    world.seen[told[:3].decode()] += 1


async def _goes_on(world: World, asked: Asked, told: bytes) -> None:
    """The next turn holds the value too, though its caller sends only the turn's id."""
    start = told.find(b'"id":"resp')
    if start < 0:
        return
    previous = told[start + 6 :].split(b'"', 1)[0].decode()
    body = {"model": "auto", "input": "And now?", "previous_response_id": previous}
    await world.ask(RESPONSES, body, asked.headers)


def test_nothing_leaves(world: World) -> None:
    """And the same gateway does ask those who are elsewhere, so that a leak would be seen."""
    every_example(world)

    async def ask() -> list[bytes]:
        await world.take({"routing": {"edge_max": 0, "cloud_min": 1}})
        world.elsewhere.set("sure", "fine")
        await world.ask(CHAT, {"model": "auto", "messages": [HELLO]}, {})
        await world.ask(EMBEDDINGS, {"model": "auto", "input": "hello"}, {})
        await world.take({"cache": {"store": "redis"}})
        await world.ask(CHAT, {"model": "auto", "messages": [QUESTION]}, {})
        await world.settled()
        return world.elsewhere.told()

    said = world.runner.run(ask())
    assert any(b"prove it step by step" in one for one in said)
    assert any(b"hello" in one for one in said)
    assert any(b"hybridge:answer:" in one for one in said)
    assert min(world.seen[status] for status in ("200", "422", "503")) > EXAMPLES / 50, world.seen
