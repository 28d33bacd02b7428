"""Under `pseudonymise` a cloud sees placeholders only and a caller values only, in every vocabulary,
whole and as a stream that comes one character at a time (R31)."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import openai
import pytest
from tests.integration.running import Pair, running

from hybridge.core.assembly import as_chunks
from hybridge.core.wire import completion
from hybridge.testing import anthropic
from hybridge.testing.replies import (
    Received,
    Reply,
    Step,
    answers,
    byte_by_byte,
    cut,
    fails,
    says,
    streams,
)
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio

MAIL, PHONE, NAME, KEY = "zhang.wei@corp.cn", "13800138000", "王小明", "hunter2Xk9qLm"
PROMPT = f"我叫{NAME}，电话{PHONE}，邮箱{MAIL}。 password: {KEY}"
CODE = re.compile(r"\{\{(?:EMAIL|PHONE|PERSON|SECRET)_\d+_[a-z]\d[a-z]\d\}\}")
TOOL = {
    "name": "send",
    "parameters": {"type": "object", "properties": {"to": {"type": "string"}}},
}
HEAD = {"id": "c1", "created": 1, "model": "large"}
USAGE = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}


@asynccontextmanager
async def far_away(folder: Path, **row: Any) -> AsyncIterator[Pair]:
    """A gateway whose cloud is on another machine, as far as it can tell: it is asked by way of a
    proxy, which answers itself."""
    async with Upstream(says("Hello from the edge.")) as edge, Upstream(echo) as cloud:
        small = {"name": "e", "engine": "openai", "base_url": edge.base_url, "model": "small"}
        large = {"name": "c", "base_url": "http://cloud.test/v1", "model": "large"}
        config = {
            "privacy": {"action": "pseudonymise"},
            "edge": {"backends": [small]},
            "cloud": {"backends": [{**large, "proxy": cloud.root_url, **row}]},
        }
        async with running(folder, config, env={"CLOUD_KEY": "any"}) as gateway:
            yield Pair(gateway, edge, cloud)


def echo(received: Received, *, pieces: Random | None = None) -> Iterator[Step]:
    """Says what it was told, calls a tool with it where there is one, and cuts both to pieces."""
    asked = received.json
    told = next(m["content"] for m in reversed(asked["messages"]) if m["role"] == "user")
    told = told if isinstance(told, str) else "".join(part["text"] for part in told)
    message: dict[str, Any] = {"role": "assistant", "content": told}
    if asked.get("tools"):
        function = {"name": "send", "arguments": json.dumps({"to": told}, ensure_ascii=False)}
        message["tool_calls"] = [{"id": "t1", "type": "function", "function": function}]
    finish = "tool_calls" if asked.get("tools") else "stop"
    choices = [
        {"index": index, "message": message, "finish_reason": finish}
        for index in range(asked.get("n") or 1)
    ]
    body = {**HEAD, "object": "chat.completion", "choices": choices, "usage": USAGE}
    if asked.get("stream"):
        return streams(*_pieces(body, pieces or Random(1)))(received)
    return answers(body)(received)


def _pieces(body: dict[str, Any], random: Random) -> Iterator[dict[str, Any]]:
    for whole in as_chunks(completion(json.dumps(body).encode())):
        event = json.loads(whole.wire)
        choice = event["choices"][0] if event["choices"] else {"delta": {}}
        said = choice["delta"]
        if not said.get("content"):
            yield event
            continue
        for piece in _cut(said["content"], random):
            yield event | {"choices": [{**choice, "delta": {"content": piece}}]}
        for call in said.get("tool_calls", ()):
            begun = {**call, "function": {"name": "send", "arguments": ""}}
            yield event | {"choices": [{**choice, "delta": {"tool_calls": [begun]}}]}
            for piece in _cut(call["function"]["arguments"], random):
                more = {"index": call["index"], "function": {"arguments": piece}}
                yield event | {"choices": [{**choice, "delta": {"tool_calls": [more]}}]}


def _cut(text: str, random: Random) -> Iterator[str]:
    while text:
        at = random.choice((1, 1, 1, 2, 3))
        yield text[:at]
        text = text[at:]


def only_placeholders(posts: list[Received]) -> None:
    assert posts
    for received in posts:
        told = received.body.decode()
        plain = json.dumps(json.loads(told), ensure_ascii=False)
        for value in (MAIL, PHONE, NAME, KEY):
            assert value not in told
            assert value not in plain
        assert len(set(CODE.findall(plain))) == 4


def only_values(said: str) -> None:
    """The caller's own words again, but for the secret."""
    begin, code, end = re.split(r"(\{\{SECRET_\d+_[a-z]\d[a-z]\d\}\})", said)
    assert begin == PROMPT.partition(KEY)[0]
    assert code
    assert not end


