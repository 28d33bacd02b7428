"""R70: the legacy text completions, whole and streamed, over HTTP and by the official SDK."""

from __future__ import annotations

import asyncio
import json

import msgspec
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types import Completion

from hybridge.core.assembly import assemble
from hybridge.core.errors import BackendError, Fault, RequestError
from hybridge.core.response import Usage
from hybridge.core.wire import chunk
from hybridge.server.shapes.completions import TextCompletions
from hybridge.server.shapes.shape import Asker
from hybridge.testing.backend import whole
from hybridge.testing.gateway import USAGE, piece, usage_piece

pytestmark = pytest.mark.anyio
PATH = "/v1/completions"
BROKEN = BackendError("gpt hung up", backend="gpt", fault=Fault.NETWORK)
ASKER = Asker("req-" + "a" * 24, "ann", {}, 0.0)


def read(**said):
    return TextCompletions().read({"model": "gpt", "prompt": "Once", **said}, ASKER).request


def test_the_prompt_is_one_user_turn():
    body = {"model": "gpt", "messages": [{"role": "user", "content": "Once"}]}
    assert read().body == read(prompt=["Once"]).body == body
    assert read().max_tokens is None


SAME = {
    "max_tokens": 7, "temperature": 0.5, "top_p": 0.9, "n": 2, "stop": ["x"], "seed": 3,
    "presence_penalty": 1, "frequency_penalty": -1, "logit_bias": {"5": 1}, "user": "u",
}  # fmt: skip


