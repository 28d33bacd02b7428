"""The same of streams that come in Anthropic's own events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, PATIENT, port_of
from tests.integration.known_faults.vocabularies import (
    CHAT,
    EVERY_SHAPE,
    SHAPES_WITH_TOOLS,
    asking,
    told,
    tools_of,
)
from tests.integration.running import Running, running

from hybridge.testing import anthropic
from hybridge.testing.http import Got, ask
from hybridge.testing.replies import END, Cut, Received, Reply, Step, byte_by_byte
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
HARD = "你好，世界 😀 👨‍👩‍👧‍👦 𠮷野家"
WANTED = [("weather", {"city": HARD}), ("time", {"zone": "+1"}), ("weather", {"city": "Oslo"})]
CALLS = [anthropic.use(name, given, f"toolu_{i}") for i, (name, given) in enumerate(WANTED)]
OVERLOADED = anthropic.error("overloaded_error", "Overloaded")


@dataclass(frozen=True, slots=True)
class House:
    """A gateway before Anthropic."""

    gateway: Running
    claude: Upstream

    async def ask(self, path: str, **members: Any) -> Got:
        return await ask(port_of(self.gateway), path, asking(path, model="a", **members))


@pytest.fixture(scope="module")
async def house(tmp_path_factory, anyio_backend) -> AsyncIterator[House]:
    async with Upstream() as claude:
        row = {"name": "a", "provider": "anthropic", "base_url": claude.base_url}
        row |= {"model": "claude", "api_key_env": "K"}
        config = {
            "edge": {"backends": []},
            "cloud": {"backends": [row | {"price": {"input_usd": 1, "output_usd": 1}}]},
            "execution": PATIENT,
        }
        folder = tmp_path_factory.mktemp("anthropic")
        async with running(folder, config, env={"K": "some-key"}) as gateway:
            yield House(gateway, claude)


@pytest.mark.fault("B01")
async def test_usage_comes_once_or_not_at_all(house):
    house.claude.then(anthropic.says("Good day"))
    asked = {"stream": True, "stream_options": {"include_usage": True}}
    [usage] = told(CHAT, await house.ask(CHAT, **asked)).usages
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (7, 3)
    assert told(CHAT, await house.ask(CHAT, stream=True)).usages == []


@pytest.mark.fault("B03")
@BOTH_WAYS
@EVERY_SHAPE
async def test_what_comes_byte_by_byte_stays_whole(house, path, stream):
    house.claude.then(byte_by_byte(anthropic.says(HARD)))
    got = await house.ask(path, stream=stream)
    assert told(path, got).text == HARD
    assert "\ufffd" not in got.body.decode()


@pytest.mark.fault("B07")
@BOTH_WAYS
@SHAPES_WITH_TOOLS
async def test_parallel_calls_stay_apart(house, path, stream):
    house.claude.then(anthropic.says(*CALLS))
    got = await house.ask(path, stream=stream, tools=tools_of(path, "weather", "time"))
    said = told(path, got)
    assert [(name, json.loads(given)) for _, name, given in said.calls] == WANTED
    assert [id_ for id_, *_ in said.calls] == ["toolu_0", "toolu_1", "toolu_2"]
    assert said.ending == "tool_calls"


def broken(end: Step | dict[str, Any], *blocks: Any, keep: int) -> Reply:
    """The first events of an answer, then this."""

    def reply(received: Received) -> Iterator[Step]:
        events = anthropic.stream_of(*blocks)[:keep]
        last = [end] if isinstance(end, dict) else []
        *steps, _ = anthropic.events(*events, *last)(received)
        yield from steps
        yield END if isinstance(end, dict) else end

    return reply


ENDS = pytest.mark.parametrize("end", [Cut.RESET, Cut.CLOSE, END, OVERLOADED], ids=str)


@pytest.mark.fault("B04")
@ENDS
@EVERY_SHAPE
async def test_what_breaks_ends_with_one_error(house, path, end):
    house.claude.then(broken(end, "one two three four five", keep=4))
    got = await house.ask(path, stream=True)
    said = told(path, got)
    assert (got.status, said.text, said.ending) == (200, "one two th", None)
    assert len(said.errors) == 1
    assert b"[DONE]" not in got.body


@pytest.mark.fault("B04")
@ENDS
@SHAPES_WITH_TOOLS
async def test_a_call_cut_in_its_arguments_is_no_call(house, path, end):
    house.claude.then(broken(end, CALLS[0], keep=4))
    said = told(path, await house.ask(path, stream=True, tools=tools_of(path, "weather")))
    assert (said.ending, len(said.errors)) == (None, 1)


@pytest.mark.fault("B04")
@ENDS
@EVERY_SHAPE
async def test_before_anything_was_sent_it_is_a_real_failure(house, path, end):
    house.claude.then(broken(end, "one", keep=1))
    got = await house.ask(path, stream=True)
    assert got.status >= 500
    assert got.json["error"]["message"]
