"""The official `openai` package: what it raises, and that nothing broken looks complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import openai
import pytest

pytestmark = pytest.mark.anyio

Ask = Callable[..., Any]
"""Asks for `text`; more parameters go to the SDK as they are."""
ASKS: dict[str, Ask] = {
    "chat": lambda client, text, **more: client.chat.completions.create(
        messages=[{"role": "user", "content": text}], **more
    ),
    "completions": lambda client, text, **more: client.completions.create(prompt=text, **more),
    "responses": lambda client, text, **more: client.responses.create(input=text, **more),
}
EMBED: Ask = lambda client, text, **more: client.embeddings.create(input=text, **more)  # noqa: E731


@pytest.fixture(params=ASKS)
def ask(request) -> Ask:
    return ASKS[request.param]


@pytest.fixture(params=[*ASKS, "embeddings"])
def ask_any(request) -> Ask:
    return ASKS.get(request.param, EMBED)


def test_a_wrong_key(client, ask_any):
    with pytest.raises(openai.AuthenticationError) as caught:
        ask_any(client.with_options(api_key="sk-wrong-key"), "Hi", model="auto")
    assert caught.value.code == "invalid_api_key"
    assert "sk-wrong-key" not in str(caught.value)


def test_an_unknown_model(client, ask_any):
    with pytest.raises(openai.NotFoundError) as caught:
        ask_any(client, "Hi", model="gpt-nine")
    assert caught.value.code == "model_not_found"
    assert caught.value.param == "model"
    assert caught.value.request_id


def test_a_parameter_of_a_wrong_form(client, ask):
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, "Hi", model="auto", temperature="hot")
    assert caught.value.param == "temperature"
    assert caught.value.type == "invalid_request_error"


def test_an_embedding_of_nothing(client):
    with pytest.raises(openai.BadRequestError) as caught:
        EMBED(client, [], model="auto")
    assert caught.value.param == "input"


def test_a_message_of_a_wrong_form(client):
    wrong = [{"role": "user", "content": "Hi"}, {"role": "user", "content": [{"type": 7}]}]
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="auto", messages=wrong)
    assert caught.value.param.startswith("messages[1].content[0]")


@pytest.mark.parametrize("stream", [False, True])
def test_what_the_upstream_refuses(client, ask, stream):
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, "Refuse", model="gpt", stream=stream)
    assert caught.value.param == "temperature"
    assert caught.value.code == "unsupported_value"
    assert "not that temperature" in caught.value.message


@pytest.mark.parametrize("stream", [False, True])
def test_what_the_upstream_breaks_at(client, ask, stream):
    with pytest.raises(openai.InternalServerError) as caught:
        ask(client, "Fail", model="gpt", stream=stream)
    assert caught.value.status_code >= 500
    assert caught.value.code


@pytest.mark.parametrize("stream", [False, True])
def test_a_rate_limit(client, ask, busy, stream):
    with pytest.raises(openai.RateLimitError) as caught:
        ask(client, "Hi", model=busy(), stream=stream)
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.code == "rate_limit_exceeded"


def test_the_rate_limit_of_a_key(client, gateway, ask):
    limited = client.with_options(api_key=gateway.limited.pop())
    assert ask(limited, "Hi", model="auto")
    with pytest.raises(openai.RateLimitError) as caught:
        ask(limited, "Hi", model="auto")
    assert 1 <= int(caught.value.response.headers["retry-after"]) <= 60
    assert caught.value.code == "rate_limit_exceeded"


def test_an_answer_that_breaks_off(client, ask):
    with pytest.raises(openai.APIStatusError):
        ask(client, "Break off", model="gpt")


@pytest.mark.parametrize("prompt", ["Break off", "End early"])
@pytest.mark.parametrize("kind", ["chat", "completions"])
def test_a_stream_that_breaks(client, kind, prompt):
    """What came is delivered, and then an error: no finish reason is made up."""
    chunks = []
    with pytest.raises(openai.APIError) as caught:
        chunks.extend(ASKS[kind](client, prompt, model="gpt", stream=True))
    assert chunks
    assert all(choice.finish_reason is None for chunk in chunks for choice in chunk.choices)
    assert caught.value.code
    assert caught.value.message


@pytest.mark.parametrize("prompt", ["Break off", "End early"])
def test_a_stream_that_breaks_under_the_helper(client, prompt):
    asked = {"model": "gpt", "messages": [{"role": "user", "content": prompt}]}
    with client.chat.completions.stream(**asked) as stream:
        with pytest.raises(openai.APIError):
            stream.get_final_completion()


@pytest.mark.parametrize("prompt", ["Break off", "End early"])
def test_a_response_stream_that_breaks(client, prompt):
    """Either the SDK raises, or the stream's own last word is that it failed."""
    events, raised = [], False
    try:
        events.extend(client.responses.create(model="gpt", input=prompt, stream=True))
    except openai.APIError:
        raised = True
    assert raised or events[-1].type in ("error", "response.failed")
    assert any(event.type == "response.output_text.delta" for event in events)
    assert not any(event.type == "response.completed" for event in events)


@pytest.mark.parametrize("prompt", ["Break off", "End early"])
def test_a_response_stream_that_breaks_under_the_helper(client, prompt):
    with client.responses.stream(model="gpt", input=prompt) as stream:
        with pytest.raises((openai.APIError, RuntimeError)):
            stream.get_final_response()


@pytest.mark.parametrize(
    "call",
    [lambda client: client.files.list(), lambda client: client.models.retrieve("nobody")],
    ids=["path", "model"],
)
def test_what_is_not_there(client, call):
    with pytest.raises(openai.NotFoundError) as caught:
        call(client)
    assert caught.value.code in ("not_found", "model_not_found")


def test_an_image_that_is_none(client):
    content = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}}]
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="gpt", messages=[{"role": "user", "content": content}])
    assert caught.value.param.startswith("messages[0].content[0]")


async def test_async_errors_are_the_same(gateway, busy):
    async with openai.AsyncOpenAI(
        base_url=gateway.v1, api_key=gateway.key, max_retries=0
    ) as client:
        asked = {"messages": [{"role": "user", "content": "Break off"}]}
        with pytest.raises(openai.RateLimitError):
            await client.chat.completions.create(model=busy(), **asked)
        stream = await client.chat.completions.create(model="gpt", stream=True, **asked)
        with pytest.raises(openai.APIError):
            async for _ in stream:
                pass
