"""LlamaIndex: `OpenAILike`, `OpenAILikeResponses` and `OpenAILikeEmbedding`."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike, OpenAILikeResponses
from pydantic import BaseModel

pytestmark = pytest.mark.anyio


class Song(BaseModel):
    """A song."""

    title: str
    seconds: int


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


@pytest.fixture(params=[OpenAILike, OpenAILikeResponses], ids=["chat", "responses"])
def llm(request, gateway) -> Callable[..., Any]:
    """Both of LlamaIndex's ways to a server like OpenAI's."""

    def make(model: str = "auto", **more: Any) -> Any:
        settings = {
            "api_base": gateway.v1,
            "api_key": gateway.key,
            "context_window": 32_000,
            "is_chat_model": True,
            "is_function_calling_model": True,
            "max_retries": 0,
        }
        return request.param(model=model, **settings | more)

    return make


@pytest.mark.parametrize("text", ["Hello, Zoë!", "你好，世界 👨‍👩‍👧‍👦"], ids=["english", "chinese"])
class TestText:
    def test_chat(self, llm, text):
        messages = [
            ChatMessage(role="system", content="Be brief."),
            ChatMessage(role="user", content=f"Say: {text}"),
        ]
        assert llm().chat(messages).message.content == text

    def test_complete(self, llm, text):
        assert str(llm().complete(f"Say: {text}")) == text

    def test_stream_chat(self, llm, text):
        parts = list(llm().stream_chat([ChatMessage(role="user", content=f"Say: {text}")]))
        assert "".join(part.delta or "" for part in parts) == text
        assert parts[-1].message.content == text

    async def test_async(self, llm, text):
        message = ChatMessage(role="user", content=f"Say: {text}")
        whole = await llm().achat([message])
        stream = await llm().astream_chat([message])
        said = "".join([part.delta or "" async for part in stream])
        assert whole.message.content == said == text


def test_completion_endpoint(gateway):
    """`is_chat_model=False` asks the legacy endpoint."""
    llm = OpenAILike(model="auto", api_base=gateway.v1, api_key=gateway.key, is_chat_model=False)
    assert str(llm.complete("Say: 你好")) == "你好"
    assert "".join(part.delta for part in llm.stream_complete("Say: 你好 again")) == "你好 again"


def test_tool_loop(llm):
    """`chat_with_tools`, then the results as tool messages: LlamaIndex's own loop, by hand."""
    tools = [FunctionTool.from_defaults(fn=get_weather)]
    model = llm()
    asked = ChatMessage(role="user", content="Compare Paris and 北京")
    answer = model.chat_with_tools(tools, chat_history=[asked], allow_parallel_tool_calls=True)
    calls = model.get_tool_calls_from_response(answer)
    assert [call.tool_kwargs for call in calls] == [{"city": "Paris"}, {"city": "北京"}]
    results = [
        ChatMessage(
            role="tool",
            content=str(tools[0](**call.tool_kwargs)),
            additional_kwargs={"tool_call_id": call.tool_id},
        )
        for call in calls
    ]
    answer = model.chat_with_tools(tools, chat_history=[asked, answer.message, *results])
    assert answer.message.content == "The tools said: sunny in Paris; sunny in 北京"


def test_streamed_tools(llm):
    tools = [FunctionTool.from_defaults(fn=get_weather)]
    model = llm("gpt")
    asked = ChatMessage(role="user", content="Zürich and 北京")
    *_, last = model.stream_chat_with_tools(
        tools, chat_history=[asked], allow_parallel_tool_calls=True
    )
    calls = model.get_tool_calls_from_response(last)
    assert [call.tool_kwargs for call in calls] == [{"city": "Zürich"}, {"city": "北京"}]


@pytest.mark.parametrize("more", [{}, {"should_use_structured_outputs": True}])
def test_structured_output(gateway, more):
    """By a tool, and by `response_format`."""
    llm = OpenAILike(
        model="auto",
        api_base=gateway.v1,
        api_key=gateway.key,
        is_chat_model=True,
        is_function_calling_model=True,
        **more,
    )
    song = llm.as_structured_llm(Song).complete("A song, please").raw
    assert song.seconds == 3
    assert song.title


def test_image(llm, png):
    blocks = [
        TextBlock(text="What is it?"),
        ImageBlock(image=base64.b64encode(png), image_mimetype="image/png"),
    ]
    answer = llm().chat([ChatMessage(role="user", blocks=blocks)])
    assert answer.message.content == f"image/png {hashlib.sha256(png).hexdigest()}"


def test_a_stream_that_breaks_raises(llm):
    message = ChatMessage(role="user", content="Break off")
    with pytest.raises(Exception, match=r".") as caught:
        list(llm("gpt").stream_chat([message]))
    assert type(caught.value).__module__.startswith("openai")


class TestEmbeddings:
    @pytest.fixture(params=["auto", "vectors"])
    def model(self, request, gateway) -> OpenAILikeEmbedding:
        return OpenAILikeEmbedding(
            model_name=request.param,
            api_base=gateway.v1,
            api_key=gateway.key,
            embed_batch_size=2,
            max_retries=0,
        )

    def test_texts(self, model):
        vectors = model.get_text_embedding_batch(["one", "two", "one"])
        assert vectors[0] == vectors[2] != vectors[1]

    def test_query(self, model):
        assert model.get_query_embedding("two") == model.get_text_embedding("two")

    async def test_async(self, model):
        assert len(await model.aget_text_embedding_batch(["a", "b", "c"])) == 3
