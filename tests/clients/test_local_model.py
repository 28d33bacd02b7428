"""The official packages, answered by a real model of this device."""

from __future__ import annotations

import json

import pytest
from anthropic import Anthropic
from openai import OpenAI
from pydantic import BaseModel

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]  # the weights may have to be fetched

SPEED = {
    "type": "function",
    "function": {
        "name": "set_speed",
        "description": "Sets the speed of the fan.",
        "parameters": {
            "type": "object",
            "properties": {"level": {"type": "string", "enum": ["low", "high"]}},
            "required": ["level"],
            "additionalProperties": False,
        },
    },
}
MESSAGES = [{"role": "user", "content": "Write one short sentence about the sea. 写一句。"}]
ASKED = {"model": "local", "messages": MESSAGES, "temperature": 0}


class Verdict(BaseModel):
    answer: bool
    stars: int


@pytest.fixture(scope="module")
def client(local_gateway):
    with OpenAI(base_url=local_gateway.v1, api_key=local_gateway.key, max_retries=0) as client:
        yield client


def test_whole_and_stream_say_the_same(client):
    whole = client.chat.completions.create(**ASKED, max_tokens=24)
    *chunks, last = client.chat.completions.create(
        **ASKED, max_tokens=24, stream=True, stream_options={"include_usage": True}
    )
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert said == whole.choices[0].message.content
    assert "\ufffd" not in said
    assert last.usage.completion_tokens == whole.usage.completion_tokens <= 24


def test_limit(client):
    answer = client.chat.completions.create(**ASKED, max_completion_tokens=3)
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage.completion_tokens == 3


def test_structured_output(client):
    answer = client.chat.completions.parse(**ASKED, max_tokens=64, response_format=Verdict)
    assert isinstance(answer.choices[0].message.parsed, Verdict)


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_that_must_be_called(client, stream):
    asked = {**ASKED, "tools": [SPEED], "tool_choice": "required", "max_tokens": 64}
    if stream:
        with client.chat.completions.stream(**asked) as events:
            answer = events.get_final_completion()
    else:
        answer = client.chat.completions.create(**asked)
    (call,) = answer.choices[0].message.tool_calls
    assert answer.choices[0].finish_reason == "tool_calls"
    assert call.function.name == "set_speed"
    assert json.loads(call.function.arguments)["level"] in ("low", "high")


def test_responses(client):
    first = client.responses.create(
        model="local", input=MESSAGES, temperature=0, max_output_tokens=16
    )
    second = client.responses.create(
        model="local", input="Again.", previous_response_id=first.id, max_output_tokens=16
    )
    assert first.output_text
    assert second.usage.input_tokens > first.usage.input_tokens


def test_completions(client):
    answer = client.completions.create(
        model="local", prompt="The sea is", temperature=0, max_tokens=8
    )
    assert answer.choices[0].text


def test_messages(local_gateway):
    asked = {"model": "local", "max_tokens": 16, "messages": MESSAGES}
    with Anthropic(base_url=local_gateway.url, api_key=local_gateway.key) as client:
        whole = client.messages.create(**asked, extra_body={"temperature": 0})
        with client.messages.stream(**asked, extra_body={"temperature": 0}) as stream:
            assert "".join(stream.text_stream) == whole.content[0].text
            assert stream.get_final_message().stop_reason == whole.stop_reason
