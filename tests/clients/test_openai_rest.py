"""The official `openai` package: models, embeddings, and completions as they used to be."""

from __future__ import annotations

import base64
import json
import struct

import openai
import pytest
from openai import AsyncOpenAI

pytestmark = pytest.mark.anyio


class TestModels:
    def test_list(self, client):
        names = [model.id for model in client.models.list()]
        assert names[0] == "auto"
        assert {"gpt", "edge"} <= set(names)

    @pytest.mark.parametrize("name", ["auto", "gpt", "edge"])
    def test_retrieve(self, client, name):
        model = client.models.retrieve(name)
        assert model.id == name
        assert model.object == "model"
        assert model.created > 0
        assert model.owned_by

    async def test_async(self, gateway):
        async with AsyncOpenAI(base_url=gateway.v1, api_key=gateway.key) as client:
            names = [model.id async for model in client.models.list()]
            assert (await client.models.retrieve("gpt")).id == "gpt"
        assert "auto" in names


class TestCompletions:
    @pytest.mark.parametrize("model", ["auto", "gpt", "edge"])
    def test_whole(self, client, model):
        answer = client.completions.create(model=model, prompt="Say: 你好, world 🌏")
        assert answer.choices[0].text == "你好, world 🌏"
        assert answer.choices[0].finish_reason == "stop"
        assert answer.object == "text_completion"
        assert answer.usage.total_tokens > 0

    @pytest.mark.parametrize("model", ["auto", "gpt", "edge"])
    def test_stream(self, client, model):
        stream = client.completions.create(
            model=model,
            prompt="Say: 你好, world 🌏",
            stream=True,
            stream_options={"include_usage": True},
        )
        *chunks, last = stream
        assert "".join(chunk.choices[0].text for chunk in chunks) == "你好, world 🌏"
        finished = [c.choices[0].finish_reason for c in chunks if c.choices[0].finish_reason]
        assert finished == ["stop"]
        assert last.choices == []
        assert last.usage.completion_tokens > 0

    def test_parameters(self, client):
        answer = client.completions.create(
            model="gpt",
            prompt="Show the request",
            temperature=0,
            max_tokens=900,
            stop=["\n\n"],
            seed=5,
        )
        got = json.loads(answer.choices[0].text)
        assert (got["temperature"], got["stop"], got["seed"]) == (0, ["\n\n"], 5)
        assert got.get("max_completion_tokens", got.get("max_tokens")) == 900

    def test_limit(self, client):
        answer = client.completions.create(model="gpt", prompt="Say: too long", max_tokens=2)
        assert answer.choices[0].finish_reason == "length"

    async def test_async(self, gateway):
        async with AsyncOpenAI(base_url=gateway.v1, api_key=gateway.key) as client:
            answer = await client.completions.create(model="auto", prompt="Say: later")
        assert answer.choices[0].text == "later"


@pytest.mark.parametrize(("model", "dimensions"), [("auto", 384), ("vectors", 8)])
class TestEmbeddings:
    """The model in the package, which reads English only, and a scripted one."""

    def test_one(self, client, model, dimensions):
        answer = client.embeddings.create(model=model, input="One sentence.")
        assert len(answer.data[0].embedding) == dimensions
        assert answer.object == "list"
        assert answer.usage.prompt_tokens > 0

    def test_several(self, client, model, dimensions):
        """Each in its place, and the same text the same vector."""
        texts = ["one", "two", "three 🙂", "one"]
        vectors = [row.embedding for row in client.embeddings.create(model=model, input=texts).data]
        assert vectors[0] == vectors[3]
        assert vectors[0] != vectors[1] != vectors[2]
        assert {len(vector) for vector in vectors} == {dimensions}

    def test_both_encodings_say_the_same(self, client, model, dimensions):
        """The SDK asks for base64 by itself; here each is asked for by name."""
        told = {
            form: client.embeddings.create(model=model, input="Hello", encoding_format=form)
            for form in ("float", "base64")
        }
        assert isinstance(told["base64"].data[0].embedding, str)
        raw = base64.b64decode(told["base64"].data[0].embedding)
        decoded = struct.unpack(f"<{dimensions}f", raw)
        assert decoded == pytest.approx(told["float"].data[0].embedding, abs=1e-6)

    async def test_async(self, gateway, model, dimensions):
        async with AsyncOpenAI(base_url=gateway.v1, api_key=gateway.key) as client:
            answer = await client.embeddings.create(model=model, input=["a", "b"])
        assert [row.index for row in answer.data] == [0, 1]


def test_a_text_that_the_shipped_model_cannot_read_is_refused(client):
    with pytest.raises(openai.BadRequestError) as caught:
        client.embeddings.create(model="auto", input=["a text", "床前明月光，疑是地上霜"])
    assert caught.value.param == "input[1]"


def test_chinese_and_token_ids(client):
    answer = client.embeddings.create(model="vectors", input=["床前明月光", "one", "床前明月光"])
    assert answer.data[0].embedding == answer.data[2].embedding != answer.data[1].embedding
    tokens = client.embeddings.create(model="vectors", input=[[1, 2], [3], [1, 2]])
    assert tokens.data[0].embedding == tokens.data[2].embedding != tokens.data[1].embedding


def test_dimensions(client):
    answer = client.embeddings.create(model="vectors", input="short", dimensions=5)
    assert len(answer.data[0].embedding) == 5
