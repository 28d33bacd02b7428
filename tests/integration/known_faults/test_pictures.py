"""Pictures: seen by a model that can see, or refused; never dropped."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, PATIENT, port_of
from tests.integration.known_faults.vocabularies import (
    CHAT,
    MESSAGES,
    RESPONSES,
    SHAPES_WITH_TOOLS,
    asking,
    told,
)
from tests.integration.running import Running, running

from hybridge.testing import anthropic
from hybridge.testing.http import Got, ask
from hybridge.testing.replies import Cut, Reply, cut, fails, says
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40).decode()
DATA, WEB = f"data:image/png;base64,{PNG}", "https://example.com/a%20cat.png?size=1&x=%E7%8C%AB"
PRIVATE = "My identity card says 11010519491231002X. What is this?"
SOURCES = pytest.mark.parametrize("source", [DATA, WEB], ids=["data", "web"])


def showing(path: str, source: str, text: str = "What is this?", **members: Any) -> dict[str, Any]:
    """A question about a picture."""
    body = asking(path, text, **members)
    match path:
        case "/v1/messages":
            plain = {"type": "base64", "media_type": "image/png", "data": PNG}
            where = plain if source == DATA else {"type": "url", "url": source}
            parts: list[Any] = [{"type": "text", "text": text}, {"type": "image", "source": where}]
        case "/v1/responses":
            parts = [{"type": "input_text", "text": text}]
            parts.append({"type": "input_image", "image_url": source})
            return body | {"input": [{"role": "user", "content": parts}]}
        case _:
            parts = [{"type": "text", "text": text}]
            parts.append({"type": "image_url", "image_url": {"url": source}})
    return body | {"messages": [{"role": "user", "content": parts}]}


@dataclass(frozen=True, slots=True)
class House:
    """A gateway with two models that read, and two that see."""

    gateway: Running
    edge: Upstream
    reader: Upstream
    seer: Upstream
    claude: Upstream

    @property
    def blind(self) -> int:
        """How many requests reached a model that cannot see."""
        return len(self.edge.posts) + len(self.reader.posts)


@pytest.fixture(scope="module")
async def built(tmp_path_factory, anyio_backend) -> AsyncIterator[House]:
    async with Upstream() as edge, Upstream() as reader, Upstream() as seer, Upstream() as claude:
        price = {"input_usd": 1, "output_usd": 1}
        small = {"name": "e", "engine": "openai", "base_url": edge.base_url, "model": "small"}
        text = {"name": "t", "base_url": reader.base_url, "model": "reads", "price": price}
        text |= {"features": ["tools", "json"]}
        sees = {"name": "v", "base_url": seer.base_url, "model": "sees", "price": price}
        other = {"name": "a", "base_url": claude.base_url, "model": "claude", "price": price}
        other |= {"provider": "anthropic", "api_key_env": "K", "features": ["tools"]}
        config = {
            "edge": {"backends": [small]},
            "cloud": {"backends": [text, sees, other | {"name": "b", "features": None}, other]},
            "execution": PATIENT,
            "routing": {"fallbacks": {"v": ["t", "e"]}},
        }
        folder = tmp_path_factory.mktemp("house")
        async with running(folder, config, env={"K": "some-key"}) as gateway:
            yield House(gateway, edge, reader, seer, claude)


@pytest.fixture
def house(built) -> House:
    for upstream in (built.edge, built.reader, built.seer, built.claude):
        upstream.requests.clear()
        upstream.then(says("A cat."))
    built.claude.then(anthropic.says("A cat."))
    return built


async def asked(house: House, path: str, body: dict[str, Any]) -> Got:
    return await ask(port_of(house.gateway), path, body)


def pictures(received: Any) -> list[str]:
    """The pictures that an upstream was shown, however it wants them."""
    found = []
    for part in received.json["messages"][-1]["content"]:
        if part["type"] == "image_url":
            found.append(part["image_url"]["url"])
        elif part["type"] == "image":
            source = part["source"]
            kept = f"data:{source.get('media_type')};base64,{source.get('data')}"
            found.append(source["url"] if source["type"] == "url" else kept)
    return found


@pytest.mark.fault("B13")
@BOTH_WAYS
@SOURCES
@SHAPES_WITH_TOOLS
async def test_a_picture_goes_to_a_model_that_sees_it_unchanged(house, path, source, stream):
    got = await asked(house, path, showing(path, source, stream=stream))
    assert (got.status, told(path, got).text) == (200, "A cat.")
    [post] = [*house.seer.posts, *house.claude.posts]
    assert pictures(post) == [source]
    assert house.blind == 0


@pytest.mark.fault("B13")
@BOTH_WAYS
@SOURCES
@SHAPES_WITH_TOOLS
@pytest.mark.parametrize("model", ["v", "b"], ids=["openai", "anthropic"])
async def test_named_it_sees_it_unchanged_too(house, path, source, stream, model):
    got = await asked(house, path, showing(path, source, stream=stream, model=model))
    assert (got.status, told(path, got).text) == (200, "A cat.")
    [post] = house.seer.posts if model == "v" else house.claude.posts
    assert pictures(post) == [source]


DOWN: dict[str, Reply] = {
    "500": fails(500),
    "503": fails(503),
    "429": fails(429),
    "reset": cut(says(), after=-2, end=Cut.RESET),
    "cannot after all": fails(400, "this model does not support image input"),
}


@pytest.mark.fault("B13")
@BOTH_WAYS
@pytest.mark.parametrize("how", DOWN)
@pytest.mark.parametrize("model", ["auto", "v"])
@SHAPES_WITH_TOOLS
async def test_with_all_that_see_down_nobody_else_answers(house, path, how, stream, model):
    """`v` has fallbacks that read only; they are not asked."""
    house.seer.then(DOWN[how])
    house.claude.then(DOWN[how])
    got = await asked(house, path, showing(path, DATA, stream=stream, model=model))
    assert got.status in (400, 429, 502, 503) or (got.status, how) == (500, "500")
    if model == "auto":
        assert "image" in got.json["error"]["message"]
    assert house.blind == 0


@pytest.mark.fault("B13")
@BOTH_WAYS
@SOURCES
@SHAPES_WITH_TOOLS
@pytest.mark.parametrize("model", ["e", "t", "a"])
async def test_a_named_model_that_reads_only_refuses(house, path, source, model, stream):
    got = await asked(house, path, showing(path, source, stream=stream, model=model))
    assert got.status == 400
    error = got.json["error"]
    assert "images" in error["message"]
    assert (error.get("code") or error["details"]["error_code"]) == "unsupported_parameter"
    assert house.blind + len(house.claude.posts) == 0


@pytest.mark.fault("B13")
@BOTH_WAYS
@SOURCES
@SHAPES_WITH_TOOLS
@pytest.mark.parametrize("model", ["auto", "v", "e"])
async def test_a_private_picture_stays_here_or_nowhere(house, path, source, model, stream):
    got = await asked(house, path, showing(path, source, PRIVATE, stream=stream, model=model))
    assert got.status == 422
    error = got.json["error"]
    assert (error.get("code") or error["details"]["error_code"]) == "privacy_no_local_path"
    assert not [*house.seer.posts, *house.claude.posts]
    assert house.blind == 0


@pytest.mark.fault("B13")
@BOTH_WAYS
async def test_a_picture_of_an_earlier_turn_counts_too(house, stream):
    body = showing(CHAT, DATA, stream=stream)
    body["messages"] += [
        {"role": "assistant", "content": "A cat."},
        {"role": "user", "content": "Which colour?"},
    ]
    assert (await asked(house, CHAT, body | {"model": "t"})).status == 400
    assert (await asked(house, CHAT, body)).status == 200
    assert house.blind == 0


@pytest.mark.fault("B13")
@pytest.mark.parametrize("path", [MESSAGES, RESPONSES])
async def test_a_picture_in_a_tools_result_is_seen_or_refused(house, path):
    """Neither is it dropped there: a result may be a screenshot."""
    if path == MESSAGES:
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png"}}
        image["source"] |= {"data": PNG}
        result = {"type": "tool_result", "tool_use_id": "t_1", "content": [image]}
        turns = [("user", "Look."), ("assistant", [anthropic.use("look", {}, "t_1")])]
        messages = [{"role": role, "content": said} for role, said in [*turns, ("user", [result])]]
        tools = [{"name": "look", "input_schema": {"type": "object"}}]
        body = asking(path) | {"messages": messages, "tools": tools}
    else:
        output = {"type": "function_call_output", "call_id": "t_1"}
        output |= {"output": [{"type": "input_image", "image_url": DATA}]}
        call = {"type": "function_call", "call_id": "t_1", "name": "look", "arguments": "{}"}
        tools = [{"type": "function", "name": "look", "parameters": {"type": "object"}}]
        body = asking(path) | {"input": [{"role": "user", "content": "Look."}, call, output]}
        body |= {"tools": tools}
    seen = await asked(house, path, body)
    refused = await asked(house, path, body | {"model": "t"})
    if seen.status == 200:
        sent = [post.body.decode() for post in (*house.seer.posts, *house.claude.posts)]
        assert len(sent) == 1
        assert PNG in sent[0]
    else:
        assert "image" in seen.json["error"]["message"]
    assert refused.status == 400
    assert house.blind == 0
