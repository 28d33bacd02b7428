"""LiteLLM as a client: `openai/…`, `anthropic/…` and `text-completion-openai/…`."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import litellm
import pytest
from pydantic import BaseModel

pytestmark = [
    pytest.mark.anyio,
    # Its own models are built in ways that pydantic warns of.
    pytest.mark.filterwarnings("ignore:.* using the `ReadOnly` qualifier:UserWarning"),
    pytest.mark.filterwarnings(
        "ignore:Accessing the 'model_.*:pydantic.PydanticDeprecatedSince211"
    ),
]

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


class Event(BaseModel):
    name: str
    guests: list[str]


@pytest.fixture(params=["openai", "anthropic"])
def to(request, gateway) -> Any:
    """What to pass to LiteLLM so that it asks this gateway, by either of its formats."""

    def target(model: str = "auto") -> dict[str, Any]:
        base = gateway.v1 if request.param == "openai" else gateway.url
        name = f"{request.param}/{model}"
        return {"model": name, "api_base": base, "api_key": gateway.key, "max_retries": 0}

    return target


def user(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize("text", ["Hello, Zoë!", "你好，世界 👨‍👩‍👧‍👦"], ids=["english", "chinese"])
class TestText:
    def test_whole(self, to, text):
        answer = litellm.completion(**to(), messages=user(f"Say: {text}"))
        assert answer.choices[0].message.content == text
        assert answer.choices[0].finish_reason == "stop"
        assert answer.usage.total_tokens > 0

    def test_stream(self, to, text):
        chunks = list(
            litellm.completion(
                **to(),
                messages=user(f"Say: {text}"),
                stream=True,
                stream_options={"include_usage": True},
            )
        )
        said = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        assert said == text
        built = litellm.stream_chunk_builder(chunks)
        assert built.choices[0].message.content == text
        assert built.usage.completion_tokens > 0

    async def test_async(self, to, text):
        answer = await litellm.acompletion(**to(), messages=user(f"Say: {text}"))
        stream = await litellm.acompletion(**to(), messages=user(f"Say: {text}"), stream=True)
        said = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        assert answer.choices[0].message.content == said == text


def test_system(to):
    messages = [{"role": "system", "content": "Kurz 简短"}, *user("What are your instructions?")]
    answer = litellm.completion(**to(), messages=messages)
    assert answer.choices[0].message.content == "Kurz 简短"


def test_tool_loop(to):
    messages = user("Compare Paris and 北京")
    answer = litellm.completion(**to(), messages=messages, tools=[WEATHER])
    message = answer.choices[0].message
    assert answer.choices[0].finish_reason == "tool_calls"
    cities = [json.loads(call.function.arguments)["city"] for call in message.tool_calls]
    assert cities == ["Paris", "北京"]
    messages.append(message)
    for call, degrees in zip(message.tool_calls, ("18", "25"), strict=True):
        messages.append({"role": "tool", "tool_call_id": call.id, "content": degrees})
    answer = litellm.completion(**to(), messages=messages, tools=[WEATHER])
    assert answer.choices[0].message.content == "The tools said: 18; 25"


def test_streamed_tools(to):
    chunks = list(
        litellm.completion(
            **to("gpt"), messages=user("Zürich and 北京"), tools=[WEATHER], stream=True
        )
    )
    calls = litellm.stream_chunk_builder(chunks).choices[0].message.tool_calls
    cities = [json.loads(call.function.arguments)["city"] for call in calls]
    assert cities == ["Zürich", "北京"]


def test_structured_output(to):
    answer = litellm.completion(**to(), messages=user("An event"), response_format=Event)
    event = Event.model_validate_json(answer.choices[0].message.content)
    assert event.guests == ["Zoë, 北京 👩‍🔬"]


def test_image(to, png):
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    content = [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    answer = litellm.completion(**to(), messages=[{"role": "user", "content": content}])
    assert answer.choices[0].message.content == f"image/png {hashlib.sha256(png).hexdigest()}"


class TestErrors:
    def test_a_wrong_key(self, to):
        with pytest.raises(litellm.AuthenticationError):
            litellm.completion(**to() | {"api_key": "sk-wrong"}, messages=user("Hi"))

    def test_an_unknown_model(self, to):
        with pytest.raises(litellm.NotFoundError):
            litellm.completion(**to("nobody"), messages=user("Hi"))

    def test_what_the_upstream_refuses(self, to):
        with pytest.raises(litellm.BadRequestError, match="not that temperature"):
            litellm.completion(**to("gpt"), messages=user("Refuse"))

    def test_a_rate_limit(self, to, busy):
        with pytest.raises(litellm.RateLimitError):
            litellm.completion(**to(busy()), messages=user("Hi"))

    def test_a_stream_that_breaks(self, to):
        with pytest.raises(Exception, match=r".") as caught:
            list(litellm.completion(**to("gpt"), messages=user("Break off"), stream=True))
        assert type(caught.value).__module__.startswith("litellm")


def test_responses(gateway):
    response = litellm.responses(
        model="openai/auto", input="Say: 你好", api_base=gateway.v1, api_key=gateway.key
    )
    assert response.output[0].content[0].text == "你好"


def test_legacy_completion(gateway):
    answer = litellm.text_completion(
        model="text-completion-openai/auto",
        prompt="Say: 你好",
        api_base=gateway.v1,
        api_key=gateway.key,
    )
    assert answer.choices[0].text == "你好"


@pytest.mark.parametrize("model", ["auto", "vectors"])
def test_embeddings(gateway, model):
    answer = litellm.embedding(
        model=f"openai/{model}",
        input=["one", "two", "one"],
        api_base=gateway.v1,
        api_key=gateway.key,
        encoding_format="float",
        max_retries=0,
    )
    one, two, again = (row["embedding"] for row in answer.data)
    assert one == again != two


async def test_messages(gateway):
    """LiteLLM's own Messages interface."""
    message = await litellm.anthropic.messages.acreate(
        model="anthropic/auto",
        max_tokens=100,
        messages=user("Say: 你好"),
        api_base=gateway.url,
        api_key=gateway.key,
    )
    assert message["content"][0]["text"] == "你好"
