"""Each provider is spoken to in its own way."""

from __future__ import annotations

import pytest

from hybridge.testing.replies import answers

pytestmark = pytest.mark.anyio

MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4",
    "content": [{"type": "text", "text": "Hello from Anthropic."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 4},
}


async def test_anthropic_gets_its_own_api(play):
    async with play() as scene:
        await scene.take(lambda data: data["cloud"]["backends"][0].update(provider="anthropic"))
        scene.cloud.then(answers(MESSAGE))
        assert await scene.ask("c") == "Hello from Anthropic."
        sent = scene.cloud.posts[-1]
        assert (sent.target, sent.headers["anthropic-version"]) == ("/v1/messages", "2023-06-01")
        assert sent.json["max_tokens"] == 8192


async def test_a_backend_may_need_another_name_for_its_limit(play):
    async with play() as scene:
        await scene.take(
            lambda data: data["cloud"]["backends"][0].update(limit_field="max_completion_tokens")
        )
        await scene.ask("c", body={"messages": [], "max_tokens": 7})
        assert scene.cloud.posts[-1].json["max_completion_tokens"] == 7
