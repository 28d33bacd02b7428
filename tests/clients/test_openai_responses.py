"""The official `openai` package: the Responses API, sync and async."""

from __future__ import annotations

import base64
import hashlib
import json

import openai
import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel

pytestmark = pytest.mark.anyio

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["c", "f"]}},
        "required": ["city", "unit"],
        "additionalProperties": False,
    },
    "strict": True,
}


class Step(BaseModel):
    explanation: str
    output: str


class MathResponse(BaseModel):
    steps: list[Step]
    final_answer: int


@pytest.mark.parametrize("model", ["auto", "gpt", "edge"])
@pytest.mark.parametrize("text", ["Hello, Zoë!", "你好，世界", "👨‍👩‍👧‍👦 🏳️‍🌈"])
class TestText:
    def test_whole(self, client, model, text):
        response = client.responses.create(model=model, input=f"Say: {text}")
        assert response.output_text == text
        assert response.status == "completed"
        assert response.error is None
        assert response.object == "response"
        assert response.id.startswith("resp_")
        assert response.usage.total_tokens == (
            response.usage.input_tokens + response.usage.output_tokens
        )

    def test_stream(self, client, model, text):
        events = list(client.responses.create(model=model, input=f"Say: {text}", stream=True))
        kinds = [event.type for event in events]
        assert kinds[0] == "response.created"
        assert kinds[-1] == "response.completed"
        assert [event.sequence_number for event in events] == list(range(len(events)))
        deltas = [e.delta for e in events if e.type == "response.output_text.delta"]
        assert "".join(deltas) == text
        assert [e.text for e in events if e.type == "response.output_text.done"] == [text]
        assert kinds.index("response.output_item.added") < kinds.index(
            "response.content_part.added"
        )
        assert kinds.index("response.content_part.done") < kinds.index("response.output_item.done")
        final = events[-1].response
        assert final.output_text == text
        assert final.id == events[0].response.id
        assert final.usage.output_tokens > 0

    async def test_async(self, gateway, model, text):
        async with AsyncOpenAI(base_url=gateway.v1, api_key=gateway.key) as client:
            response = await client.responses.create(model=model, input=f"Say: {text}")
            stream = await client.responses.create(model=model, input=f"Say: {text}", stream=True)
            final = [event async for event in stream][-1].response
        assert response.output_text == final.output_text == text


def test_stream_helper(client):
    with client.responses.stream(model="auto", input="Say: 你好 👩‍🔬") as stream:
        said = "".join(e.delta for e in stream if e.type == "response.output_text.delta")
        final = stream.get_final_response()
    assert said == final.output_text == "你好 👩‍🔬"
    assert final.status == "completed"


def test_instructions(client):
    response = client.responses.create(
        model="auto", instructions="Be brief. 简短。", input="What are your instructions?"
    )
    assert response.output_text == "Be brief. 简短。"
    assert response.instructions == "Be brief. 简短。"


def test_a_list_of_messages(client):
    response = client.responses.create(
        model="auto",
        input=[
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "input_text", "text": "First of all 👋"}]},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": "What did I say first?"},
        ],
    )
    assert response.output_text == "First of all 👋"


def test_the_output_goes_back_as_input(client):
    """The manual conversation: what was answered is appended as it is."""
    said = [{"role": "user", "content": "Remember 42."}]
    response = client.responses.create(model="auto", input=said, store=False)
    said += response.output
    said.append({"role": "user", "content": "What did I say first?"})
    response = client.responses.create(model="auto", input=said, store=False)
    assert response.output_text == "Remember 42."


def test_previous_response(client):
    first = client.responses.create(model="auto", input="Remember the blue door.")
    second = client.responses.create(
        model="auto", input="Say: noted", previous_response_id=first.id
    )
    third = client.responses.create(
        model="auto", input="What did I say first?", previous_response_id=second.id
    )
    assert third.output_text == "Remember the blue door."
    assert third.previous_response_id == second.id


def test_previous_response_after_a_stream(client):
    events = list(client.responses.create(model="auto", input="Remember red.", stream=True))
    second = client.responses.create(
        model="auto",
        input="What did I say first?",
        previous_response_id=events[-1].response.id,
    )
    assert second.output_text == "Remember red."


def test_an_unknown_previous_response(client):
    with pytest.raises(openai.APIStatusError) as caught:
        client.responses.create(model="auto", input="Hi", previous_response_id="resp_unknown")
    assert caught.value.status_code in (400, 404)
    assert caught.value.param == "previous_response_id"


def test_retrieve_and_delete(client):
    response = client.responses.create(model="auto", input="Say: kept")
    assert client.responses.retrieve(response.id).output_text == "kept"
    client.responses.delete(response.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)


def test_what_is_not_stored_cannot_be_had(client):
    response = client.responses.create(model="auto", input="Say: gone", store=False)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)


