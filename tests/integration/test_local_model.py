"""The gateway with a real model of this device."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from statistics import median

import pytest

from hybridge.settings import load
from hybridge.testing.replies import says, slowly
from hybridge.testing.upstream import Upstream
from hybridge.wiring import fetcher

pytestmark = [pytest.mark.anyio, pytest.mark.model]

MODEL = "smollm2-135m"
STORY = "Write a very long story about a dragon, a castle and a long winter."


@pytest.fixture(scope="module")
def weights() -> Path:
    """Fetched once, then never again."""
    return fetcher(load(None)).ensure(MODEL)


def edge(weights: Path, **more):
    return {"backends": [{"name": "local", "model": str(weights), "slots": 1, **more}]}


async def test_alone_it_answers_everything_and_marks_what_belongs_to_a_cloud(start, weights):
    async with start({"edge": edge(weights)}) as gateway:
        hello = await gateway.chat("Hello!", max_tokens=8)
        assert hello.status == 200
        assert hello.text
        proof = await gateway.chat("Prove that 2 is prime, step by step.", max_tokens=8)
        assert proof.account["route"] == "edge_degraded"
        assert proof.account["notice"]
        assert proof.headers["x-hybridge-degraded"] == "true"


async def test_the_same_question_at_temperature_zero_has_the_same_answer(start, weights):
    async with start({"edge": edge(weights)}) as gateway:
        asked = {"model": "local", "temperature": 0, "max_tokens": 16}
        first = await gateway.chat("What is a dragon?", **asked)
        again = await gateway.chat("What is a dragon?", stream=True, **asked)
        assert first.text == again.text
        assert first.json["choices"][0]["finish_reason"] == "length"


async def test_a_client_that_hangs_up_frees_its_slot(start, weights):
    async with start({"edge": edge(weights, queue=0)}) as gateway:
        asked = {"model": "local", "max_tokens": 2000}
        long = asyncio.ensure_future(gateway.chat(STORY, stream=True, **asked))
        await asyncio.sleep(1.0)
        assert (await gateway.chat("Hi", model="local")).status == 503
        long.cancel()
        for _ in range(100):
            if (await gateway.chat("Hi", model="local", max_tokens=2)).status == 200:
                return
            await asyncio.sleep(0.05)
        raise AssertionError("the slot was never freed")


async def test_a_prompt_beyond_the_context_is_refused_with_numbers(start, weights):
    async with start({"edge": edge(weights, context_tokens=512)}) as gateway:
        answer = await gateway.chat("word " * 900, model="local")
        assert answer.status == 400
        assert answer.json["error"]["code"] == "context_length_exceeded"


async def test_the_gateway_stays_awake_while_it_computes_and_streams(start, weights):
    """Not a timing: only that ten streams and `/livez` go on while the model computes."""
    slow = slowly(says("one two three four five six seven eight"), between_s=0.2)
    async with Upstream(slow) as upstream:
        cloud = {"backends": [{"name": "c", "base_url": upstream.base_url, "model": "m"}]}
        async with start({"edge": edge(weights), "cloud": cloud}) as gateway:
            long = asyncio.ensure_future(
                gateway.chat(STORY, model="local", stream=True, max_tokens=400)
            )
            streams = [
                asyncio.ensure_future(gateway.chat("Hi", model="c", stream=True)) for _ in range(10)
            ]
            waits = []
            while not all(stream.done() for stream in streams):
                began_s = time.perf_counter()
                assert (await gateway.get("/livez")).status == 200
                waits.append(1000 * (time.perf_counter() - began_s))
                await asyncio.sleep(0.05)
            assert not long.done()
            answers = await asyncio.gather(*streams)
            assert all("eight" in answer.text for answer in answers)
            long.cancel()
    print(f"/livez: median {median(waits):.1f} ms, most {max(waits):.1f} ms")