async def test_chat(tmp_path: Path) -> None:
    async with far_away(tmp_path) as p:
        sdk = openai.AsyncOpenAI(base_url=f"{p.gateway.url}/v1", api_key="none", max_retries=0)
        asked: Any = {"model": "c", "messages": [{"role": "user", "content": PROMPT}], "n": 2}
        tools: Any = [{"type": "function", "function": TOOL}]
        async with sdk:
            p.cloud.then(echo)
            whole = await sdk.chat.completions.create(**asked, tools=tools, logprobs=True)
            for choice in whole.choices:
                only_values(choice.message.content or "")
                only_values(json.loads(choice.message.tool_calls[0].function.arguments)["to"])
            p.cloud.then(byte_by_byte(echo))
            stream = await sdk.chat.completions.create(**asked, tools=tools, stream=True)
            said, arguments, over = ["", ""], ["", ""], [False, False]
            async for chunk in stream:
                for choice in chunk.choices:
                    assert not over[choice.index]
                    over[choice.index] = choice.finish_reason is not None
                    said[choice.index] += choice.delta.content or ""
                    for call in choice.delta.tool_calls or ():
                        arguments[choice.index] += (call.function and call.function.arguments) or ""
            for text, call in zip(said, arguments, strict=True):
                only_values(text)
                only_values(json.loads(call)["to"])
        only_placeholders(p.cloud.posts)
        assert not p.edge.posts


async def test_the_other_vocabularies(tmp_path: Path) -> None:
    async with far_away(tmp_path) as p:
        p.cloud.then(echo)
        for stream in (False, True):
            post = _poster(p.gateway, stream)
            said = await post("/v1/completions", prompt=PROMPT)
            only_values(_joined(said, "choices", 0, "text"))
            turns = [{"role": "user", "content": PROMPT}]
            tool = {"name": "send", "input_schema": TOOL["parameters"]}
            said = await post("/v1/messages", messages=turns, max_tokens=99, tools=[tool])
            only_values(_anthropic_text(said))
            only_values(json.loads(_anthropic_input(said))["to"])
            said = await post(
                "/v1/responses", input=PROMPT, store=False, tools=[{"type": "function", **TOOL}]
            )
            last = said[-1]["response"] if stream else said[0]
            text = next(item for item in last["output"] if item["type"] == "message")
            only_values(text["content"][0]["text"])
            call = next(item for item in last["output"] if item["type"] == "function_call")
            only_values(json.loads(call["arguments"])["to"])
            if stream:
                only_values("".join(e["delta"] for e in said if e["type"].endswith("text.delta")))
        only_placeholders(p.cloud.posts)


def claude(received: Received) -> Iterator[Step]:
    """The same in Anthropic's vocabulary."""
    content = received.json["messages"][-1]["content"]
    told = content if isinstance(content, str) else content[0]["text"]
    return anthropic.says(told, anthropic.use("send", {"to": told}))(received)


