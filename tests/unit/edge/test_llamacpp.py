"""The llama.cpp backend with a real model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.edge.local_model import STORY, Opened, call, fault, loaded, pieces, whole

from hybridge.core.errors import BackendError, Fault, ModelError

pytestmark = [pytest.mark.anyio, pytest.mark.model]


async def test_a_whole_answer_is_a_chat_completion(opened: Opened) -> None:
    async with opened() as backend:
        answer = await whole(backend, call("What is the capital of France?", max_tokens=8))
        wire = json.loads(answer.wire)
    assert answer.text == wire["choices"][0]["message"]["content"] != ""
    assert answer.finish_reason == wire["choices"][0]["finish_reason"]
    assert wire["object"] == "chat.completion"
    assert wire["id"].startswith("chatcmpl-")
    assert wire["created"] > 1_700_000_000
    assert wire["model"] == answer.model == "tiny"
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 5
    assert 0 < answer.usage.completion_tokens <= 8


@pytest.mark.parametrize("text", ["Name three colours.", "Repeat this: 你好，世界。🙂 naïve"])
async def test_a_stream_says_what_the_whole_answer_says(opened: Opened, text: str) -> None:
    async with opened() as backend:
        answer = await whole(backend, call(text, temperature=0, max_tokens=24))
        chunks = await pieces(backend, call(text, temperature=0, max_tokens=24, stream=True))
    assert "".join(chunk.text for chunk in chunks) == answer.text != ""
    assert [c.finish_reason for c in chunks if c.finish_reason] == [answer.finish_reason]
    assert chunks[-1].usage is not None
    assert not chunks[-1].has_choices
    assert not any(b"prompt_progress" in chunk.wire for chunk in chunks)
    assert {json.loads(chunk.wire)["object"] for chunk in chunks} == {"chat.completion.chunk"}


@pytest.mark.parametrize("stream", [False, True])
async def test_the_judge_sees_probabilities_that_the_caller_does_not(
    opened: Opened, stream: bool
) -> None:
    async with opened() as backend:
        asked = call("Say hi.", stream=stream, want_logprobs=True, max_tokens=6, temperature=0)
        events = [event async for event in backend.answer(asked)]
    tokens = [token for event in events for token in event.tokens]
    assert "".join(token.text for token in tokens) == "".join(event.text for event in events)
    assert all(token.logprob <= 0 for token in tokens)
    assert not any(b"logprobs" in event.wire for event in events)


@pytest.mark.parametrize(("top", "alternatives"), [(3, 3), (0, 0), (None, 0)])
async def test_a_caller_who_asks_for_probabilities_gets_them(
    opened: Opened, top: int | None, alternatives: int
) -> None:
    async with opened() as backend:
        asked = call("Say hi.", max_tokens=3, logprobs=True, top_logprobs=top)
        answer = await whole(backend, asked)
    content = json.loads(answer.wire)["choices"][0]["logprobs"]["content"]
    assert {len(token["top_logprobs"]) for token in content} == {alternatives}
    assert len(answer.tokens) == len(content)


async def test_nobody_asks_for_probabilities_and_there_are_none(opened: Opened) -> None:
    async with opened() as backend:
        answer = await whole(backend, call("Say hi.", max_tokens=3))
    assert answer.tokens == ()


async def test_a_limit_of_tokens_holds_and_is_told(opened: Opened) -> None:
    async with opened(max_tokens=7) as backend:
        limited = await whole(backend, call(STORY, max_tokens=5, n_predict=300))
        default = await whole(backend, call(STORY))
    assert limited.finish_reason == default.finish_reason == "length"
    assert limited.usage is not None
    assert default.usage is not None
    assert (limited.usage.completion_tokens, default.usage.completion_tokens) == (5, 7)


async def test_a_full_context_ends_the_answer_as_cut_off(opened: Opened) -> None:
    async with opened(context_tokens=256) as backend:
        endless = call("word " * 150, max_tokens=2000, grammar="root ::= [a-z] root")
        answer = await whole(backend, endless)
    assert answer.finish_reason == "length"
    assert answer.usage is not None
    assert answer.usage.prompt_tokens + answer.usage.completion_tokens <= 256


async def test_sampling_fields_reach_the_engine(opened: Opened) -> None:
    async with opened() as backend:
        free = await whole(backend, call("Count from 1 to 9.", temperature=0, max_tokens=30))
        cut = await whole(
            backend, call("Count from 1 to 9.", temperature=0, max_tokens=30, stop=[free.text[4]])
        )
        forced = await whole(
            backend,
            call(
                "I love this phone. Is that positive?",
                temperature=0,
                response_format={
                    "type": "json_schema",
                    "json_schema": {
                        "name": "verdict",
                        "schema": {
                            "type": "object",
                            "properties": {"verdict": {"enum": ["positive", "negative"]}},
                            "required": ["verdict"],
                            "additionalProperties": False,
                        },
                    },
                },
            ),
        )
    assert cut.text == free.text[: free.text.index(free.text[4])]
    assert cut.finish_reason == "stop"
    assert json.loads(forced.text)["verdict"] in {"positive", "negative"}


async def test_a_prompt_that_does_not_fit_is_refused_and_not_cut(opened: Opened) -> None:
    async with opened(context_tokens=256) as backend:
        error = await fault(backend, call("word " * 300))
        assert (error.fault, error.status) == (Fault.CONTEXT, 400)
        assert error.body is not None
        assert error.body["n_ctx"] == 256


@pytest.mark.parametrize(
    "body",
    [
        {"temperature": "hot"},
        {"messages": [{"role": "user"}]},
        {"messages": "hello"},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "odd"}}}},
    ],
)
async def test_an_impossible_request_is_the_callers_fault(
    opened: Opened, body: dict[str, Any]
) -> None:
    async with opened() as backend:
        assert (await fault(backend, call("hello", **body))).fault is Fault.CALLER
        assert (await whole(backend, call("Say hi.", max_tokens=2))).text


async def test_the_deadline_stops_the_work_and_frees_the_slot(opened: Opened) -> None:
    async with opened() as backend:
        with pytest.raises(BackendError) as caught:
            _ = [e async for e in backend.answer(call(STORY, stream=True, within_s=0.3))]
        assert caught.value.fault is Fault.TIMEOUT
        assert (await whole(backend, call("Say hi.", max_tokens=2))).text


async def test_closing_an_answer_frees_its_slot(opened: Opened) -> None:
    async with opened(queue=1) as backend:
        answer = backend.answer(call(STORY, stream=True, max_tokens=400))
        await anext(answer)
        await answer.aclose()
        assert (await whole(backend, call("Say hi.", max_tokens=2))).text


async def test_giving_up_while_the_prompt_is_read_frees_the_slot(opened: Opened) -> None:
    async with opened(queue=1, context_tokens=2048) as backend:
        reading = asyncio.create_task(whole(backend, call("word " * 1500)))
        await asyncio.sleep(0.1)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        assert (await whole(backend, call("Say hi.", max_tokens=2))).text


async def test_who_gives_up_waiting_leaves_the_queue(opened: Opened) -> None:
    async with opened(queue=1) as backend:
        answer = backend.answer(call(STORY, stream=True, max_tokens=400))
        await anext(answer)
        waiting = asyncio.create_task(whole(backend, call("Say hi.")))
        await asyncio.sleep(0)
        assert (await fault(backend, call("Say hi."))).fault is Fault.BUSY
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        next_one = asyncio.create_task(whole(backend, call("Say hi.", max_tokens=2)))
        await asyncio.sleep(0)
        await answer.aclose()
        assert (await next_one).text


async def test_a_full_queue_is_busy_and_says_when_to_come_back(opened: Opened) -> None:
    async with opened(queue=0) as backend:
        answer = backend.answer(call(STORY, stream=True, max_tokens=400))
        await anext(answer)
        error = await fault(backend, call("Say hi."))
        assert error.fault is Fault.BUSY
        assert error.retry_after_s
        await answer.aclose()


async def test_slots_compute_side_by_side(opened: Opened) -> None:
    async with opened(slots=3, queue=0) as backend:
        asked = [call(f"Say {n}.", max_tokens=4) for n in range(3)]
        answers = await asyncio.gather(*(whole(backend, one) for one in asked))
    assert all(answer.text for answer in answers)


async def test_closing_the_backend_ends_whatever_runs_or_waits(smollm2: Path) -> None:
    backend = await loaded(smollm2)
    await backend.probe()
    running = backend.answer(call(STORY, stream=True, max_tokens=400))
    await anext(running)
    waiting = asyncio.create_task(whole(backend, call("Say hi.")))
    await asyncio.sleep(0)
    await backend.close()
    with pytest.raises(BackendError) as ended:
        _ = [event async for event in running]
    with pytest.raises(BackendError) as refused:
        await waiting
    with pytest.raises(BackendError) as down:
        await backend.probe()
    assert {e.value.fault for e in (ended, refused, down)} == {Fault.NETWORK}


async def test_the_spec_says_what_was_really_loaded(smollm2: Path) -> None:
    backend = await loaded(smollm2, version="", context_tokens=100_000)
    try:
        assert backend.spec.context_tokens == 8192  # SmolLM2's own
        assert len(backend.spec.version) == 12
        assert not backend.spec.leaves_device
    finally:
        await backend.close()


async def test_weights_that_are_missing_or_broken_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"local: .*nowhere\.gguf"):
        await loaded(tmp_path / "nowhere.gguf")
    (tmp_path / "page.gguf").write_text("<html>not found</html>")
    with pytest.raises(ModelError, match=r"local: .*page\.gguf is not a GGUF model"):
        await loaded(tmp_path / "page.gguf")
