"""The same faults looked for in a real model of this device."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, PATIENT, port_of, until
from tests.integration.known_faults.vocabularies import (
    ALL,
    CHAT,
    EVERY_SHAPE,
    MESSAGES,
    RESPONSES,
    SHAPES_WITH_TOOLS,
    TEXTS,
    asking,
    events_of,
    told,
    tools_of,
)
from tests.integration.running import Running, running

from hybridge.settings import load
from hybridge.testing.http import Got, ask, read_head, sent
from hybridge.testing.replies import says
from hybridge.testing.upstream import Upstream
from hybridge.wiring import fetcher

pytestmark = [pytest.mark.anyio, pytest.mark.model]
MODEL = "qwen2.5-0.5b"
HARD = "你好，世界 😀 👨‍👩‍👧‍👦 𠮷野家 café ﷽"
STORY = "Write a very long story about a dragon, a castle and a long winter."
LIMIT = {CHAT: "max_tokens", MESSAGES: "max_tokens", RESPONSES: "max_output_tokens"}
LIMIT[TEXTS] = "max_tokens"


@dataclass(frozen=True, slots=True)
class House:
    """A gateway with a real model, and a cloud of the kind that can do everything."""

    gateway: Running
    cloud: Upstream

    async def ask(self, path: str, text: str = "Hello!", **members: Any) -> Got:
        body = asking(path, text, **{"model": "local", "temperature": 0, **members})
        return await ask(port_of(self.gateway), path, body)


@pytest.fixture(scope="module")
async def built(tmp_path_factory, anyio_backend) -> AsyncIterator[House]:
    weights = fetcher(load(None)).ensure(MODEL)
    async with Upstream() as cloud:
        local = {"name": "local", "model": MODEL, "slots": 1, "queue": 0, "context_tokens": 1024}
        large = {"name": "c", "base_url": cloud.base_url, "model": "large"}
        config = {
            "edge": {"backends": [local]},
            "cloud": {"backends": [large | {"price": {"input_usd": 1, "output_usd": 1}}]},
            "models": {"dir": str(weights.parent)},
            "execution": PATIENT,
        }
        async with running(tmp_path_factory.mktemp("local"), config) as gateway:
            yield House(gateway, cloud)


@pytest.fixture
def house(built) -> House:
    built.cloud.requests.clear()
    built.cloud.then(says("From the cloud."))
    return built


@pytest.mark.fault("B03")
@BOTH_WAYS
async def test_tokens_that_cut_characters_are_joined(house, stream):
    """A schema makes the model write every one of these, most of them in several tokens."""
    wanted = {"type": "object", "properties": {"t": {"const": HARD}}, "required": ["t"]}
    form = {"type": "json_schema", "json_schema": {"name": "s", "schema": wanted}}
    got = await house.ask(CHAT, stream=stream, response_format=form, max_tokens=200)
    assert json.loads(told(CHAT, got).text)["t"] == HARD
    assert "\ufffd" not in got.body.decode()


@pytest.mark.fault("B03")
@BOTH_WAYS
@EVERY_SHAPE
async def test_an_answer_cut_amid_a_character_has_no_piece_of_it(house, path, stream):
    for tokens in (1, 3):
        asked = {LIMIT[path]: tokens, "stream": stream}
        got = await house.ask(path, "Repeat exactly: 😀👨‍👩‍👧‍👦𠮷", **asked)
        assert "\ufffd" not in got.body.decode()


def forced(path: str) -> Any:
    match path:
        case "/v1/messages":
            return {"type": "tool", "name": "weather"}
        case "/v1/responses":
            return {"type": "function", "name": "weather"}
    return {"type": "function", "function": {"name": "weather"}}


@pytest.mark.fault("B08")
@BOTH_WAYS
@pytest.mark.parametrize("choice", ["required", "named"])
@SHAPES_WITH_TOOLS
async def test_a_forced_call_ends_as_a_call(house, path, choice, stream):
    tools = tools_of(path, "weather", "clock")
    any_ = {"type": "any"} if path == MESSAGES else "required"
    asked = {"tools": tools, "tool_choice": forced(path) if choice == "named" else any_}
    got = await house.ask(path, "What is the weather in Oslo?", stream=stream, **asked)
    said = told(path, got)
    assert said.calls
    assert all(isinstance(json.loads(given), dict) for *_, given in said.calls)
    assert {name for _, name, _ in said.calls} <= {"weather", "clock"}
    if choice == "named":
        assert said.calls[0][1] == "weather"
    assert (said.text, said.ending) == ("", "tool_calls")


@pytest.mark.fault("B08")
@BOTH_WAYS
@SHAPES_WITH_TOOLS
async def test_a_call_beyond_the_limit_is_cut_and_says_so(house, path, stream):
    asked = {"tools": tools_of(path, "weather"), "tool_choice": forced(path), LIMIT[path]: 4}
    got = await house.ask(path, "What is the weather in Oslo?", stream=stream, **asked)
    assert got.status != 200 or told(path, got).ending in ("length", None)


@pytest.mark.fault("B08")
@BOTH_WAYS
@SHAPES_WITH_TOOLS
async def test_words_though_there_are_tools_end_as_words(house, path, stream):
    none = {"type": "none"} if path == MESSAGES else "none"
    asked = {"tools": tools_of(path, "weather"), "tool_choice": none}
    got = await house.ask(path, "Say just the word yes.", stream=stream, **asked)
    said = told(path, got)
    assert said.text
    assert (said.calls, said.ending) == ([], "stop")


CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
NOTHING: Mapping[str, Mapping[str, Any]] = {
    "null": {"content": None},
    "missing": {},
    "empty": {"content": ""},
    "no parts": {"content": []},
}


@pytest.mark.fault("B11")
async def test_every_spelling_of_no_content_is_the_same_prompt(house):
    tools = tools_of(CHAT, "weather")
    counted, texts = set(), set()
    parts = [{"type": "text", "text": "very cold"}]
    for nothing in NOTHING.values():
        for result in ("very cold", parts):
            called = {"role": "assistant", "tool_calls": [CALL], **nothing}
            turns = [called, {"role": "tool", "tool_call_id": "c1", "content": result}]
            messages = [{"role": "user", "content": "Weather?"}, *turns]
            got = await house.ask(CHAT, messages=messages, tools=tools, max_tokens=6)
            assert got.status == 200, got.body
            counted.add(got.json["usage"]["prompt_tokens"])
            texts.add(told(CHAT, got).text)
    assert len(counted) == len(texts) == 1


@pytest.mark.fault("B11")
async def test_the_models_own_call_is_taken_back(house):
    asked = {"tools": tools_of(CHAT, "weather"), "tool_choice": "required"}
    first = await house.ask(CHAT, "Weather?", **asked)
    message = first.json["choices"][0]["message"]
    assert message["content"] is None
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": "cold"}
        for call in message["tool_calls"]
    ]
    messages = [{"role": "user", "content": "Weather?"}, message, *results]
    again = await house.ask(CHAT, messages=messages, tools=asked["tools"], max_tokens=6)
    assert again.status == 200, again.body


@pytest.mark.fault("B13")
@BOTH_WAYS
async def test_a_picture_is_refused_by_name_and_else_goes_where_it_is_seen(house, stream):
    url = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNg"
    parts = [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": url}}]
    asked = {"messages": [{"role": "user", "content": parts}], "stream": stream}
    got = await house.ask(CHAT, **asked)
    assert (got.status, got.json["error"]["code"]) == (400, "unsupported_parameter")
    assert "images" in got.json["error"]["message"]
    assert (await house.ask(CHAT, model="auto", **asked)).status == 200
    assert house.cloud.posts[0].json["messages"] == asked["messages"]
    private = [{"type": "text", "text": "身份证号 11010519491231002X"}, parts[1]]
    asked["messages"] = [{"role": "user", "content": private}]
    assert (await house.ask(CHAT, model="auto", **asked)).status == 422
    assert len(house.cloud.posts) == 1


@pytest.mark.fault("B14")
@EVERY_SHAPE
async def test_at_temperature_zero_it_says_the_same_twice(house, path):
    answers = [
        told(path, await house.ask(path, STORY, stream=stream, top_p=top_p, **{LIMIT[path]: 12}))
        for stream in (False, True)
        for top_p in (1, 0)
    ]
    assert len({said.text for said in answers}) == 1
    assert answers[0].text


@pytest.mark.fault("B14")
async def test_seed_zero_is_a_seed(house):
    asked = {"temperature": 1.5, "seed": 0, "max_tokens": 12}
    texts = {told(CHAT, await house.ask(CHAT, STORY, **asked)).text for _ in range(2)}
    assert len(texts) == 1
    other = told(CHAT, await house.ask(CHAT, STORY, **asked | {"seed": 1})).text
    assert other not in texts


@pytest.mark.fault("B15")
@BOTH_WAYS
@EVERY_SHAPE
async def test_a_limit_by_any_name_holds(house, path, stream):
    named = [{LIMIT[path]: 7}]
    if path == CHAT:
        named += [{"max_completion_tokens": 7}, {"max_tokens": 90, "max_completion_tokens": 7}]
    options = (
        {"stream_options": {"include_usage": True}} if stream and path in (CHAT, TEXTS) else {}
    )
    for limit in named:
        said = told(path, await house.ask(path, STORY, stream=stream, **limit, **options))
        [usage] = said.usages
        assert usage.get("completion_tokens", usage.get("output_tokens")) == 7
        assert said.ending == "length"


@pytest.mark.fault("B16")
@BOTH_WAYS
@pytest.mark.parametrize("path", [CHAT, TEXTS])
async def test_three_choices_are_three(house, path, stream):
    got = await house.ask(path, stream=stream, n=3, max_tokens=6, temperature=1)
    events = [e for e in events_of(got.body) if e != "[DONE]"] if stream else [got.json]
    choices = [choice for event in events for choice in event["choices"]]
    ended = [choice["index"] for choice in choices if choice["finish_reason"]]
    assert sorted(ended) == [0, 1, 2]


@pytest.mark.fault("B16")
@BOTH_WAYS
async def test_probabilities_are_there_for_every_token(house, stream):
    asked = {"logprobs": True, "top_logprobs": 2, "max_tokens": 6, "stream": stream}
    got = await house.ask(CHAT, STORY, **asked)
    events = [e for e in events_of(got.body) if e != "[DONE]"] if stream else [got.json]
    shown = [c["logprobs"] for e in events for c in e["choices"] if c.get("logprobs")]
    tokens = [token for logprobs in shown for token in logprobs["content"]]
    assert len(tokens) == 6
    assert all(token["logprob"] <= 0 and len(token["top_logprobs"]) == 2 for token in tokens)
    assert "".join(token["token"] for token in tokens) == told(CHAT, got).text


@pytest.mark.fault("B20")
async def test_a_full_queue_says_how_long(house):
    body = asking(CHAT, STORY, model="local", stream=True, max_tokens=900)
    async with sent(port_of(house.gateway), body=body) as (reader, _):
        assert (await read_head(reader))[0] == 200
        for path in ALL:
            for stream in (False, True):
                got = await house.ask(path, stream=stream)
                assert got.status in (429, 503), got.body
                assert int(got.headers["retry-after"]) >= 1
    done = asyncio.ensure_future(_free(house))
    await until(done.done, "the slot")


async def _free(house: House) -> None:
    while (await house.ask(CHAT, max_tokens=1)).status != 200:
        await asyncio.sleep(0.05)


@pytest.mark.fault("B24")
@BOTH_WAYS
@EVERY_SHAPE
async def test_a_prompt_beyond_the_context_is_refused_with_numbers_or_goes_on(house, path, stream):
    long = "Hello! " + "word " * 1200
    got = await house.ask(path, long, stream=stream)
    error = got.json["error"]
    code = error["details"]["error_code"] if path == MESSAGES else error["code"]
    assert (got.status, code) == (400, "context_length_exceeded")
    assert "1024" in error["message"]
    assert not house.cloud.posts
    auto = await house.ask(path, long, model="auto", stream=stream)
    assert told(path, auto).text == "From the cloud."