def test_parameters_arrive(client):
    response = client.responses.create(
        model="gpt",
        input="Show the request",
        temperature=0,
        top_p=0.5,
        max_output_tokens=900,
        metadata={"team": "a"},
        store=False,
    )
    got = json.loads(response.output_text)
    assert (got["temperature"], got["top_p"]) == (0, 0.5)
    assert got.get("max_completion_tokens", got.get("max_tokens")) == 900
    assert got["messages"] == [{"role": "user", "content": "Show the request"}]
    assert response.metadata == {"team": "a"}
    assert response.temperature == 0


def test_limit(client):
    response = client.responses.create(model="gpt", input="Say: too long", max_output_tokens=2)
    assert response.status == "incomplete"
    assert response.incomplete_details.reason == "max_output_tokens"
    events = list(
        client.responses.create(
            model="gpt", input="Say: too long", max_output_tokens=2, stream=True
        )
    )
    assert events[-1].type == "response.incomplete"
    assert events[-1].response.incomplete_details.reason == "max_output_tokens"


class TestTools:
    @pytest.mark.parametrize("keep", [True, False])
    def test_loop(self, client, keep):
        """With the conversation kept by the gateway, and kept by the caller."""
        said = [{"role": "user", "content": "Compare Paris and 北京"}]
        response = client.responses.create(model="auto", input=said, tools=[WEATHER], store=keep)
        calls = [item for item in response.output if item.type == "function_call"]
        assert [json.loads(call.arguments)["city"] for call in calls] == ["Paris", "北京"]
        assert {call.name for call in calls} == {"get_weather"}
        results = [
            {"type": "function_call_output", "call_id": call.call_id, "output": f"{degrees} °C"}
            for call, degrees in zip(calls, (18, 25), strict=True)
        ]
        if keep:
            more = {"input": results, "previous_response_id": response.id}
        else:
            more = {"input": [*said, *response.output, *results]}
        answer = client.responses.create(model="auto", tools=[WEATHER], store=keep, **more)
        assert answer.output_text == "The tools said: 18 °C; 25 °C"

    @pytest.mark.parametrize("model", ["gpt", "edge"])
    def test_stream(self, client, model):
        events = list(
            client.responses.create(
                model=model, input="Zürich and 北京", tools=[WEATHER], stream=True
            )
        )
        gathered: dict[int, str] = {}
        for event in events:
            if event.type == "response.function_call_arguments.delta":
                gathered[event.output_index] = gathered.get(event.output_index, "") + event.delta
        done = {
            e.output_index: e.arguments
            for e in events
            if e.type == "response.function_call_arguments.done"
        }
        assert gathered == done
        assert [json.loads(told)["city"] for _, told in sorted(done.items())] == ["Zürich", "北京"]
        assert events[-1].type == "response.completed"
        assert [item.type for item in events[-1].response.output] == ["function_call"] * 2

    def test_in_turns(self, client):
        """Calls that the upstream streams mixed come one after the other in the output."""
        with client.responses.stream(
            model="gpt", input="In turns: Paris, Zürich and 北京", tools=[WEATHER]
        ) as stream:
            final = stream.get_final_response()
        cities = [json.loads(call.arguments)["city"] for call in final.output]
        assert cities == ["Paris", "Zürich", "北京"]

    @pytest.mark.parametrize(
        ("choice", "kinds"),
        [
            ("none", ["message"]),
            ("required", ["function_call"]),
            ({"type": "function", "name": "get_weather"}, ["function_call"]),
        ],
    )
    def test_choice(self, client, choice, kinds):
        response = client.responses.create(
            model="auto", input="Hello", tools=[WEATHER], tool_choice=choice
        )
        assert [item.type for item in response.output] == kinds


class TestStructure:
    @pytest.mark.parametrize("model", ["auto", "gpt", "edge"])
    def test_parse(self, client, model):
        response = client.responses.parse(
            model=model, input="Solve 8x + 31 = 2", text_format=MathResponse
        )
        assert response.output_parsed.final_answer == 3
        assert response.output_parsed.steps[0].output == "Zoë, 北京 👩‍🔬"

    def test_stream(self, client):
        with client.responses.stream(
            model="auto", input="Solve 8x + 31 = 2", text_format=MathResponse
        ) as stream:
            final = stream.get_final_response()
        assert isinstance(final.output_parsed, MathResponse)

    # The SDK serialises its own parsed items with warnings.
    @pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
    def test_what_parse_gave_goes_back_as_input(self, client):
        said = [{"role": "user", "content": "Solve it."}]
        response = client.responses.parse(model="auto", input=said, text_format=MathResponse)
        said += [*response.output, {"role": "user", "content": "What did I say first?"}]
        assert client.responses.create(model="auto", input=said).output_text == "Solve it."

    def test_json_mode(self, client):
        response = client.responses.create(
            model="auto", input="Some JSON, please", text={"format": {"type": "json_object"}}
        )
        assert json.loads(response.output_text) == {"said": "Some JSON, please"}


@pytest.mark.parametrize("model", ["auto", "gpt"])
def test_image(client, png, model):
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    response = client.responses.create(
        model=model,
        input=[
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What is in this image?"},
                    {"type": "input_image", "image_url": url},
                ],
            }
        ],
    )
    assert response.output_text == f"image/png {hashlib.sha256(png).hexdigest()}"
