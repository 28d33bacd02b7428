"""The gateway with a real model of this device."""

from __future__ import annotations

import asyncio
import json
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
GREEDY = {"model": "local", "temperature": 0}
"""Not a draw of lots: what a test sees once it sees each time."""


@pytest.fixture(scope="module")
def weights() -> Path:
    """Fetched once, then never again."""
    return fetcher(load(None)).ensure(MODEL)


def edge(weights: Path, **more):
    return {"backends": [{"name": "local", "model": str(weights), "slots": 1, **more}]}


async def test_alone_it_answers_everything_and_marks_what_belongs_to_a_cloud(start, weights):
    async with start({"edge": edge(weights)}) as gateway:
        hello = await gateway.chat("Hello!", temperature=0, max_tokens=8)
        assert hello.status == 200
        assert hello.text
        proof = await gateway.chat("Prove that 2 is prime, step by step.", max_tokens=8)
        assert proof.account["route"] == "edge_degraded"
        assert proof.account["notice"]
        assert proof.headers["x-hybridge-degraded"] == "true"


async def test_the_same_question_at_temperature_zero_has_the_same_answer(start, weights):
    async with start({"edge": edge(weights)}) as gateway:
        asked = {**GREEDY, "max_tokens": 16}
        first = await gateway.chat("What is a dragon?", **asked)
        again = await gateway.chat("What is a dragon?", stream=True, **asked)
        assert first.text == again.text
        assert first.json["choices"][0]["finish_reason"] == "length"


async def test_a_client_that_hangs_up_frees_its_slot(start, weights):
    async with start({"edge": edge(weights, queue=0)}) as gateway:
        asked = {**GREEDY, "max_tokens": 2000}
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
            long = asyncio.ensure_future(gateway.chat(STORY, stream=True, max_tokens=400, **GREEDY))
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


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"enum": ["北京", "Rome"]}},
            "required": ["city"],
        },
    },
}
RESULT = {"type": "text", "text": "18 degrees"}


async def test_a_tool_is_called_and_its_result_taken_back(start, weights):
    able = ["tools", "choices", "logprobs"]
    async with start({"edge": edge(weights, features=able)}) as gateway:
        asked = {**GREEDY, "tools": [WEATHER]}
        for stream in (False, True):
            one = await gateway.chat(
                "Weather in Rome?",
                stream=stream,
                tool_choice="required",
                parallel_tool_calls=False,
                max_tokens=80,
                **asked,
            )
            assert one.status == 200
            choices = [c for e in one.events or [one.json] for c in e["choices"]]
            assert choices[-1]["finish_reason"] == "tool_calls"
            if not stream:
                said = choices[0]["message"]
                assert said["content"] is None
        (made,) = said["tool_calls"]
        assert json.loads(made["function"]["arguments"])["city"] in {"北京", "Rome"}
        for content in (None, "", []):
            conversation = [
                {"role": "user", "content": "Weather in Rome?"},
                said | {"content": content},
                {"role": "tool", "tool_call_id": made["id"], "content": [RESULT]},
            ]
            again = await gateway.chat("", messages=conversation, max_tokens=4, **asked)
            assert again.status == 200, again.raw


async def test_what_the_local_model_cannot_do_is_refused_by_name(start, weights):
    async with start({"edge": edge(weights)}) as gateway:
        several = await gateway.chat("A colour?", model="local", n=3, max_tokens=3)
        assert [choice["index"] for choice in several.json["choices"]] == [0, 1, 2]
        schema = {"name": "x", "schema": {"not": {}}}
        refused = {
            "response_format": {"type": "json_schema", "json_schema": schema},
            "reasoning_effort": "high",
            "verbosity": "low",
        }
        for name, value in refused.items():
            answer = await gateway.chat("Hello", model="local", **{name: value})
            assert answer.status == 400, (name, answer.raw)
            error = answer.json["error"]
            assert name in f"{error['param']} {error['message']}"
