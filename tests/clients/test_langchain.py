"""LangChain: `ChatOpenAI`, `OpenAIEmbeddings` and `ChatAnthropic`."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel, Field

pytestmark = pytest.mark.anyio

MODELS = ["chat", "responses", "anthropic"]


class Joke(BaseModel):
    """A joke to tell."""

    setup: str = Field(description="The question of the joke")
    punchline: str = Field(description="The answer to the joke")
    rating: int


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


@pytest.fixture(params=MODELS)
def llm(request, gateway) -> Callable[..., BaseChatModel]:
    """Each of LangChain's ways to this gateway."""

    def make(model: str = "auto", **more: Any) -> BaseChatModel:
        more = {"model": model, "api_key": gateway.key, "max_retries": 0, **more}
        if request.param == "anthropic":
            return ChatAnthropic(base_url=gateway.url, **more)
        responses = request.param == "responses"
        return ChatOpenAI(
            base_url=gateway.v1, stream_usage=True, use_responses_api=responses, **more
        )

    return make


@pytest.mark.parametrize("text", ["Hello, Zoë!", "你好，世界 👨‍👩‍👧‍👦"], ids=["english", "chinese"])
class TestText:
    def test_invoke(self, llm, text):
        answer = llm().invoke([SystemMessage("Be brief."), HumanMessage(f"Say: {text}")])
        assert answer.text == text
        assert answer.usage_metadata["output_tokens"] > 0
        assert answer.usage_metadata["input_tokens"] > 0

    def test_stream(self, llm, text):
        chunks = list(llm().stream(f"Say: {text}"))
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole += chunk
        assert whole.text == text
        assert whole.usage_metadata["output_tokens"] > 0

    async def test_async(self, llm, text):
        answer = await llm().ainvoke(f"Say: {text}")
        streamed = [chunk.text async for chunk in llm().astream(f"Say: {text}")]
        assert answer.text == "".join(streamed) == text


def test_chain(llm):
    prompt = ChatPromptTemplate.from_messages(
        [("system", "You speak {language}."), ("human", "What are your instructions?")]
    )
    chain = prompt | llm() | StrOutputParser()
    assert chain.invoke({"language": "中文"}) == "You speak 中文."


def test_batch(llm):
    answers = llm("gpt").batch(["Say: one", "Say: two", "Say: three"])
    assert [answer.text for answer in answers] == ["one", "two", "three"]


def test_tool_loop(llm):
    bound = llm().bind_tools([get_weather])
    messages: list[Any] = [HumanMessage("Compare Paris and 北京")]
    answer = bound.invoke(messages)
    assert [call["args"] for call in answer.tool_calls] == [{"city": "Paris"}, {"city": "北京"}]
    messages += [answer, *(get_weather.invoke(call) for call in answer.tool_calls)]
    assert all(isinstance(message, ToolMessage) for message in messages[2:])
    assert bound.invoke(messages).text == "The tools said: sunny in Paris; sunny in 北京"


def test_streamed_tools(llm):
    whole: Any = None
    for chunk in llm("gpt").bind_tools([get_weather]).stream("Zürich and 北京"):
        whole = chunk if whole is None else whole + chunk
    assert [call["args"] for call in whole.tool_calls] == [{"city": "Zürich"}, {"city": "北京"}]


def test_tool_choice(llm):
    bound = llm().bind_tools([get_weather], tool_choice="get_weather")
    assert [call["name"] for call in bound.invoke("Hello").tool_calls] == ["get_weather"]


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
@pytest.mark.parametrize("model", ["auto", "edge"])
def test_structured_output(llm, model, method):
    joke = llm(model).with_structured_output(Joke, method=method).invoke("Tell me a joke")
    assert joke == Joke(setup="Zoë, 北京 👩‍🔬", punchline="Zoë, 北京 👩‍🔬", rating=3)


def test_image(llm, png):
    picture = {"type": "image", "base64": base64.b64encode(png).decode(), "mime_type": "image/png"}
    answer = llm().invoke([HumanMessage([{"type": "text", "text": "What is it?"}, picture])])
    assert answer.text == f"image/png {hashlib.sha256(png).hexdigest()}"


def test_conversation(llm):
    messages = [HumanMessage("First of all 👋"), AIMessage("Yes?")]
    answer = llm().invoke([*messages, HumanMessage("What did I say first?")])
    assert answer.text == "First of all 👋"


def test_a_stream_that_breaks_raises(llm):
    said = []
    with pytest.raises(Exception, match=r".") as caught:
        for chunk in llm("gpt").stream("Break off"):
            said.append(chunk.text)
    assert "".join(said).startswith("one")
    assert type(caught.value).__module__.startswith(("openai", "anthropic"))


def test_a_rate_limit(llm, busy):
    with pytest.raises(Exception, match="slow down") as caught:
        llm(busy()).invoke("Hi")
    assert caught.value.status_code == 429


class TestEmbeddings:
    @pytest.fixture(params=["auto", "vectors"])
    def embeddings(self, request, gateway) -> OpenAIEmbeddings:
        """As its documentation says for servers other than OpenAI's: text, not tokens."""
        return OpenAIEmbeddings(
            model=request.param,
            base_url=gateway.v1,
            api_key=gateway.key,
            check_embedding_ctx_length=False,
            max_retries=0,
        )

    def test_documents(self, embeddings):
        one, two, again = embeddings.embed_documents(["one", "two", "one"])
        assert one == again != two

    def test_query(self, embeddings):
        assert embeddings.embed_query("two") == pytest.approx(
            embeddings.embed_documents(["two"])[0], abs=1e-6
        )

    async def test_async(self, embeddings):
        assert len(await embeddings.aembed_documents(["a", "b"])) == 2


def test_embeddings_by_tokens(gateway, monkeypatch):
    """By default LangChain sends token ids; a model that reads them takes them."""
    import tiktoken

    class Letters:
        """A tokenizer that needs no download."""

        name = "letters"

        def encode(self, text: str, **_: Any) -> list[int]:
            return [ord(letter) for letter in text]

        encode_ordinary = encode

        def decode(self, tokens: list[int]) -> str:
            return "".join(map(chr, tokens))

    monkeypatch.setattr(tiktoken, "encoding_for_model", lambda _: Letters())
    monkeypatch.setattr(tiktoken, "get_encoding", lambda _: Letters())
    embeddings = OpenAIEmbeddings(
        model="vectors", base_url=gateway.v1, api_key=gateway.key, max_retries=0
    )
    one, two, again = embeddings.embed_documents(["one", "二", "one"])
    assert one == again != two
