"""What a caller may ask of a local model beyond plain text, with a real one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.edge.local_model import Opened, call, fault, loaded, pieces, whole

from hybridge.core.assembly import assemble
from hybridge.core.errors import Fault
from hybridge.core.response import Chunk, Completion
from hybridge.edge.llamacpp import LlamaCpp

pytestmark = [pytest.mark.anyio, pytest.mark.model]

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"城市": {"enum": ["北京", "上海"]}, "days": {"type": "integer"}},
            "required": ["城市"],
        },
    },
}
NAMED = {"type": "function", "function": {"name": "get_weather"}}
SPOKEN = "你好，世界 🙂 👨‍👩‍👧‍👦 𝒳 naïve"
"""Characters for which a small vocabulary has no token: they come byte by byte."""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop for the whole module, as its one backend wants it."""
    return "asyncio"


@pytest.fixture(scope="module")
async def backend(anyio_backend: str, smollm2: Path) -> AsyncIterator[LlamaCpp]:
    model = await loaded(smollm2, queue=0)
    yield model
    await model.close()


def form(schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}


def counts(answer: Completion) -> tuple[int, int]:
    assert answer.usage is not None
    return answer.usage.prompt_tokens, answer.usage.completion_tokens


@pytest.mark.parametrize("choice", ["required", NAMED])
async def test_a_required_call_comes_whole_and_in_pieces(backend: LlamaCpp, choice: Any) -> None:
    asked = {
        "tools": [WEATHER],
        "tool_choice": choice,
        "parallel_tool_calls": False,
        "temperature": 0,
    }
    answer = await whole(backend, call("Weather?", max_tokens=120, **asked))
    chunks = await pieces(backend, call("Weather?", max_tokens=120, stream=True, **asked))
    (told,) = json.loads(answer.wire)["choices"]
    assert told["message"]["content"] is None
    (made,) = told["message"]["tool_calls"]
    assert made["function"]["name"] == "get_weather"
    arguments = json.loads(made["function"]["arguments"])
    assert arguments["城市"] in {"北京", "上海"}
    assert set(arguments) <= {"城市", "days"}
    assert made["id"]
    assert (answer.finish_reason, answer.has_tool_calls) == ("tool_calls", True)
    again = assemble(chunks)
    assert json.loads(again.wire)["choices"] == [told]
    assert [c.finish_reason for c in chunks if c.finish_reason] == ["tool_calls"]
    assert counts(again) == counts(answer)


async def test_a_call_that_is_cut_off_says_so(backend: LlamaCpp) -> None:
    asked = call("Weather?", max_tokens=20, tools=[WEATHER], tool_choice="required")
    answer = await whole(backend, asked)
    assert answer.finish_reason == "length"


async def test_tools_that_are_not_used_leave_plain_text(backend: LlamaCpp) -> None:
    asked = {"tools": [WEATHER], "temperature": 0, "max_tokens": 8}
    answer = await whole(backend, call("Say hi.", **asked))
    none = await whole(backend, call("Say hi.", tool_choice="none", **asked))
    for one in (answer, none):
        assert one.text
        assert not one.has_tool_calls
        assert one.finish_reason in {"stop", "length"}


