"""The official `openai` package: chat completions, sync and async."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncIterator

import openai
import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel

pytestmark = pytest.mark.anyio

PHRASES = [
    "Say: Hello, Zoë!",
    "Say: 你好，世界。床前明月光。",
    "Byte by byte: 家人 👨‍👩‍👧‍👦 and 🏳️‍🌈 𝒳",
    'Say: line one\nline two\ttabbed \\ "quoted"',
]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            },
            "required": ["city", "unit"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}


class Person(BaseModel):
    name: str
    age: int


class Team(BaseModel):
    title: str
    people: list[Person]
    remote: bool


class GetWeather(BaseModel):
    """The weather of a city."""

    city: str
    days: int


@pytest.fixture
async def aclient(gateway) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=gateway.v1, api_key=gateway.key, max_retries=0) as client:
        yield client


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize("model", ["auto", "gpt", "edge"])
@pytest.mark.parametrize("phrase", PHRASES, ids=["english", "chinese", "emoji", "escapes"])
class TestText:
    """Every word arrives as the model said it."""

    def test_whole(self, client, model, phrase):
        answer = client.chat.completions.create(model=model, messages=user(phrase))
        assert answer.choices[0].message.content == phrase.partition(": ")[2]
        assert answer.choices[0].message.role == "assistant"
        assert answer.choices[0].finish_reason == "stop"
        assert answer.usage.total_tokens == (
            answer.usage.prompt_tokens + answer.usage.completion_tokens
        )
        assert answer.object == "chat.completion"
        assert answer.hybridge["route"]

    def test_stream(self, client, model, phrase):
        stream = client.chat.completions.create(model=model, messages=user(phrase), stream=True)
        chunks = list(stream)
        said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        assert said == phrase.partition(": ")[2]
        assert [c.choices[0].finish_reason for c in chunks if c.choices[0].finish_reason] == [
            "stop"
        ]
        assert len({chunk.id for chunk in chunks}) == 1
        assert all(chunk.usage is None for chunk in chunks)

    def test_stream_with_usage(self, client, model, phrase):
        stream = client.chat.completions.create(
            model=model,
            messages=user(phrase),
            stream=True,
            stream_options={"include_usage": True},
        )
        *chunks, last = stream
        assert last.choices == []
        assert last.usage.prompt_tokens > 0
        assert all(chunk.usage is None and len(chunk.choices) == 1 for chunk in chunks)

    async def test_async(self, aclient, model, phrase):
        asked = {"model": model, "messages": user(phrase)}
        answer = await aclient.chat.completions.create(**asked)
        stream = await aclient.chat.completions.create(**asked, stream=True)
        said = [chunk.choices[0].delta.content or "" async for chunk in stream]
        assert answer.choices[0].message.content == phrase.partition(": ")[2] == "".join(said)


def test_stream_helper(client):
    """`.stream()` gathers the answer and tells of it as events."""
    with client.chat.completions.stream(
        model="gpt",
        messages=user("Say: 你好 👩‍🔬!"),
        stream_options={"include_usage": True},
    ) as stream:
        events = list(stream)
        final = stream.get_final_completion()
    assert "".join(e.delta for e in events if e.type == "content.delta") == "你好 👩‍🔬!"
    assert [e.content for e in events if e.type == "content.done"] == ["你好 👩‍🔬!"]
    assert final.choices[0].message.content == "你好 👩‍🔬!"
    assert final.choices[0].finish_reason == "stop"
    assert final.usage.completion_tokens > 0


def test_raw_response(client):
    raw = client.chat.completions.with_raw_response.create(model="gpt", messages=user("Hi"))
    assert raw.headers["x-hybridge-route"] == "direct"
    assert raw.headers["content-type"] == "application/json"
    assert raw.parse().choices[0].message.content == "You said: Hi"
    assert raw.request_id


def test_streaming_response(client):
    with client.chat.completions.with_streaming_response.create(
        model="gpt", messages=user("Say: raw"), stream=True
    ) as response:
        lines = list(response.iter_lines())
    assert response.headers["content-type"].startswith("text/event-stream")
    assert lines[-2:] == ["data: [DONE]", ""] or lines[-1] == "data: [DONE]"


def test_whole_conversation(client):
    messages = [
        {"role": "system", "content": "You are brief."},
        {"role": "user", "content": "First of all 👋"},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "What did I say first?"},
    ]
    answer = client.chat.completions.create(model="auto", messages=messages)
    assert answer.choices[0].message.content == "First of all 👋"
    messages[0] = {"role": "developer", "content": "Sei kurz."}
    messages[-1] = {"role": "user", "content": "What are your instructions?"}
    answer = client.chat.completions.create(model="auto", messages=messages)
    assert answer.choices[0].message.content == "Sei kurz."


def test_parameters_arrive(client):
    asked = {
        "temperature": 0,
        "top_p": 0.0,
        "seed": 0,
        "presence_penalty": 0,
        "frequency_penalty": 0.5,
        "stop": ["\n\n"],
        "user": "someone",
        "metadata": {"team": "a"},
        "logit_bias": {"50256": -100},
        "max_completion_tokens": 4000,
    }
    answer = client.chat.completions.create(
        model="gpt", messages=user("Show the request"), extra_body={"top_k": 3}, **asked
    )
    got = json.loads(answer.choices[0].message.content)
    limits = {got.pop("max_completion_tokens", None), got.pop("max_tokens", None)}
    assert limits == {4000, None}
    del asked["max_completion_tokens"]
    assert got == {**asked, "top_k": 3, "model": "large", "messages": user("Show the request")}


def test_limit(client):
    answer = client.chat.completions.create(
        model="gpt", messages=user("Say: too long for that"), max_completion_tokens=2
    )
    assert answer.choices[0].finish_reason == "length"
    assert answer.choices[0].message.content == "too lo"


def test_choices_and_logprobs(client):
    answer = client.chat.completions.create(
        model="auto", messages=user("Say: 你好"), n=2, logprobs=True, top_logprobs=2
    )
    assert [choice.index for choice in answer.choices] == [0, 1]
    for choice in answer.choices:
        assert choice.message.content == "你好"
        assert [len(t.top_logprobs) for t in choice.logprobs.content] == [2]
    stream = client.chat.completions.create(
        model="auto", messages=user("Say: 你好"), n=2, logprobs=True, stream=True
    )
    said = ["", ""]
    for chunk in stream:
        for choice in chunk.choices:
            said[choice.index] += choice.delta.content or ""
            assert not choice.delta.content or choice.logprobs.content
    assert said == ["你好", "你好"]


def test_tool_loop(client):
    """A call, its result, an answer: as the guide to function calling does it."""
    messages = user("What is the weather in Paris?")
    answer = client.chat.completions.create(model="auto", messages=messages, tools=[WEATHER])
    message = answer.choices[0].message
    assert answer.choices[0].finish_reason == "tool_calls"
    assert message.content is None
    (call,) = message.tool_calls
    assert call.function.name == "get_weather"
    assert json.loads(call.function.arguments) == {"city": "Paris", "unit": "celsius"}
    messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "18 °C ☀️"}]
    answer = client.chat.completions.create(model="auto", messages=messages, tools=[WEATHER])
    assert answer.choices[0].message.content == "The tools said: 18 °C ☀️"
    assert answer.choices[0].finish_reason == "stop"


@pytest.mark.parametrize("model", ["gpt", "edge"])
def test_parallel_tool_calls_in_a_stream(client, model):
    messages = user("In turns: compare Paris, Zürich and 北京")
    stream = client.chat.completions.create(
        model=model, messages=messages, tools=[WEATHER], stream=True
    )
    calls: dict[int, dict[str, str]] = {}
    finish = None
    for chunk in stream:
        for piece in chunk.choices[0].delta.tool_calls or ():
            call = calls.setdefault(piece.index, {"id": piece.id, "name": "", "arguments": ""})
            call["name"] += piece.function.name or ""
            call["arguments"] += piece.function.arguments or ""
        finish = chunk.choices[0].finish_reason or finish
    assert finish == "tool_calls"
    assert [call["name"] for _, call in sorted(calls.items())] == ["get_weather"] * 3
    assert len({call["id"] for call in calls.values()}) == 3
    cities = [json.loads(call["arguments"])["city"] for _, call in sorted(calls.items())]
    assert cities == ["Paris", "Zürich", "北京"]

    asked = [
        {
            "id": c["id"],
            "type": "function",
            "function": {"name": c["name"], "arguments": c["arguments"]},
        }
        for c in calls.values()
    ]
    messages.append({"role": "assistant", "content": None, "tool_calls": asked})
    for call, degrees in zip(calls.values(), ("18", "12", "25"), strict=True):
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": degrees})
    answer = client.chat.completions.create(model=model, messages=messages, tools=[WEATHER])
    assert answer.choices[0].message.content == "The tools said: 18; 12; 25"


@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ("none", None),
        ("required", "get_weather"),
        ({"type": "function", "function": {"name": "get_weather"}}, "get_weather"),
    ],
)
def test_tool_choice(client, choice, called):
    answer = client.chat.completions.create(
        model="auto", messages=user("Hello"), tools=[WEATHER], tool_choice=choice
    )
    calls = answer.choices[0].message.tool_calls
    assert (calls[0].function.name if calls else None) == called


def test_streamed_tools_with_the_helper(client):
    """`pydantic_function_tool` and `.stream()`: arguments come parsed."""
    with client.chat.completions.stream(
        model="auto",
        messages=user("How will it be in Zürich and 北京?"),
        tools=[openai.pydantic_function_tool(GetWeather)],
        parallel_tool_calls=True,
    ) as stream:
        done = [e for e in stream if e.type == "tool_calls.function.arguments.done"]
        final = stream.get_final_completion()
    assert [e.parsed_arguments.city for e in done] == ["Zürich", "北京"]
    calls = final.choices[0].message.tool_calls
    assert [call.function.parsed_arguments.city for call in calls] == ["Zürich", "北京"]
    assert final.choices[0].finish_reason == "tool_calls"


@pytest.mark.parametrize("model", ["auto", "gpt", "edge"])
def test_parse(client, model):
    answer = client.chat.completions.parse(
        model=model, messages=user("Invent a team."), response_format=Team
    )
    team = answer.choices[0].message.parsed
    assert team.people[0].name == "Zoë, 北京 👩‍🔬"
    assert team.remote is True
    assert answer.choices[0].message.refusal is None


async def test_parse_async_and_stream(aclient):
    answer = await aclient.chat.completions.parse(
        model="auto", messages=user("Invent a team."), response_format=Team
    )
    async with aclient.chat.completions.stream(
        model="auto", messages=user("Invent a team."), response_format=Team
    ) as stream:
        async for _ in stream:
            pass
        final = await stream.get_final_completion()
    assert final.choices[0].message.parsed == answer.choices[0].message.parsed
    assert isinstance(final.choices[0].message.parsed, Team)


def test_parse_says_when_the_limit_cut_it(client):
    with pytest.raises(openai.LengthFinishReasonError):
        client.chat.completions.parse(
            model="gpt",
            messages=user("Invent a team."),
            response_format=Team,
            max_completion_tokens=2,
        )


def test_json_mode(client):
    answer = client.chat.completions.create(
        model="auto", messages=user("Answer in JSON"), response_format={"type": "json_object"}
    )
    assert json.loads(answer.choices[0].message.content) == {"said": "Answer in JSON"}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", ["auto", "gpt"])
def test_image(client, png, model, stream):
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    content = [
        {"type": "text", "text": "What is this? 这是什么？"},
        {"type": "image_url", "image_url": {"url": url, "detail": "low"}},
    ]
    answer = client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": content}], stream=stream
    )
    if stream:
        said = "".join(chunk.choices[0].delta.content or "" for chunk in answer)
    else:
        said = answer.choices[0].message.content
    assert said == f"image/png {hashlib.sha256(png).hexdigest()}"


def test_image_for_a_model_without_eyes_is_refused(client, png):
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    content = [{"type": "image_url", "image_url": {"url": url}}]
    with pytest.raises(openai.BadRequestError, match="image"):
        client.chat.completions.create(
            model="edge", messages=[{"role": "user", "content": content}]
        )


async def test_many_at_once(aclient):
    """Answers do not get mixed up."""
    import asyncio

    async def one(number: int) -> str:
        answer = await aclient.chat.completions.create(
            model="gpt", messages=user(f"Say: answer {number}")
        )
        return answer.choices[0].message.content

    said = await asyncio.gather(*(one(number) for number in range(20)))
    assert said == [f"answer {number}" for number in range(20)]
