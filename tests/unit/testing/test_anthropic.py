"""The Messages API's stand-in, as the official client sees it."""

from __future__ import annotations

import pytest

from hybridge.testing import anthropic
from hybridge.testing.anthropic import error, events, fails, says, stream_of, thought, use
from hybridge.testing.upstream import Upstream

sdk = pytest.importorskip("anthropic")
pytestmark = pytest.mark.anyio

BLOCKS = [thought("hm"), "Hello 你好", use("f", {"a": 1}), use("g", {}, "toolu_2")]
ASKED = {
    "model": "claude",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"name": name, "input_schema": {"type": "object"}} for name in "fg"],
}


def client(up):
    return sdk.AsyncAnthropic(api_key="k", base_url=up.root_url, max_retries=0)


def told(message):
    return [
        {k: v for k, v in block.model_dump(exclude_none=True).items() if k != "parsed_output"}
        for block in message.content
    ]


async def test_a_whole_answer_and_a_stream_say_the_same():
    async with Upstream(says(*BLOCKS)) as up, client(up) as asks:
        whole = await asks.messages.create(**ASKED)
        async with asks.messages.stream(**ASKED) as stream:
            streamed = await stream.get_final_message()
    expected = [anthropic.text(b) if isinstance(b, str) else dict(b) for b in BLOCKS]
    assert told(whole) == told(streamed) == expected
    assert whole.stop_reason == streamed.stop_reason == "tool_use"
    assert whole.usage.output_tokens == streamed.usage.output_tokens == 3


async def test_failures_are_the_clients_own_errors():
    async with Upstream(fails(529, "overloaded_error")) as up, client(up) as asks:
        with pytest.raises(sdk.APIStatusError) as raised:
            await asks.messages.create(**ASKED)
        assert raised.value.status_code == 529
        assert raised.value.request_id.startswith("req_")
        up.then(events(*stream_of("a b c")[:4], error("overloaded_error")))
        with pytest.raises(sdk.APIStatusError):
            async with asks.messages.stream(**ASKED) as stream:
                await stream.get_final_message()


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_tokens": 0},
        {"messages": [{"role": "user", "content": " "}]},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"extra_body": {"seed": 1}},
        {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        {"messages": [*ASKED["messages"], {"role": "assistant", "content": [dict(use("f", {}))]}, *ASKED["messages"]]},
    ],
)  # fmt: skip
async def test_it_is_as_strict_as_the_service(wrong):
    async with Upstream(says("Hi.")) as up, client(up) as asks:
        with pytest.raises(sdk.BadRequestError):
            await asks.messages.create(**(ASKED | wrong))
