"""The official `anthropic` package: messages, sync and async."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic, AsyncAnthropic, beta_tool
from pydantic import BaseModel

pytestmark = pytest.mark.anyio

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["c", "f"]}},
        "required": ["city"],
    },
}


class Contact(BaseModel):
    name: str
    plans: list[str]
    demo: bool


@pytest.fixture
def client(gateway) -> Iterator[Anthropic]:
    with Anthropic(base_url=gateway.url, api_key=gateway.key, max_retries=0) as client:
        yield client


def asked(text: str, model: str = "auto", **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"model": model, "max_tokens": 1024, "messages": messages, **more}


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


@pytest.mark.parametrize("model", ["auto", "gpt", "edge"])
@pytest.mark.parametrize(
    "text",
    ["Hello, Zoë!", "你好，世界", "👨‍👩‍👧‍👦 🏳️‍🌈"],
    ids=["english", "chinese", "emoji"],
)
class TestText:
    def test_whole(self, client, model, text):
        message = client.messages.create(**asked(f"Say: {text}", model))
        assert [block.type for block in message.content] == ["text"]
        assert message.content[0].text == text
        assert (message.type, message.role) == ("message", "assistant")
        assert message.stop_reason == "end_turn"
        assert message.id.startswith("msg_")
        assert message.usage.input_tokens > 0
        assert message.usage.output_tokens > 0

    def test_stream(self, client, model, text):
        events = list(client.messages.create(**asked(f"Say: {text}", model), stream=True))
        kinds = [event.type for event in events]
        assert kinds[0] == "message_start"
        assert kinds[1] == "content_block_start"
        assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]
        assert set(kinds[2:-3]) == {"content_block_delta"}
        assert "".join(event.delta.text for event in events[2:-3]) == text
        assert events[0].message.stop_reason is None
        assert events[0].message.content == []
        assert events[-2].delta.stop_reason == "end_turn"
        assert events[-2].usage.output_tokens > 0

    def test_helper(self, client, model, text):
        with client.messages.stream(**asked(f"Say: {text}", model)) as stream:
            said = "".join(stream.text_stream)
            final = stream.get_final_message()
        assert said == text_of(final) == text
        assert final.stop_reason == "end_turn"
        assert final.usage.input_tokens > 0

    async def test_async(self, gateway, model, text):
        async with AsyncAnthropic(base_url=gateway.url, api_key=gateway.key) as client:
            whole = await client.messages.create(**asked(f"Say: {text}", model))
            async with client.messages.stream(**asked(f"Say: {text}", model)) as stream:
                said = "".join([piece async for piece in stream.text_stream])
        assert text_of(whole) == said == text


def test_a_key_as_bearer(gateway):
    with Anthropic(base_url=gateway.url, auth_token=gateway.key, max_retries=0) as client:
        assert text_of(client.messages.create(**asked("Say: in"))) == "in"


@pytest.mark.parametrize(
    "system", ["Be brief. 简短。", [{"type": "text", "text": "Be brief. 简短。"}]]
)
def test_system(client, system):
    message = client.messages.create(**asked("What are your instructions?", system=system))
    assert text_of(message) == "Be brief. 简短。"


def test_conversation(client):
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "First of all 👋"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Yes?"}]},
        {"role": "user", "content": "What did I say first?"},
    ]
    message = client.messages.create(model="auto", max_tokens=100, messages=messages)
    assert text_of(message) == "First of all 👋"


def test_parameters_arrive(client):
    """Sampling parameters, which the SDK no longer names, still pass as extra fields."""
    more = {"stop_sequences": ["\n\n"], "max_tokens": 900}
    sampling = {"temperature": 0.0, "top_p": 0.5, "top_k": 3}
    message = client.messages.create(**asked("Show the request", "gpt") | more, extra_body=sampling)
    got = json.loads(text_of(message))
    assert {name: got[name] for name in sampling} == sampling
    assert got["stop"] == ["\n\n"]
    assert got.get("max_completion_tokens", got.get("max_tokens")) == 900
    assert got["messages"] == [{"role": "user", "content": "Show the request"}]


def test_limit(client):
    message = client.messages.create(**asked("Say: too long", "gpt") | {"max_tokens": 2})
    assert message.stop_reason == "max_tokens"
    with client.messages.stream(**asked("Say: too long", "gpt") | {"max_tokens": 2}) as stream:
        assert stream.get_final_message().stop_reason == "max_tokens"


def test_cache_control_is_accepted(client):
    block = {"type": "text", "text": "Say: cached", "cache_control": {"type": "ephemeral"}}
    message = client.messages.create(
        model="auto", max_tokens=100, messages=[{"role": "user", "content": [block]}]
    )
    assert text_of(message) == "cached"


class TestTools:
    @pytest.mark.parametrize("model", ["auto", "gpt", "edge"])
    def test_loop(self, client, model):
        messages = [{"role": "user", "content": "Compare Paris, Zürich and 北京"}]
        more = {"model": model, "max_tokens": 1024, "tools": [WEATHER]}
        message = client.messages.create(messages=messages, **more)
        assert message.stop_reason == "tool_use"
        calls = [block for block in message.content if block.type == "tool_use"]
        assert [call.input["city"] for call in calls] == ["Paris", "Zürich", "北京"]
        assert len({call.id for call in calls}) == 3
        results = [
            {"type": "tool_result", "tool_use_id": calls[0].id, "content": "18 °C"},
            {
                "type": "tool_result",
                "tool_use_id": calls[1].id,
                "content": [{"type": "text", "text": "12 °C"}],
            },
            {
                "type": "tool_result",
                "tool_use_id": calls[2].id,
                "content": "no such station",
                "is_error": True,
            },
        ]
        messages += [
            {"role": "assistant", "content": message.content},
            {"role": "user", "content": results},
        ]
        message = client.messages.create(messages=messages, **more)
        assert text_of(message).startswith("The tools said: 18 °C; 12 °C; ")
        assert "no such station" in text_of(message)
        assert message.stop_reason == "end_turn"

    @pytest.mark.parametrize("order", ["", "In turns: "])
    def test_stream(self, client, order):
        """A block is whole before the next begins, however the upstream mixed them."""
        with client.messages.stream(
            **asked(f"{order}Paris, Zürich and 北京", "gpt", tools=[WEATHER])
        ) as stream:
            events = list(stream)
            final = stream.get_final_message()
        assert [block.input["city"] for block in final.content] == ["Paris", "Zürich", "北京"]
        assert final.stop_reason == "tool_use"
        open_block = None
        for event in events:
            if event.type == "content_block_start":
                assert open_block is None
                open_block = event.index
            elif event.type == "content_block_delta":
                assert event.index == open_block
            elif event.type == "content_block_stop":
                open_block = None
        assert any(event.type == "input_json" for event in events)

    @pytest.mark.parametrize(
        ("choice", "kinds"),
        [
            ({"type": "none"}, ["text"]),
            ({"type": "any"}, ["tool_use"]),
            ({"type": "tool", "name": "get_weather"}, ["tool_use"]),
            ({"type": "auto"}, ["text"]),
        ],
        ids=lambda choice: choice["type"] if isinstance(choice, dict) else "",
    )
    def test_choice(self, client, choice, kinds):
        message = client.messages.create(**asked("Hi", tools=[WEATHER], tool_choice=choice))
        assert [block.type for block in message.content] == kinds

    def test_one_at_a_time(self, client):
        choice = {"type": "auto", "disable_parallel_tool_use": True}
        message = client.messages.create(
            **asked("Paris and 北京", "gpt", tools=[WEATHER], tool_choice=choice)
        )
        assert [block.input["city"] for block in message.content] == ["Paris"]

    def test_runner(self, client):
        """The SDK's own loop, with a tool that is a function."""

        @beta_tool
        def get_weather(city: str) -> str:
            """The weather of a city.

            Args:
                city: Its name.
            """
            return f"sunny in {city}"

        runner = client.beta.messages.tool_runner(**asked("Paris and 北京"), tools=[get_weather])
        turns = list(runner)
        assert [turn.stop_reason for turn in turns] == ["tool_use", "end_turn"]
        assert text_of(turns[-1]) == "The tools said: sunny in Paris; sunny in 北京"