async def test_a_tool_whose_schema_no_grammar_can_hold_is_still_called(backend: LlamaCpp) -> None:
    parameters = {"type": "object", "properties": {"a": {"not": {"type": "string"}}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    strict = {"type": "function", "function": tool["function"] | {"strict": True}}  # type: ignore[operator]
    asked = {"tool_choice": "required", "max_tokens": 60, "temperature": 0}
    answer = await whole(backend, call("Call f.", tools=[tool], **asked))
    error = await fault(backend, call("Call f.", tools=[strict], **asked))
    assert answer.has_tool_calls
    assert (error.fault, error.status) == (Fault.CALLER, 400)
    assert error.body is not None
    assert error.body["param"] == "tools"


async def test_the_judge_sees_how_sure_a_call_is(backend: LlamaCpp) -> None:
    asked = {"tools": [WEATHER], "tool_choice": "required", "max_tokens": 60}
    answer = await whole(backend, call("Weather?", want_logprobs=True, **asked))
    assert answer.tokens
    assert b"logprobs" not in answer.wire
    assert "tool_call" not in answer.tokens[0].text  # that it must call is no doubt of its own


@pytest.mark.parametrize("content", [None, "", [], [{"type": "text", "text": ""}]])
async def test_a_finished_call_is_taken_back_in_every_form(backend: LlamaCpp, content: Any) -> None:
    made = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    result = [{"type": "text", "text": "18 degrees"}]
    conversation = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": content, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "c1", "content": result},
    ]
    plain = [*conversation[:2], conversation[2] | {"content": None}]
    plain += [conversation[3] | {"content": "18 degrees"}]
    answer, same = [
        await whole(backend, call("", messages=said, max_tokens=4, temperature=0))
        for said in (conversation, plain)
    ]
    assert answer.text == same.text
    assert answer.usage is not None
    assert same.usage is not None
    assert answer.usage.prompt_tokens == same.usage.prompt_tokens


@pytest.mark.parametrize(
    "schema",
    [
        {
            "type": "object",
            "properties": {
                "名字": {"type": "string", "maxLength": 8},
                "pet": {
                    "type": "object",
                    "properties": {"kind": {"enum": ["猫", "dog"]}, "age": {"type": "integer"}},
                    "required": ["kind", "age"],
                    "additionalProperties": False,
                },
            },
            "required": ["名字", "pet"],
            "additionalProperties": False,
        },
        {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "maxItems": 3},
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_schema_holds(backend: LlamaCpp, schema: dict[str, Any], stream: bool) -> None:
    asked = call("Describe Ann.", response_format=form(schema), stream=stream, max_tokens=150)
    events = [event async for event in backend.answer(asked)]
    value = json.loads("".join(event.text for event in events))
    if isinstance(value, list):
        assert 2 <= len(value) <= 3
    elif "pet" in value:
        assert value["pet"]["kind"] in {"猫", "dog"}
        assert list(value) == ["名字", "pet"]


async def test_json_mode_is_an_object_even_from_a_model_that_would_rather_not(
    backend: LlamaCpp,
) -> None:
    """It has written white space to its limit before."""
    for prompt in ("A person as JSON.", "Hello!"):
        asked = call(prompt, response_format={"type": "json_object"}, max_tokens=40)
        answer = await whole(backend, asked)
        assert answer.text.startswith("{")
        assert not answer.text.endswith("  ")
        if answer.finish_reason == "stop":
            assert isinstance(json.loads(answer.text), dict)


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
async def test_a_schema_that_cannot_be_held_is_refused(backend: LlamaCpp, schema: Any) -> None:
    error = await fault(backend, call("Hello", response_format=form(schema)))
    assert (error.fault, error.status) == (Fault.CALLER, 400)
    assert error.body is not None
    assert error.body["param"] == "response_format"
    assert (await whole(backend, call("Say hi.", max_tokens=2))).text


@pytest.mark.parametrize("body", [{"n": 2, "functions": [{"name": "f"}]}, {"verbosity": "low"}])
async def test_what_it_cannot_do_is_refused_with_its_name(
    backend: LlamaCpp, body: dict[str, Any]
) -> None:
    error = await fault(backend, call("Hello", **body))
    assert error.body is not None
    assert error.body["param"] in body


async def test_several_choices_in_one_slot(opened: Opened) -> None:
    asked = {"n": 3, "seed": 5, "temperature": 1.5, "max_tokens": 6}
    async with opened(slots=1, queue=1) as backend:
        alone = await whole(backend, call("A colour?", **asked | {"n": 1}))
        answer = await whole(backend, call("A colour?", **asked))
        chunks = await pieces(backend, call("A colour?", stream=True, **asked))
    wire = json.loads(answer.wire)
    choices = wire["choices"]
    assert [choice["index"] for choice in choices] == [0, 1, 2]
    texts = [choice["message"]["content"] for choice in choices]
    assert texts[0] == alone.text  # a seed holds for the first one as for an only one
    assert len(set(texts)) > 1
    assert alone.usage is not None
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == alone.usage.prompt_tokens
    assert 6 < answer.usage.completion_tokens <= 18
    again = assemble(chunks)
    assert json.loads(again.wire)["choices"] == choices
    assert counts(again) == counts(answer)
    assert len({json.loads(chunk.wire)["id"] for chunk in chunks}) == 1
    assert [bool(chunk.usage) for chunk in chunks[-2:]] == [False, True]


async def test_probabilities_have_openais_shape(backend: LlamaCpp) -> None:
    asked = call("Say hi.", max_tokens=4, logprobs=True, top_logprobs=2, n=2)
    answer = await whole(backend, asked)
    for choice in json.loads(answer.wire)["choices"]:
        for token in choice["logprobs"]["content"]:
            assert set(token) == {"token", "logprob", "bytes", "top_logprobs"}
            assert bytes(token["bytes"]).decode() == token["token"]
            assert [set(other) for other in token["top_logprobs"]] == [
                {"token", "logprob", "bytes"}
            ] * 2


def joined(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


@pytest.mark.parametrize("probabilities", [{}, {"logprobs": True, "top_logprobs": 2}])
async def test_characters_that_come_byte_by_byte_are_whole(
    backend: LlamaCpp, probabilities: dict[str, Any]
) -> None:
    asked = {"grammar": f'root ::= "{SPOKEN}"', "temperature": 0, "max_tokens": 100}
    answer = await whole(backend, call("Hello", **asked, **probabilities))
    chunks = await pieces(backend, call("Hello", stream=True, **asked, **probabilities))
    assert answer.text == joined(chunks) == SPOKEN
    for event in (answer, *chunks):
        assert "\ufffd" not in event.wire.decode()
        assert "\\ufffd" not in event.wire.decode().lower()
    if probabilities:
        content = json.loads(answer.wire)["choices"][0]["logprobs"]["content"]
        assert b"".join(bytes(token["bytes"]) for token in content).decode() == SPOKEN
        others = [other for token in content for other in token["top_logprobs"]]
        assert any(other["token"].startswith("bytes:") for other in others)


async def test_tool_arguments_that_come_byte_by_byte_are_whole(backend: LlamaCpp) -> None:
    value = {"type": "object", "properties": {"v": {"const": SPOKEN}}, "required": ["v"]}
    tool = {"type": "function", "function": {"name": "f", "parameters": value}}
    asked = call("Go", stream=True, tools=[tool], tool_choice="required", max_tokens=150)
    answer = assemble(await pieces(backend, asked))
    (made, *_) = json.loads(answer.wire)["choices"][0]["message"]["tool_calls"]
    assert json.loads(made["function"]["arguments"]) == {"v": SPOKEN}


@pytest.mark.parametrize("stop", ["lazy", "y d", "og.", "the lazy dog"])
@pytest.mark.parametrize("stream", [False, True])
async def test_nothing_of_a_stop_string_is_ever_said(
    backend: LlamaCpp, stop: str, stream: bool
) -> None:
    text = "The quick brown fox jumps over the lazy dog. The end."
    asked = {"grammar": f'root ::= "{text}"', "stop": ["", stop], "max_tokens": 60}
    events = [e async for e in backend.answer(call("Hello", stream=stream, **asked))]
    assert "".join(event.text for event in events) == text[: text.index(stop)]
    assert [e.finish_reason for e in events if e.finish_reason] == ["stop"]


async def test_a_seed_and_temperature_zero_repeat_themselves(backend: LlamaCpp) -> None:
    for asked in ({"temperature": 0, "seed": 0}, {"temperature": 1.5, "seed": -1}):
        first, again = [
            await whole(backend, call("A story.", max_tokens=12, **asked)) for _ in range(2)
        ]
        assert first.text == again.text


async def test_the_bias_of_a_token_holds(backend: LlamaCpp) -> None:
    asked = {"temperature": 0, "max_tokens": 1, "logprobs": True}
    free = await whole(backend, call("Say hi.", **asked))
    (said,) = json.loads(free.wire)["choices"][0]["logprobs"]["content"]
    banned = {str(number): -100 for number in range(49_152)}
    assert said["token"] == free.text
    for keep in (100, 200):
        only = {key: bias for key, bias in banned.items() if key != str(keep)}
        held = await whole(backend, call("Say hi.", logit_bias=only, **asked))
        assert held.text != free.text


@pytest.mark.parametrize("at_the_end", [False, True])
async def test_a_prompt_beyond_the_context_is_refused_with_true_numbers(
    opened: Opened, at_the_end: bool
) -> None:
    filler = "word " * 600
    prompt = f"{filler}Say hi." if at_the_end else f"Say hi. {filler}"
    async with opened(context_tokens=512, slots=2) as backend:
        assert backend.spec.context_tokens == 512
        error = await fault(backend, call(prompt))
        counted = await whole(backend, call("word " * 100, max_tokens=1))
    assert (error.fault, error.status) == (Fault.CONTEXT, 400)
    assert error.body is not None
    assert error.body["code"] == "context_length_exceeded"
    assert error.body["n_ctx"] == 512
    assert error.body["n_prompt_tokens"] > 600
    assert str(error.body["n_prompt_tokens"]) in error.body["message"]
    assert counted.usage is not None
    assert 100 < counted.usage.prompt_tokens < 160


async def test_many_small_turns_are_never_cut_either(opened: Opened) -> None:
    turn = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    async with opened(context_tokens=256) as backend:
        error = await fault(backend, call("", messages=[*turn * 40, turn[0]]))
    assert error.fault is Fault.CONTEXT


async def test_the_effective_context_is_told(opened: Opened) -> None:
    """The engine rounds it up, and what it has may be used."""
    async with opened(context_tokens=300) as backend:
        assert backend.spec.context_tokens == 512
