"""A real local model: asked by many at once, and asked more than it has room for."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, chat, port_of
from tests.integration.known_faults.readings import becomes
from tests.integration.running import running

from hybridge.settings import load
from hybridge.testing.http import Got, ask, read_head, sent
from hybridge.testing.replies import says
from hybridge.testing.upstream import Upstream
from hybridge.wiring import fetcher

pytestmark = [pytest.mark.anyio, pytest.mark.model]

MODEL = "smollm2-135m"
COUNTING = f"Continue without a break up to 1000: {', '.join(map(str, range(1, 60)))},"
"""What it goes on with for as long as it may."""
HOLDING = {"model": "local", "stream": True, "max_tokens": 200, "temperature": 0}
CONTEXT = 512
SHORT = {"max_tokens": 12, "temperature": 0}


@pytest.fixture(scope="module")
def weights() -> Path:
    return fetcher(load(None)).ensure(MODEL)


def local(weights: Path, **more: Any) -> dict[str, Any]:
    row = {"name": "local", "model": str(weights), "slots": 1, "context_tokens": CONTEXT}
    return {"edge": {"backends": [row | more]}}


@pytest.fixture(scope="module")
async def alone(tmp_path_factory, anyio_backend, weights):
    """A gateway with nothing but the local model: one slot, and four may wait."""
    config = local(weights, queue=4, context_tokens=2048)
    async with running(tmp_path_factory.mktemp("alone"), config) as gateway:
        await ask(port_of(gateway), body=chat("Hi", model="local", **SHORT))
        yield gateway


@pytest.fixture(scope="module")
async def small(tmp_path_factory, anyio_backend, weights):
    """The same with little room, so that it is filled soon."""
    async with running(tmp_path_factory.mktemp("small"), local(weights)) as gateway:
        await ask(port_of(gateway), body=chat("Hi", model="local", **SHORT))
        yield gateway


def text_of(got: Got) -> str:
    if got.headers["content-type"].startswith("application/json"):
        return got.json["choices"][0]["message"]["content"]
    return "".join(
        part["choices"][0]["delta"].get("content") or ""
        for part in map(json.loads, got.events[:-1])
        if part.get("choices")
    )


async def rested(port: int) -> None:
    """Returns once it is asked again: who was refused by a full queue leaves it alone a while."""
    async with asyncio.timeout(20):
        while (await ask(port, body=chat("Hi", model="local", **SHORT))).status != 200:
            await asyncio.sleep(0.1)


MARKERS = ("apple", "river", "violin", "Saturn", "copper")


@pytest.mark.fault("B45")
async def test_each_gets_the_answer_to_its_own_prompt(alone):
    """Five at once, the last four of them waiting, answer as each does alone."""

    def body(word: str, *, stream: bool) -> Any:
        return chat(f"Say one sentence about: {word}", model="local", stream=stream, **SHORT)

    port = port_of(alone)
    await rested(port)
    by_itself = [text_of(await ask(port, body=body(word, stream=False))) for word in MARKERS]
    assert len(set(by_itself)) == len(MARKERS)
    at_once = await asyncio.gather(
        *(ask(port, body=body(word, stream=bool(n % 2))) for n, word in enumerate(MARKERS))
    )
    assert [got.status for got in at_once] == [200] * len(MARKERS)
    assert [text_of(got) for got in at_once] == by_itself


@pytest.mark.fault("B45")
@BOTH_WAYS
async def test_more_than_may_wait_are_told_when_to_come_back(alone, stream):
    port, ended = port_of(alone), []
    await rested(port)

    async def asked(number: int) -> Got:
        body = chat(f"Count from {number}.", model="local", stream=stream, max_tokens=12)
        got = await ask(port, body=body)
        ended.append(number)
        return got

    async with sent(port, body=chat(COUNTING, **HOLDING)) as held:
        assert (await read_head(held[0]))[0] == 200  # the one slot is taken now
        waiting = []
        for number in range(8):
            waiting.append(asyncio.create_task(asked(number)))
            await asyncio.sleep(0.1)
        refused = [task.result() for task in waiting if task.done()]
        assert len(refused) == 4
        for got in refused:
            assert got.status in (429, 503)
            assert int(got.headers["retry-after"]) >= 1
        waiting[1].cancel()
        waiting[2].cancel()
    served = await asyncio.gather(*waiting[:1], *waiting[3:4])
    assert [got.status for got in served] == [200, 200]
    assert ended[-2:] == [0, 3], "who came first is served first"
    await becomes(alone, 0, "hybridge_in_flight")


@pytest.mark.fault("B45")
async def test_who_comes_back_when_told_gets_the_place_that_is_free_again(tmp_path, weights):
    async with running(tmp_path, local(weights, queue=0)) as gateway:
        port, short = port_of(gateway), chat("Hi", model="local", **SHORT)
        assert (await ask(port, body=short)).status == 200
        async with sent(port, body=chat(COUNTING, **HOLDING)) as held:
            await read_head(held[0])
            refused = [await ask(port, body=short) for _ in range(5)]
        assert [got.status for got in refused] == [503] * 5
        await becomes(gateway, 0, "hybridge_in_flight")
        await asyncio.sleep(int(refused[-1].headers["retry-after"]))
        after = await ask(port, body=short)
        assert after.status == 200, after.body


@pytest.mark.fault("B45")
@BOTH_WAYS
async def test_or_overflow_into_the_cloud_where_they_may(tmp_path, weights, stream):
    async with Upstream(says("From the cloud.")) as up:
        cloud = {"cloud": {"backends": [{"name": "c", "base_url": up.base_url, "model": "m"}]}}
        async with running(tmp_path, local(weights, queue=0) | cloud) as gateway:
            port = port_of(gateway)
            assert (await ask(port, body=chat("Hi", model="local", **SHORT))).status == 200
            async with sent(port, body=chat(COUNTING, **HOLDING)) as held:
                await read_head(held[0])
                got = await ask(port, body=chat("Hello", stream=stream))
                assert (got.status, text_of(got)) == (200, "From the cloud.")
                private = chat("手机13800138000找我", stream=stream)
                assert (await ask(port, body=private)).status == 503
            assert len(up.posts) == 1


def words(count: int) -> str:
    """So many tokens of this model, nearly."""
    return " ".join(["word"] * count)


INSTRUCTION = "Answer with the one word yes."
TOO_LONG = {
    "instruction first": [f"{INSTRUCTION} {words(6000)}"],
    "instruction last": [f"{words(6000)} {INSTRUCTION}"],
    "many small turns": [f"Turn {n}: {words(12)}" for n in range(301)],
    "chinese": ["这是一段很长的文字。" * 300],
}


def turns(texts: list[str]) -> list[Any]:
    return [
        {"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(texts)
    ]


@pytest.mark.fault("B51")
@BOTH_WAYS
@pytest.mark.parametrize("model", ["auto", "local"])
@pytest.mark.parametrize("name", TOO_LONG)
async def test_a_prompt_beyond_the_context_is_refused_and_never_cut(alone, name, model, stream):
    body = {"model": model, "messages": turns(TOO_LONG[name]), "stream": stream}
    got = await ask(port_of(alone), body=body)
    assert got.status == 400, got.body
    assert got.json["error"]["code"] == "context_length_exceeded"
    assert "2048" in got.json["error"]["message"]


@pytest.mark.fault("B51")
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/responses"])
async def test_the_other_surfaces_say_so_too(alone, path):
    body = {"model": "local"} | (
        {"input": TOO_LONG["instruction first"][0]}
        if "responses" in path
        else {"max_tokens": 50, "messages": turns(TOO_LONG["instruction first"])}
    )
    got = await ask(port_of(alone), path, body)
    assert got.status == 400
    assert "2048" in got.json["error"]["message"]


@pytest.mark.fault("B51")
@BOTH_WAYS
async def test_or_goes_to_a_larger_model_where_there_is_one(tmp_path, weights, stream):
    async with Upstream(says("From the cloud.")) as up:
        cloud = {"cloud": {"backends": [{"name": "c", "base_url": up.base_url, "model": "m"}]}}
        async with running(tmp_path, local(weights) | cloud) as gateway:
            for name, texts in TOO_LONG.items():
                body = {"model": "auto", "messages": turns(texts), "stream": stream}
                got = await ask(port_of(gateway), body=body)
                assert (got.status, text_of(got)) == (200, "From the cloud."), name


async def true_count(gateway: Any, text: str) -> int:
    got = await ask(port_of(gateway), body=chat(text, model="local", max_tokens=1))
    assert got.status == 200, got.body
    return got.json["usage"]["prompt_tokens"]


@pytest.mark.fault("B51")
async def test_usage_is_the_true_count(small):
    """Every `word` is one token, so that ten more are ten more."""
    ten, twenty, fifty = [await true_count(small, words(n)) for n in (10, 20, 50)]
    assert (twenty - ten, fifty - twenty) == (10, 30)


@pytest.mark.fault("B51")
@BOTH_WAYS
async def test_an_answer_that_fills_the_room_says_so(small, stream):
    """It is a counting that would go on; prompt and answer together fill the context."""
    body = chat(COUNTING, model="local", stream=stream, temperature=0)
    if stream:
        body["stream_options"] = {"include_usage": True}
    got = await ask(port_of(small), body=body)
    assert got.status == 200, got.body
    parts = [json.loads(event) for event in got.events[:-1]] if stream else [got.json]
    usage = next(part["usage"] for part in reversed(parts) if part.get("usage"))
    assert 200 < usage["prompt_tokens"] <= CONTEXT - 100
    assert CONTEXT - 2 <= usage["prompt_tokens"] + usage["completion_tokens"] <= CONTEXT + 1
    reasons = [c["finish_reason"] for part in parts for c in part.get("choices", ())]
    assert [reason for reason in reasons if reason] == ["length"]


@pytest.mark.fault("B51")
async def test_at_the_limit_it_is_answered_and_one_beyond_it_is_refused_or_clipped(small):
    """Whatever the room, nothing is cut in silence: the count is true, or the answer is 400."""
    frame = await true_count(small, words(10)) - 10
    for room in (60, 2, 1, 0, -1, -40):
        count = CONTEXT - frame - room
        body = chat(words(count), model="local", max_tokens=1)
        got = await ask(port_of(small), body=body)
        if got.status == 200:
            assert room >= 1
            assert got.json["usage"]["prompt_tokens"] == count + frame
        else:
            assert room < 60
            assert (got.status, got.json["error"]["code"]) == (400, "context_length_exceeded")
    body = chat(words(CONTEXT - 150), model="local", max_tokens=500)
    got = await ask(port_of(small), body=body)
    assert (got.status, got.json["error"]["code"]) == (400, "context_length_exceeded")


@pytest.mark.fault("B51")
async def test_the_models_own_limit_counts_and_is_shown(tmp_path, weights):
    """It was trained with 8,192 tokens; asking for more gives no more."""
    async with running(tmp_path, local(weights, context_tokens=16_384)) as gateway:
        await ask(port_of(gateway), body=chat("Hi", model="local", **SHORT))
        models = (await gateway.get("/v1/models")).json["data"]
        shown = next(row for row in models if row["id"] == "local")
        assert shown["hybridge"]["context_tokens"] == 8192
        got = await ask(port_of(gateway), body=chat(words(9000), model="local"))
        assert (got.status, got.json["error"]["code"]) == (400, "context_length_exceeded")
        assert "8192" in got.json["error"]["message"]