class TestStructure:
    @pytest.mark.parametrize("model", ["auto", "gpt", "edge"])
    def test_parse(self, client, model):
        message = client.messages.parse(
            **asked("Extract the contact.", model), output_format=Contact
        )
        assert message.parsed_output.name == "Zoë, 北京 👩‍🔬"
        assert message.parsed_output.demo is True

    def test_stream(self, client):
        with client.messages.stream(
            **asked("Extract the contact."), output_format=Contact
        ) as stream:
            final = stream.get_final_message()
        assert isinstance(final.parsed_output, Contact)

    def test_schema(self, client):
        schema = {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        }
        config = {"format": {"type": "json_schema", "schema": schema}}
        message = client.messages.create(**asked("Which city?", output_config=config))
        assert set(json.loads(text_of(message))) == {"city"}


@pytest.mark.parametrize("model", ["auto", "gpt"])
def test_image(client, png, model):
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(png).decode()}
    content = [
        {"type": "image", "source": source},
        {"type": "text", "text": "What is in this image? 这是什么？"},
    ]
    message = client.messages.create(
        model=model, max_tokens=1024, messages=[{"role": "user", "content": content}]
    )
    assert text_of(message) == f"image/png {hashlib.sha256(png).hexdigest()}"


class TestCountTokens:
    def test_more_words_more_tokens(self, client):
        few, many = (
            client.messages.count_tokens(
                model="auto", messages=[{"role": "user", "content": "数一数 count me " * n}]
            ).input_tokens
            for n in (1, 50)
        )
        assert 0 < few < many

    def test_all_parts_count(self, client):
        plain = {"model": "auto", "messages": [{"role": "user", "content": "Hi"}]}
        alone = client.messages.count_tokens(**plain).input_tokens
        system = client.messages.count_tokens(**plain, system="Be very brief, please.")
        tools = client.messages.count_tokens(**plain, tools=[WEATHER])
        assert alone < system.input_tokens
        assert alone < tools.input_tokens

    async def test_async(self, gateway):
        async with AsyncAnthropic(base_url=gateway.url, api_key=gateway.key) as client:
            counted = await client.messages.count_tokens(
                model="gpt", messages=[{"role": "user", "content": "Hi"}]
            )
        assert counted.input_tokens > 0


