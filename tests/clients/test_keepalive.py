"""A stream that begins before its answer: SDKs see neither comment lines nor an empty answer."""

from __future__ import annotations

import anthropic
import openai
import pytest
from anthropic import Anthropic
from openai import OpenAI

SLOW, BROKEN = ([{"role": "user", "content": said}] for said in ("Slowly: 你好 🐢", "Fail slowly"))


@pytest.fixture
def client(early_gateway):
    with OpenAI(base_url=early_gateway.v1, api_key=early_gateway.key, max_retries=0) as client:
        yield client


@pytest.fixture
def claude(early_gateway):
    with Anthropic(base_url=early_gateway.url, api_key=early_gateway.key, max_retries=0) as client:
        yield client


def test_comment_lines_are_sent(client):
    with client.chat.completions.with_streaming_response.create(
        model="gpt", messages=SLOW, stream=True
    ) as response:
        lines = list(response.iter_lines())
    first = next(i for i, line in enumerate(lines) if line.startswith("data: "))
    assert sum(line.startswith(":") for line in lines[:first]) >= 2


def test_chat(client):
    chunks = list(client.chat.completions.create(model="gpt", messages=SLOW, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "你好 🐢"


def test_responses(client):
    events = list(client.responses.create(model="gpt", input=SLOW, stream=True))
    assert events[-1].response.output_text == "你好 🐢"


def test_messages(claude):
    with claude.messages.stream(model="gpt", max_tokens=99, messages=SLOW) as stream:
        assert stream.get_final_text() == "你好 🐢"


def test_a_failure_comes_as_an_event(client, claude):
    with pytest.raises(openai.APIError) as caught:
        list(client.chat.completions.create(model="gpt", messages=BROKEN, stream=True))
    assert caught.value.code
    with pytest.raises(anthropic.APIError):
        list(claude.messages.create(model="gpt", max_tokens=99, messages=BROKEN, stream=True))