@pytest.mark.parametrize(
    ("said", "told"),
    [
        *(({name: value}, {name: value}) for name, value in SAME.items()),
        ({"logprobs": 3}, {"logprobs": True, "top_logprobs": 3}),
        ({"logprobs": 0}, {"logprobs": True, "top_logprobs": 0}),
        ({"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}),
        ({"echo": True, "suffix": None, "best_of": 1}, {}),
        ({"n": 2, "best_of": 2}, {"n": 2}),
        ({"suffix": "", "echo": False}, {}),
    ],
)
def test_fields_are_told_in_the_chat_vocabulary(said, told):
    body = dict(read(**said).body)
    assert body.pop("messages")
    assert body == {"model": "gpt", **told}


@pytest.mark.parametrize(
    ("said", "param"),
    [
        ({"prompt": None}, "prompt"),
        ({"prompt": []}, "prompt"),
        ({"prompt": ["a", "b"]}, "prompt"),
        ({"prompt": [1, 2]}, "prompt"),
        ({"prompt": [[1, 2]]}, "prompt"),
        ({"prompt": {}}, "prompt"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"n": 0}, "n"),
        ({"temperature": 9}, "temperature"),
        ({"logprobs": 6}, "logprobs"),
        ({"logprobs": True}, "logprobs"),
        ({"suffix": "end"}, "suffix"),
        ({"best_of": 3}, "best_of"),
        ({"n": 2, "best_of": 3}, "best_of"),
        ({"echo": True, "logprobs": 1}, "echo"),
        ({"echo": "yes"}, "echo"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        (
            {"stream": True, "stream_options": {"include_obfuscation": True}},
            "stream_options.include_obfuscation",
        ),
        ({"messages": []}, "messages"),
        ({"tools": []}, "tools"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(said, param):
    with pytest.raises(RequestError) as caught:
        read(**said)
    assert caught.value.param == param
    assert f"`{param}`" in caught.value.message


def token(text, logprob=-0.5, **others):
    top = [{"token": name, "logprob": value} for name, value in others.items()]
    return {"token": text, "logprob": logprob, "top_logprobs": top}


def told(text, index=0, finish=None, tokens=None):
    choice = {"index": index, "delta": {"content": text}, "finish_reason": finish}
    if tokens is not None:
        choice["logprobs"] = {"content": tokens}
    return chunk(msgspec.json.encode({"id": "c", "created": 1, "model": "m", "choices": [choice]}))


async def test_whole(opened):
    async with opened(whole("upon a time")) as door:
        got = await door.ask(PATH, {"prompt": "Once"})
    answer = got.json
    assert (got.status, answer["object"], answer["model"]) == (200, "text_completion", "scripted")
    assert answer["id"].startswith("cmpl-")
    assert answer["choices"] == [
        {"text": "upon a time", "index": 0, "logprobs": None, "finish_reason": "stop"}
    ]
    assert answer["usage"] == {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    assert answer["hybridge"]["route"] == "cloud_classified"
    Completion.model_validate(answer)


async def test_all_choices_and_how_each_ended(opened):
    answer = assemble(
        [told("a", 0, "length"), told("b", 1, "tool_calls"), told("c", 2, "content_filter")]
    )
    async with opened(answer) as door:
        got = await door.ask(PATH, {"prompt": "Once", "n": 3, "echo": True})
    assert [(c["text"], c["finish_reason"]) for c in got.json["choices"]] == [
        ("Oncea", "length"),
        ("Onceb", "stop"),
        ("Oncec", "content_filter"),
    ]


async def test_probabilities_are_told_in_columns(opened):
    tokens = [token("你", -0.1, 你=-0.1, x=-2), token("好!", -0.2, y=-0.3)]
    async with opened(assemble([told("你好!", 0, "stop", tokens)])) as door:
        got = await door.ask(PATH, {"prompt": "Once", "logprobs": 2})
        bare = await door.ask(PATH, {"prompt": "Once"})
    assert got.json["choices"][0]["logprobs"] == {
        "tokens": ["你", "好!"],
        "token_logprobs": [-0.1, -0.2],
        "top_logprobs": [{"你": -0.1, "x": -2}, {"y": -0.3, "好!": -0.2}],
        "text_offset": [0, 1],
    }
    assert bare.json["choices"][0]["logprobs"] is None
    Completion.model_validate(got.json)


async def test_a_refusal_is_what_was_said(opened):
    body = {"choices": [{"index": 0, "delta": {"refusal": "No."}, "finish_reason": "stop"}]}
    async with opened(assemble([chunk(msgspec.json.encode(body))])) as door:
        got = await door.ask(PATH, {"prompt": "Once"})
    assert got.json["choices"][0]["text"] == "No."


@pytest.mark.parametrize("wanted", [False, True])
async def test_stream(opened, wanted):
    """The order of chat: text, the reason, usage where it was asked for, `[DONE]`."""
    steps = [piece(""), piece("upon"), piece(" a time"), piece(finish="stop"), usage_piece()]
    body = {"prompt": "Once", "stream": True, "echo": True}
    if wanted:
        body["stream_options"] = {"include_usage": True}
    async with opened(*steps) as door:
        got = await door.ask(PATH, body)
    *sent, done = got.events
    events = [json.loads(event) for event in sent]
    assert done == "[DONE]"
    assert {event["object"] for event in events} == {"text_completion"}
    assert len({event["id"] for event in events}) == 1
    choices = [event["choices"][0] for event in events if event["choices"]]
    assert [choice["text"] for choice in choices] == ["Onceupon", " a time", ""]
    assert [choice["finish_reason"] for choice in choices] == [None, None, "stop"]
    assert [event.get("usage") for event in events if event.get("usage")] == [USAGE] * wanted
    assert "hybridge" in events[-1]
    assert not any("hybridge" in event for event in events[:-1])


@pytest.mark.parametrize("steps", [[piece("one"), BROKEN], [piece("one")], [piece(), BROKEN]])
async def test_a_stream_that_breaks_ends_with_one_error_event(opened, steps):
    async with opened(*steps) as door:
        got = await door.ask(PATH, {"prompt": "Once", "stream": True})
    assert [set(json.loads(event)) == {"error"} for event in got.events][-1]
    assert got.body.count(b'"error"') == 1
    assert b"[DONE]" not in got.body
    assert b'"stop"' not in got.body


async def test_errors_name_the_field_in_the_callers_words(opened):
    error = BackendError(
        "no", backend="gpt", fault=Fault.CALLER, status=400,
        body={"message": "too long", "param": "messages[0].content"},
    )  # fmt: skip
    async with opened(error) as door:
        got = await door.ask(PATH, {"prompt": "Once"})
    assert (got.status, got.json["error"]["param"]) == (400, "prompt")


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@given(st.lists(st.tuples(st.integers(0, 2), TEXT), min_size=1, max_size=10), st.booleans())
def test_a_stream_says_what_the_whole_answer_says(pieces, echo):
    """Of all choices, with their probabilities and where in the text these lie."""
    indices = sorted({index for index, _ in pieces} | {0})
    chunks = [told(text, index, tokens=[token(text)]) for index, text in pieces]
    chunks += [told("", index, "stop") for index in reversed(indices)]
    said = {"prompt": "Once", "n": 3} | ({"echo": True} if echo else {"logprobs": 1})
    one = TextCompletions().read(said, ASKER).writer
    answer = msgspec.json.decode(one.whole(assemble(chunks), Usage(1, 1), None))
    writer = TextCompletions().read({**said, "stream": True}, ASKER).writer
    body = b"".join(writer.chunk(one) for one in chunks) + writer.end(Usage(1, 1), None)
    for choice in answer["choices"]:
        parts = [
            part
            for event in body.decode().split("\n\n")[:-2]
            for part in json.loads(event.removeprefix("data: "))["choices"]
            if part["index"] == choice["index"]
        ]
        assert "".join(part["text"] for part in parts) == choice["text"]
        assert parts[-1]["finish_reason"] == choice["finish_reason"] == "stop"
        columns = [part["logprobs"] for part in parts if part["logprobs"]]
        whole_columns = choice["logprobs"] or {}
        for name, values in whole_columns.items():
            assert [value for column in columns for value in column[name]] == values
    assert [choice["index"] for choice in answer["choices"]] == indices


async def test_openai_sdk(opened):
    async with opened(piece("upon"), piece(" a time"), piece(finish="stop"), usage_piece()) as door:
        url = f"{door.listener.url}/v1"

        def sync():
            with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as sdk:
                stream = sdk.completions.create(model="auto", prompt="Once", stream=True)
                return "".join(event.choices[0].text for event in stream)

        assert await asyncio.to_thread(sync) == "upon a time"
    async with (
        opened(whole("upon")) as door,
        openai.AsyncOpenAI(
            base_url=f"{door.listener.url}/v1", api_key="none", max_retries=0
        ) as sdk,
    ):
        answer = await sdk.completions.create(model="auto", prompt="Once")
    assert answer.choices[0].text == "upon"
    assert answer.usage.total_tokens == 6


async def test_openai_sdk_raises_where_a_stream_breaks(opened):
    async with (
        opened(piece("upon"), BROKEN) as door,
        openai.AsyncOpenAI(
            base_url=f"{door.listener.url}/v1", api_key="none", max_retries=0
        ) as sdk,
    ):
        stream = await sdk.completions.create(model="auto", prompt="Once", stream=True)
        with pytest.raises(openai.APIError, match="gpt hung up"):
            async for _ in stream:
                pass
