"""R70: the official SDK's responses, unchanged."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import msgspec
import openai
import pydantic
import pytest
from openai.types.responses import ResponseItemList, ResponseStreamEvent

from hybridge.core.errors import BackendError, Fault
from hybridge.core.wire import chunk
from hybridge.testing.backend import calling, whole
from hybridge.testing.gateway import piece, usage_piece

pytestmark = pytest.mark.anyio
BROKEN = BackendError("gpt hung up", backend="gpt", fault=Fault.NETWORK)


PNG = "data:image/png;base64,iVBORw0KGgo="


def said(delta, **members):
    choice = {"index": 0, "delta": delta, "finish_reason": None, **members}
    return chunk(msgspec.json.encode({"model": "m", "choices": [choice]}))


class City(pydantic.BaseModel):
    name: str


@pytest.fixture
def client(opened):
    @asynccontextmanager
    async def connect(*steps, **config):
        async with (
            opened(*steps, **config) as door,
            openai.AsyncOpenAI(
                base_url=f"{door.listener.url}/v1", api_key="none", max_retries=0
            ) as sdk,
        ):
            yield sdk

    return connect


async def test_create_retrieve_list_and_delete(client):
    async with client(whole("Hello.")) as sdk:
        made = await sdk.responses.create(model="auto", input="Hi", metadata={"a": "b"})
        again = await sdk.responses.create(model="auto", input="Go", previous_response_id=made.id)
        kept = await sdk.responses.retrieve(made.id)
        items = [item async for item in sdk.responses.input_items.list(again.id, limit=2)]
        await sdk.responses.delete(made.id)
        with pytest.raises(openai.NotFoundError):
            await sdk.responses.retrieve(made.id)
        with pytest.raises(openai.BadRequestError, match="previous response was not found"):
            await sdk.responses.create(model="auto", input="Hi", previous_response_id=made.id)
    assert made.output_text == "Hello."
    assert (made.status, made.error, made.metadata) == ("completed", None, {"a": "b"})
    assert made.usage.total_tokens == 6
    assert made.hybridge["route"] == "cloud_classified"
    assert kept == made
    assert [type(item).__name__ for item in items] == [
        "ResponseInputMessageItem",
        "ResponseOutputMessage",
        "ResponseInputMessageItem",
    ]


TOOL = {"type": "function", "name": "f", "parameters": {}, "strict": False}
EVERYTHING = [
    said({"reasoning_content": "Hm"}),
    said({"content": "Hel"}, logprobs={"content": [{"token": "Hel", "logprob": -1}]}),
    said({"content": "lo."}),
    said({"refusal": "No."}),
    said(
        {
            "tool_calls": [
                {"index": i, "id": f"c{i}", "function": {"name": "f", "arguments": "{}"}}
                for i in (0, 1)
            ]
        }
    ),
]
_EVENT = pydantic.TypeAdapter(ResponseStreamEvent)
_ITEMS = pydantic.TypeAdapter(ResponseItemList)


@pytest.mark.parametrize("summary", [None, "auto"])
@pytest.mark.parametrize("ending", [piece(finish="stop"), piece(finish="length"), BROKEN])
async def test_its_own_types_accept_all_that_comes(opened, events, summary, ending):
    body = {
        "input": [
            {"role": "user", "content": [{"type": "input_image", "image_url": PNG}]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "x"},
            {"role": "assistant", "content": "Well"},
            {"type": "reasoning", "summary": []},
            {"role": "developer", "content": "Go on"},
        ],
        "stream": True,
        "top_logprobs": 1,
        "tools": [TOOL],
        "tool_choice": {"type": "function", "name": "f"},
        "reasoning": {"effort": "low", "summary": summary},
        "metadata": {"a": "b"},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}},
    }
    async with opened(*EVERYTHING, ending) as door:
        told = events((await door.ask("/v1/responses", body)).body)
        listed = await door.ask(
            f"/v1/responses/{told[0]['response']['id']}/input_items", method="GET"
        )
    for event in told:
        _EVENT.validate_python(event)
    if ending is not BROKEN:
        assert len(_ITEMS.validate_python(listed.json).data) == 6


async def test_stream_helper(client):
    async with client(piece("你"), piece("好"), piece(finish="stop"), usage_piece()) as sdk:
        async with sdk.responses.stream(model="auto", input="Hi") as stream:
            deltas = [e.delta async for e in stream if e.type == "response.output_text.delta"]
            final = await stream.get_final_response()
    assert deltas == ["你", "好"]
    assert final.output_text == "你好"
    assert final.usage.input_tokens == 3


async def test_parse(client):
    async with client(whole('{"name":"Bern"}')) as sdk:
        answer = await sdk.responses.parse(model="auto", input="Hi", text_format=City)
    assert answer.output_parsed == City(name="Bern")


async def test_streamed_parse(client):
    async with client(piece('{"name":'), piece('"Bern"}'), piece(finish="stop")) as sdk:
        async with sdk.responses.stream(model="auto", input="Hi", text_format=City) as stream:
            final = await stream.get_final_response()
    assert final.output_parsed == City(name="Bern")


async def test_function_call_with_its_output_sent_back(client):
    tool = {"type": "function", "name": "weather", "parameters": {}, "strict": False}
    async with client(calling("weather", '{"city":"Bern"}')) as sdk:
        first = await sdk.responses.create(model="auto", input="Hi", tools=[tool])
        call = first.output[0]
        history = [{"role": "user", "content": "Hi"}, *first.output]
        history.append({"type": "function_call_output", "call_id": call.call_id, "output": "sunny"})
        second = await sdk.responses.create(model="auto", input=history, tools=[tool], store=False)
    assert (call.type, call.name, call.arguments) == ("function_call", "weather", '{"city":"Bern"}')
    assert second.status == "completed"


async def test_a_broken_stream_raises(client):
    async with client(piece("one"), BROKEN) as sdk:
        stream = await sdk.responses.create(model="auto", input="Hi", stream=True)
        with pytest.raises(openai.APIError, match="gpt hung up"):
            async for _ in stream:
                pass
        with pytest.raises(openai.APIError, match="gpt hung up"):
            async with sdk.responses.stream(model="auto", input="Hi") as helped:
                await helped.get_final_response()


async def test_an_answer_that_was_cut_short(client):
    async with client(whole("Hel", finish_reason="length")) as sdk:
        answer = await sdk.responses.create(model="auto", input="Hi", max_output_tokens=1)
    assert (answer.status, answer.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert answer.output_text == "Hel"


async def test_the_sync_client(opened):
    async with opened(piece("Hel"), piece("lo."), piece(finish="stop")) as door:

        def talk():
            with openai.OpenAI(
                base_url=f"{door.listener.url}/v1", api_key="none", max_retries=0
            ) as sdk:
                with sdk.responses.stream(model="auto", input="Hi") as stream:
                    final = stream.get_final_response()
                items = list(sdk.responses.input_items.list(final.id, order="asc"))
                sdk.responses.delete(final.id)
            return final, items

        final, items = await asyncio.to_thread(talk)
    assert final.output_text == "Hello."
    assert [item.content[0].text for item in items] == ["Hi"]
