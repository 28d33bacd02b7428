"""The backend of ONNX Runtime GenAI: what it answers, with a tiny model that is always there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.unit.edge.genai_model import REAL, STORY, TINY, loaded
from tests.unit.edge.local_model import call, fault, pieces, whole

from hybridge.core.assembly import assemble
from hybridge.core.errors import Fault
from hybridge.edge.ortgenai import OrtGenai

pytestmark = pytest.mark.anyio

SPOKEN = "你好，世界。🙂 naïve"
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"城市": {"enum": ["北京", "上海"]}},
            "required": ["城市"],
        },
    },
}
VERDICT = {
    "type": "object",
    "properties": {"verdict": {"enum": ["positive", "negative"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop for the whole module, as its one backend wants it."""
    return "asyncio"


@pytest.fixture(scope="module")
async def backend(anyio_backend: str) -> AsyncIterator[OrtGenai]:
    model = await loaded(slots=2, queue=4)
    yield model
    await model.close()


def form(schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}


async def test_a_whole_answer_is_a_chat_completion(backend):
    answer = await whole(backend, call("Count.", temperature=0))
    wire = json.loads(answer.wire)
    assert answer.text == "One two three four five six seven eight nine ten."
    assert answer.finish_reason == "stop"
    assert wire["id"].startswith("chatcmpl-")
    assert (wire["object"], wire["model"]) == ("chat.completion", "tiny")
    assert wire["system_fingerprint"] == "v1"
    assert answer.usage.prompt_tokens > 5
    assert answer.usage.completion_tokens > 5


@pytest.mark.parametrize("text", ["Count.", f"Repeat this: {SPOKEN}"])
async def test_a_stream_says_what_the_whole_answer_says(backend, text):
    answer = await whole(backend, call(text, temperature=0))
    chunks = await pieces(backend, call(text, temperature=0, stream=True))
    assert "".join(chunk.text for chunk in chunks) == answer.text != ""
    assert [c.finish_reason for c in chunks if c.finish_reason] == [answer.finish_reason]
    assert chunks[-1].usage == answer.usage
    assert not chunks[-1].has_choices
    assert len({json.loads(chunk.wire)["id"] for chunk in chunks}) == 1


async def test_characters_of_several_tokens_come_whole(backend):
    chunks = await pieces(backend, call(f"Repeat this: {SPOKEN}", temperature=0, stream=True))
    assert "".join(chunk.text for chunk in chunks) == SPOKEN
    assert not any("\ufffd" in chunk.text for chunk in chunks)


@pytest.mark.parametrize("stream", [False, True])
async def test_the_judge_sees_probabilities_that_the_caller_does_not(backend, stream):
    asked = call("Count.", stream=stream, want_logprobs=True, temperature=0)
    events = [event async for event in backend.answer(asked)]
    tokens = [token for event in events for token in event.tokens]
    assert "".join(token.text for token in tokens) == "".join(event.text for event in events)
    assert all(token.logprob <= 0 for token in tokens)
    assert sum(token.logprob for token in tokens) / len(tokens) > -0.5  # it knows this by heart
    assert not any(b"logprobs" in event.wire for event in events)


@pytest.mark.parametrize(("top", "alternatives"), [(3, 3), (0, 0), (None, 0)])
async def test_a_caller_who_asks_for_probabilities_gets_them(backend, top, alternatives):
    asked = call("Say hi.", max_tokens=3, temperature=0, logprobs=True, top_logprobs=top)
    answer = await whole(backend, asked)
    content = json.loads(answer.wire)["choices"][0]["logprobs"]["content"]
    assert len(content) == len(answer.tokens) == 3
    for token in content:
        assert len(token["top_logprobs"]) == alternatives
        if alternatives:
            assert token["top_logprobs"][0]["logprob"] >= token["logprob"]


async def test_a_limit_of_tokens_holds_and_a_full_context_ends_the_answer(backend):
    limited = await whole(backend, call(STORY, max_tokens=5, n_predict=300))
    full = await whole(backend, call(STORY, temperature=0, max_tokens=2000))
    assert limited.finish_reason == full.finish_reason == "length"
    assert limited.usage.completion_tokens == 5
    assert full.usage.prompt_tokens + full.usage.completion_tokens == 512


@pytest.mark.parametrize("stop", ["four", "r f", ["nothing", "x seven", ""]])
@pytest.mark.parametrize("stream", [False, True])
async def test_nothing_of_a_stop_string_is_ever_said(backend, stop, stream):
    asked = call("Count.", stream=stream, temperature=0, stop=stop, want_logprobs=True)
    events = [event async for event in backend.answer(asked)]
    said = "".join(event.text for event in events)
    text = "One two three four five six seven eight nine ten."
    (end,) = [text.index(s) for s in ([stop] if isinstance(stop, str) else stop) if s and s in text]
    assert said == text[:end]
    assert [e.finish_reason for e in events if e.finish_reason] == ["stop"]