async def test_a_cloud_with_a_vocabulary_of_its_own(tmp_path: Path) -> None:
    async with far_away(tmp_path, provider="anthropic", api_key_env="CLOUD_KEY") as p:
        p.cloud.then(claude)
        for stream in (False, True):
            turns = [{"role": "user", "content": PROMPT}]
            tool = {"name": "send", "input_schema": TOOL["parameters"]}
            post = _poster(p.gateway, stream)
            said = await post("/v1/messages", messages=turns, max_tokens=99, tools=[tool])
            only_values(_anthropic_text(said))
            only_values(json.loads(_anthropic_input(said))["to"])
        only_placeholders(p.cloud.posts)
        assert "stand for private data" in p.cloud.posts[0].body.decode()


def _poster(gateway: Any, stream: bool) -> Any:
    async def post(path: str, **body: Any) -> list[dict[str, Any]]:
        sent = json.dumps({"model": "c", "stream": stream, **body}).encode()
        headers = {"content-type": "application/json"}
        response = await gateway.http.post(gateway.url + path, headers, sent)
        assert response.status == 200, response.content
        lines = [line[6:] for line in response.content.decode().splitlines() if line[:5] == "data:"]
        told = [json.loads(line) for line in lines if line != "[DONE]"]
        return told if stream else [response.json()]

    return post


def _joined(events: list[dict[str, Any]], *path: Any) -> str:
    """One string of each event, one after the other."""
    found = []
    for event in events:
        value: Any = event
        for key in path:
            there = value and (isinstance(value, list) or key in value)
            value = value[key] if there else None
        found.append(value or "")
    return "".join(found)


def _anthropic_text(said: list[dict[str, Any]]) -> str:
    if "content" in said[0]:
        return next(block["text"] for block in said[0]["content"] if block["type"] == "text")
    return _joined(said, "delta", "text")


def _anthropic_input(said: list[dict[str, Any]]) -> str:
    if "content" in said[0]:
        return json.dumps(next(b["input"] for b in said[0]["content"] if b["type"] == "tool_use"))
    return _joined(said, "delta", "partial_json")


def careless(random: Random) -> Reply:
    """An upstream that copies placeholders as models do."""

    def reply(received: Received) -> Iterator[Step]:
        plain = random.choice((str, str.lower, _bare, _escaped, _wide))
        body = received.body.decode()
        spelt = json.loads(CODE.sub(lambda code: json.dumps(plain(code.group()))[1:-1], body))
        again = Received(received.method, received.target, {}, json.dumps(spelt).encode())
        return echo(again, pieces=random)

    return reply


def _bare(code: str) -> str:
    return code[2:-2]


def _escaped(code: str) -> str:
    return rf"\[{code[2:-2]}\]".replace("_", r"\_")


def _wide(code: str) -> str:
    return f"【{code[2:-2]}】"


async def test_twenty_five_chunkings_of_careless_copies(tmp_path: Path) -> None:
    plain = f"我叫{NAME}，电话 {PHONE} ，邮箱：{MAIL}。"
    async with far_away(tmp_path) as p:
        p.cloud.then(careless(Random(3)))
        for index in range(25):
            answer = await p.gateway.chat(f"{plain} {index}", model="c", stream=True)
            assert answer.text == f"{plain} {index}"
        assert not any(MAIL in received.body.decode() for received in p.cloud.posts)


async def test_an_error_that_names_a_placeholder_goes_on_as_it_came(tmp_path: Path) -> None:
    def refuses(received: Received) -> Iterator[Step]:
        (code, *_) = CODE.findall(json.dumps(received.json, ensure_ascii=False))
        return fails(400, f"cannot read {code}")(received)

    async with far_away(tmp_path) as p:
        p.cloud.then(refuses)
        answer = await p.gateway.chat(PROMPT, model="c")
        assert answer.status == 400
        assert CODE.search(answer.json["error"]["message"])
        assert not any(value in answer.raw.decode() for value in (MAIL, PHONE, NAME, KEY))
        p.cloud.then(cut(says("Dear {{EMAIL_1"), after=2, end=b"0\r\n\r\n"))
        broken = await p.gateway.chat(PROMPT, model="c", stream=True)
        assert "Dear {{EMAIL_1" in "".join(
            c["delta"].get("content") or "" for e in broken.events for c in e.get("choices", ())
        )
