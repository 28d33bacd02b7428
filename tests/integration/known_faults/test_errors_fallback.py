"""Fallbacks: each backend once, and a longer context where the first was too short."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.integration.known_faults.common import BOTH_WAYS, port_of
from tests.integration.known_faults.vocabularies import (
    ALL,
    CHAT,
    EVERY_SHAPE,
    MESSAGES,
    asking,
    told,
)
from tests.integration.running import Running, running

from hybridge.testing.http import Got, ask
from hybridge.testing.replies import Cut, Received, Reply, Step, answers, fails, hangs, says
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
LONG = "word " * 700
"""More than the small models' 512 tokens, less than anything else's."""
CIRCLE = {"A": ["B"], "B": ["A"], "C": ["C"], "D": ["E", "D"], "E": ["D"]}
SHORT = {"small": ["large"], "tiny": ["large"], "short": ["small"]}


@dataclass(frozen=True, slots=True)
class House:
    """A gateway whose fallbacks point at each other, and one upstream for each of its models."""

    gateway: Running
    folder: Path
    ups: dict[str, Upstream]

    async def ask(self, path: str, body: dict[str, Any]) -> Got:
        return await ask(port_of(self.gateway), path, body)

    @property
    def asked(self) -> dict[str, int]:
        """How often each was asked, by name; those only that were."""
        return {name: len(up.posts) for name, up in self.ups.items() if up.posts}


@pytest.fixture(scope="module")
async def built(tmp_path_factory, anyio_backend) -> AsyncIterator[House]:
    ups = {
        name: Upstream() for name in ("A", "B", "C", "D", "E", "small", "large", "tiny", "short")
    }
    folder = tmp_path_factory.mktemp("circle")
    for up in ups.values():
        await up.__aenter__()
    try:
        async with running(folder, config_of(ups), env={"K": "some-key"}) as gateway:
            yield House(gateway, folder, ups)
    finally:
        for up in ups.values():
            await up.__aexit__(None, None, None)


def config_of(ups: dict[str, Upstream]) -> dict[str, Any]:
    def row(name: str, **more: Any) -> dict[str, Any]:
        plain = {"name": name, "base_url": ups[name].base_url, "model": f"m-{name}"}
        return plain | {"price": {"input_usd": 1, "output_usd": 1}} | more

    clouds = [row(name) for name in ("A", "B", "C", "small", "large")]
    clouds += [row(name, provider="anthropic", api_key_env="K") for name in ("D", "E")]
    clouds.append(row("short", context_tokens=512))
    tiny = {"name": "tiny", "engine": "openai", "base_url": ups["tiny"].base_url}
    return {
        "edge": {"backends": [tiny | {"model": "m-tiny", "context_tokens": 512}]},
        "cloud": {"backends": clouds},
        "execution": {"breaker_failures": 1000, "breaker_window": 1000, "deadline_s": 20},
        "routing": {"fallbacks": CIRCLE | SHORT},
    }


@pytest.fixture
def house(built) -> House:
    for up in built.ups.values():
        up.requests.clear()
        up.then(says("Well."))
    return built


BROKEN: dict[str, Reply] = {
    "500": fails(500),
    "503": fails(503),
    "429": fails(429),
    "401": fails(401),
    "404": fails(404),
    "reset": lambda _: iter((b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{", Cut.RESET)),
}
ROUND = {"A": {"A": 1, "B": 1}, "B": {"A": 1, "B": 1}, "C": {"C": 1}}


@pytest.mark.fault("B22")
@BOTH_WAYS
@pytest.mark.parametrize("first", ROUND)
@pytest.mark.parametrize("how", BROKEN)
@EVERY_SHAPE
async def test_a_circle_is_walked_once(house, path, how, first, stream):
    log = house.folder / "gateway.log"
    before = log.stat().st_size
    for name in "ABC":
        house.ups[name].then(BROKEN[how])
    got = await house.ask(path, asking(path, model=first, stream=stream))
    assert got.status >= 400
    assert house.asked == ROUND[first]
    assert log.stat().st_size - before < 2000


@pytest.mark.fault("B22")
@pytest.mark.parametrize("first", "AB")
async def test_a_circle_that_hangs_ends_with_the_deadline(pair, first):
    async with pair(
        execution={"deadline_s": 2, "breaker_failures": 1000},
        routing={"fallbacks": {"e": ["c"], "c": ["e"]}},
    ) as p:
        p.edge.then(hangs())
        p.cloud.then(hangs())
        model = {"A": "e", "B": "c"}[first]
        got = await ask(port_of(p.gateway), CHAT, asking(CHAT, model=model))
        assert got.status in (503, 504)
        assert (len(p.edge.posts), len(p.cloud.posts)) == (1, 1)


@pytest.mark.fault("B22")
@BOTH_WAYS
@pytest.mark.parametrize("first", "DE")
async def test_what_none_of_them_has_a_word_for_fails_before_anything_is_sent(house, first, stream):
    log = house.folder / "gateway.log"
    before = log.stat().st_size
    body = asking(CHAT, model=first, stream=stream, frequency_penalty=1.5)
    got = await house.ask(CHAT, body)
    assert (got.status, got.json["error"]["param"]) == (400, "frequency_penalty")
    assert house.asked == {}
    assert log.stat().st_size - before < 2000


@pytest.mark.fault("B22")
@pytest.mark.parametrize("strict", [False, True])
async def test_the_check_names_each_circle(built, tmp_path, strict):
    file = tmp_path / "hybridge.yaml"
    file.write_text(yaml.safe_dump(config_of(built.ups)))
    more = ["--strict"] if strict else []
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hybridge", "config", "check", "--config", str(file), *more),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "K": "some-key"},
    )
    out, err = await process.communicate()
    said = (out + err).decode()
    assert process.returncode == int(strict), said
    for circle in ("A -> B -> A", "C -> C", "D -> D", "E -> D -> E"):
        assert circle in said
    assert "small" not in said.replace(str(file), "")


def overflows(message: str, status: int = 400, **members: Any) -> Reply:
    """Refuses what is long, in its own words, and answers the rest."""
    error = {"message": message, "type": "invalid_request_error", "param": None} | members

    def reply(received: Received) -> Iterator[Step]:
        if LONG in received.body.decode():
            yield from answers({"error": error}, status)(received)
        else:
            yield from says("Short.")(received)

    return reply


WORDINGS = {
    "OpenAI": overflows("This model's maximum context length is 512 tokens.", code="invalid"),
    "Anthropic": overflows("prompt is too long: 812 tokens > 512 maximum"),
    "Gemini": overflows("The input token count (812) exceeds the maximum number allowed (512)."),
    "Bedrock": overflows("Input is too long for requested model."),
    "vLLM": overflows("You passed 812 input tokens", param="input_tokens"),
    "llama-server": overflows("the request exceeds", type="exceed_context_size_error", n_ctx=512),
    "Chinese": overflows("输入的上下文长度超出模型限制，请缩短后重试"),
    "Zhipu": overflows("Prompt 超长", code="1261"),
    "DashScope": overflows("Range of input length should be [1, 512]"),
    "code only": overflows("Bad Request", code="context_length_exceeded"),
    "413": overflows("too many tokens in the prompt", 413),
}


@pytest.mark.fault("B24")
@BOTH_WAYS
@pytest.mark.parametrize("wording", WORDINGS)
@EVERY_SHAPE
async def test_however_it_is_worded_the_larger_model_answers(house, path, wording, stream):
    house.ups["small"].then(WORDINGS[wording])
    for _ in range(4):
        got = await house.ask(path, asking(path, LONG, model="small", stream=stream))
        assert (got.status, told(path, got).text) == (200, "Well.")
    assert house.asked == {"small": 4, "large": 4}
    short = await house.ask(path, asking(path, "Hi", model="small", stream=stream))
    assert told(path, short).text == "Short."


@pytest.mark.fault("B24")
@BOTH_WAYS
@pytest.mark.parametrize(("model", "able"), [("tiny", "large"), ("short", "small")])
@EVERY_SHAPE
async def test_a_known_context_is_looked_at_before_anything_is_sent(
    house, path, model, able, stream
):
    got = await house.ask(path, asking(path, LONG, model=model, stream=stream))
    assert (got.status, told(path, got).text) == (200, "Well.")
    assert house.asked == {able: 1}


@pytest.mark.fault("B24")
@BOTH_WAYS
@EVERY_SHAPE
async def test_unnamed_it_goes_straight_to_where_it_fits(house, path, stream):
    got = await house.ask(path, asking(path, f"Hello! {LONG}", stream=stream))
    assert (got.status, told(path, got).text) == (200, "Well.")
    assert house.asked.keys().isdisjoint({"tiny", "short"})
    assert sum(house.asked.values()) == 1


@pytest.mark.fault("B24")
async def test_where_none_fits_the_numbers_are_told(start):
    async with Upstream(says()) as up:
        edge = {"name": "e", "engine": "openai", "base_url": up.base_url, "model": "m"}
        config = {"edge": {"backends": [edge | {"context_tokens": 512}]}}
        async with start(config) as gateway:
            for path, model, stream in product(ALL, ("e", "auto"), (False, True)):
                body = asking(path, LONG, model=model, stream=stream)
                got = await ask(port_of(gateway), path, body)
                error = got.json["error"]
                assert (got.status, code_of(path, error)) == (400, "context_length_exceeded")
                assert "512" in error["message"]
                assert any(str(number) in error["message"] for number in range(700, 2200))
            assert not up.posts


def code_of(path: str, error: dict[str, Any]) -> str:
    return error["details"]["error_code"] if path == MESSAGES else error["code"]


@pytest.mark.fault("B24")
@BOTH_WAYS
@pytest.mark.parametrize("model", ["small", "auto"])
@pytest.mark.parametrize("wording", ["Anthropic", "Chinese", "code only"])
async def test_where_all_refuse_it_that_is_what_is_told(house, wording, model, stream):
    for up in house.ups.values():
        up.then(WORDINGS[wording])
    got = await house.ask(CHAT, asking(CHAT, LONG, model=model, stream=stream))
    assert (got.status, got.json["error"]["code"]) == (400, "context_length_exceeded")