async def test_a_seed_repeats_itself_and_choices_differ(backend):
    asked = {"temperature": 3.0, "top_k": 0, "top_p": 1, "min_p": 0, "max_tokens": 12}
    first, again, other = [
        await whole(backend, call("Count.", seed=seed, **asked)) for seed in (5, 5, -1)
    ]
    assert first.text == again.text != other.text
    several = await whole(backend, call("Count.", seed=5, n=3, **asked))
    choices = json.loads(several.wire)["choices"]
    assert [choice["index"] for choice in choices] == [0, 1, 2]
    texts = [choice["message"]["content"] for choice in choices]
    assert texts[0] == first.text
    assert len(set(texts)) > 1
    assert several.usage.prompt_tokens == first.usage.prompt_tokens
    assert several.usage.completion_tokens > first.usage.completion_tokens


async def test_a_token_s_bias_holds(backend):
    asked = {"temperature": 0, "max_tokens": 4}
    banned = {str(token): -100 for token in range(384) if token != 40}
    answer = await whole(backend, call("Count.", logit_bias=banned, **asked))
    assert len(set(answer.text)) == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_a_schema_holds(backend, stream):
    asked = call("Hello", response_format=form(VERDICT), stream=stream, max_tokens=200)
    events = [event async for event in backend.answer(asked)]
    value = json.loads("".join(event.text for event in events))
    assert value["verdict"] in {"positive", "negative"}


@pytest.mark.parametrize("stream", [False, True])
async def test_a_required_call_comes_whole(backend, stream):
    asked = call("Weather?", tools=[WEATHER], tool_choice="required", stream=stream, max_tokens=300)
    events = [event async for event in backend.answer(asked)]
    answer = assemble(events) if stream else events[0]
    assert answer.has_tool_calls
    assert answer.finish_reason in {"tool_calls", "length"}
    made = json.loads(answer.wire)["choices"][0]["message"]["tool_calls"][0]
    assert json.loads(made["function"]["arguments"])["城市"] in {"北京", "上海"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "odd"},
        {"not": {"type": "string"}},
        {"type": "string", "minLength": 5, "maxLength": 2},
        {"type": "array", "minItems": 5, "maxItems": 2},
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        {"$ref": "https://elsewhere.example/schema.json"},
        {"type": "string", "pattern": "^(?=a)b"},
        {"enum": []},
    ],
)
async def test_a_schema_that_cannot_be_held_is_refused(backend, schema):
    error = await fault(backend, call("Hello", response_format=form(schema)))
    assert (error.fault, error.status) == (Fault.CALLER, 400)
    assert (error.body["param"], error.body["code"]) == ("response_format", "unsupported_schema")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"temperature": "hot"}, "temperature"),
        ({"stop": [1]}, "stop"),
        ({"logit_bias": {"5": "x"}}, "logit_bias"),
        ({"messages": [{"role": "user"}]}, "messages"),
        ({"messages": "hello"}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages"),
        ({"grammar": 'root ::= "a"'}, "grammar"),
        ({"chat_template_kwargs": {"mood": "good"}}, "chat_template_kwargs"),
        ({"verbosity": "low"}, "verbosity"),
    ],
)
async def test_an_impossible_request_is_refused_with_its_field(backend, body, param):
    error = await fault(backend, call("hello", **body))
    assert (error.fault, error.status) == (Fault.CALLER, 400)
    assert error.body["param"].startswith(param)
    assert (await whole(backend, call("Say hi.", max_tokens=2))).text


async def test_a_prompt_beyond_the_context_is_refused_as_llama_cpp_refuses_it(backend):
    error = await fault(backend, call("word " * 600))
    assert (error.fault, error.status) == (Fault.CONTEXT, 400)
    assert error.body["code"] == "context_length_exceeded"
    assert error.body["n_ctx"] == backend.spec.context_tokens == 512
    assert str(error.body["n_prompt_tokens"]) in error.body["message"]


async def test_answers_take_turns_and_are_never_mixed_up(backend):
    asked = {
        STORY: "The dragon flew over the hill, and then ",
        "Count.": "One two three four five six seven eight nine ten.",
        "Name three colours.": "Red, green and blue.",
        "Say hi.": "Hi there, my friend!",
    }
    ended: list[str] = []

    async def ask(text: str) -> str:
        answer = await whole(backend, call(text, temperature=0, max_tokens=300))
        ended.append(text)
        return answer.text

    told = await asyncio.gather(*map(ask, asked))
    assert told[1:] == list(asked.values())[1:]
    assert told[0].startswith(asked[STORY])
    assert ended[-1] == STORY  # it began first, and did not hold up the others


@pytest.mark.parametrize("folder", [TINY, REAL], ids=["tiny", "real"])
async def test_the_spec_says_what_was_really_loaded(folder):
    if not folder.is_dir():
        pytest.skip("no real weights here: HYBRIDGE_GENAI_MODEL names a folder of them")
    backend = await loaded(folder, version="", context_tokens=100_000)
    try:
        assert backend.spec.context_tokens == (
            1024 if folder == TINY else backend.spec.context_tokens
        )
        assert len(backend.spec.version) == 12
        assert not backend.spec.leaves_device
        assert (await whole(backend, call("Say hi.", max_tokens=2))).text
    finally:
        await backend.close()
