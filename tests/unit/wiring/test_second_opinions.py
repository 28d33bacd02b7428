"""R5: second opinions from the configuration to the wire, and back to `/metrics`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import log
from typing import Any

import pytest
from tests.unit.wiring.scene import request

from hybridge.core.errors import ConfigError
from hybridge.core.events import GatewayEvent, SecondOpinion
from hybridge.core.report import Report
from hybridge.settings import parse
from hybridge.testing.replies import Reply, fails, says
from hybridge.testing.upstream import Upstream
from hybridge.wiring import House, open_house

pytestmark = pytest.mark.anyio
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
PROMPT = "What is the capital of Norway?"
OSLO, BERGEN = (says(text, logprob=log(0.9)) for text in ("Oslo", "Bergen"))
ALWAYS = {"by": "sample", "low": 0, "high": 1}


@dataclass
class Bench:
    """A house with two edge servers, and what happened in it."""

    house: House
    edge: Upstream
    small: Upstream
    told: list[GatewayEvent] = field(default_factory=list)

    async def ask(self, **more: Any) -> tuple[str, Report]:
        async with self.house.gateway.serve(request("auto", PROMPT, **more)) as reply:
            text = "".join([event.text async for event in reply.events])
            return text, reply.report()

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        opinions = [event for event in self.told if isinstance(event, SecondOpinion)]
        return [(opinion.backend, opinion.outcome) for opinion in opinions]


@asynccontextmanager
async def bench(
    *edge: Reply, small: Reply = OSLO, second: dict[str, Any] | None = None
) -> AsyncIterator[Bench]:
    async with Upstream(*edge) as one, Upstream(small) as other:
        rows = [
            {"name": name, "engine": "openai", "base_url": upstream.base_url, "model": name}
            for name, upstream in (("e", one), ("small", other))
        ]
        data = {
            "server": {"port": 0},
            "edge": {"backends": rows},
            "routing": {"edge_max": 10, "cloud_min": 11, "second_opinion": second},
            "records": {"url": None},
        }
        async with open_house(parse(data, {})) as house:
            scene = Bench(house, one, other)
            house._lasting.events.subscribe(scene.told.append)
            yield scene


async def test_a_sample_is_asked_for_on_the_wire():
    async with bench(OSLO, BERGEN, second=ALWAYS) as scene:
        text, report = await scene.ask()
        first, second = (post.json for post in scene.edge.posts)
        shown = scene.house.metrics.render().decode()
    assert text == "Oslo"
    assert "a second answer disagreed" in report.reasons
    assert scene.outcomes == [("e", "disagreed")]
    assert "temperature" not in first
    assert (second["temperature"], second["max_tokens"]) == (0.7, 64)
    assert second["messages"] == first["messages"]
    assert 'hybridge_second_opinions_total{backend="e",outcome="disagreed"} 1.0' in shown
    assert 'hybridge_second_opinion_tokens_total{backend="e",kind="completion"} 1.0' in shown
    assert 'hybridge_tokens_total{backend="e",kind="completion",tier="edge"} 1.0' in shown


async def test_another_edge_backend_is_asked_by_its_name():
    async with bench(OSLO, second={**ALWAYS, "by": "small"}) as scene:
        _, report = await scene.ask()
        (post,) = scene.small.posts
    assert "a second answer, by small, agreed" in report.reasons
    assert post.json["model"] == "small"
    assert len(scene.edge.posts) == 1


async def test_another_edge_backend_that_is_broken_changes_nothing():
    async with bench(OSLO, small=fails(500), second={**ALWAYS, "by": "small"}) as scene:
        text, report = await scene.ask()
    assert text == "Oslo"
    assert not [reason for reason in report.reasons if "second" in reason]
    assert scene.outcomes == [("small", "failed")]


@STREAMS
async def test_without_the_section_nobody_is_asked_twice(stream):
    async with bench(OSLO) as scene:
        await scene.ask(stream=stream)
        assert len(scene.edge.posts) == 1
    assert scene.outcomes == []


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"by": "x"}, "routing.second_opinion.by: no edge backend `x`; there are: `sample`"),
        ({"by": "c"}, "(the same once more), `e`"),
        ({"low": 0.8, "high": 0.8}, "low (0.8) must be below high (0.8)"),
        ({"from": 0.4}, "routing.second_opinion.from: unknown key"),
        ({"max_tokens": 0}, "routing.second_opinion.max_tokens: must be"),
    ],
)
def test_what_cannot_be_is_named_with_its_key(second, said):
    edge = {"backends": [{"name": "e", "model": "qwen2.5-0.5b"}]}
    cloud = {"backends": [{"name": "c", "base_url": "http://c.example", "model": "m"}]}
    with pytest.raises(ConfigError) as caught:
        parse({"edge": edge, "cloud": cloud, "routing": {"second_opinion": second}}, {})
    assert said in str(caught.value)