def test_models(client):
    assert {"auto", "gpt", "edge"} <= {model.id for model in client.models.list()}
    assert client.models.retrieve("gpt").id == "gpt"


class TestErrors:
    def test_a_wrong_key(self, client):
        with pytest.raises(anthropic.AuthenticationError) as caught:
            client.with_options(api_key="sk-wrong-key").messages.create(**asked("Hi"))
        assert caught.value.type == "authentication_error"
        assert "sk-wrong-key" not in str(caught.value)

    def test_an_unknown_model(self, client):
        with pytest.raises(anthropic.NotFoundError) as caught:
            client.messages.create(**asked("Hi", "claude-nine"))
        assert caught.value.type == "not_found_error"
        assert caught.value.body["type"] == "error"
        assert caught.value.request_id

    @pytest.mark.parametrize(
        ("wrong", "named"),
        [
            ({"extra_body": {"temperature": "hot"}}, "temperature"),
            ({"max_tokens": 0}, "max_tokens"),
            ({"messages": []}, "messages"),
            ({"messages": [{"role": "robot", "content": "Hi"}]}, "role"),
            ({"tools": [{"name": "x"}]}, "tools"),
            ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "source"),
        ],
    )
    def test_a_parameter_of_a_wrong_form(self, client, wrong, named):
        with pytest.raises(anthropic.BadRequestError, match=named) as caught:
            client.messages.create(**asked("Hi") | wrong)
        assert caught.value.type == "invalid_request_error"

    @pytest.mark.parametrize("stream", [False, True])
    def test_what_the_upstream_refuses(self, client, stream):
        with pytest.raises(anthropic.BadRequestError, match="not that temperature") as caught:
            client.messages.create(**asked("Refuse", "gpt", stream=stream))
        assert caught.value.type == "invalid_request_error"

    @pytest.mark.parametrize("stream", [False, True])
    def test_what_the_upstream_breaks_at(self, client, stream):
        with pytest.raises(anthropic.InternalServerError) as caught:
            client.messages.create(**asked("Fail", "gpt", stream=stream))
        assert caught.value.type in ("api_error", "overloaded_error")

    @pytest.mark.parametrize("stream", [False, True])
    def test_a_rate_limit(self, client, busy, stream):
        with pytest.raises(anthropic.RateLimitError) as caught:
            client.messages.create(**asked("Hi", busy(), stream=stream))
        assert caught.value.type == "rate_limit_error"
        assert caught.value.response.headers["retry-after"] == "7"

    def test_the_rate_limit_of_a_key(self, client, gateway):
        limited = client.with_options(api_key=gateway.limited.pop())
        assert limited.messages.create(**asked("Hi"))
        with pytest.raises(anthropic.RateLimitError) as caught:
            limited.messages.create(**asked("Hi"))
        assert 1 <= int(caught.value.response.headers["retry-after"]) <= 60

    @pytest.mark.parametrize("prompt", ["Break off", "End early"])
    def test_a_stream_that_breaks(self, client, prompt):
        """What came is delivered, then an error; no stop reason is made up."""
        events = []
        with pytest.raises(anthropic.APIStatusError) as caught:
            events.extend(client.messages.create(**asked(prompt, "gpt", stream=True)))
        assert caught.value.body["error"]["message"]
        kinds = {event.type for event in events}
        assert "content_block_delta" in kinds
        assert not kinds & {"message_delta", "message_stop"}

    @pytest.mark.parametrize("prompt", ["Break off", "End early"])
    def test_a_stream_that_breaks_under_the_helper(self, client, prompt):
        with client.messages.stream(**asked(prompt, "gpt")) as stream:
            with pytest.raises(anthropic.APIStatusError):
                stream.get_final_message()

    async def test_async(self, gateway, busy):
        async with AsyncAnthropic(
            base_url=gateway.url, api_key=gateway.key, max_retries=0
        ) as client:
            with pytest.raises(anthropic.RateLimitError):
                await client.messages.create(**asked("Hi", busy()))
            with pytest.raises(anthropic.APIStatusError):
                async with client.messages.stream(**asked("Break off", "gpt")) as stream:
                    await stream.get_final_message()
