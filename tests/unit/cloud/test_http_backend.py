"""The backend over HTTP, against an upstream that misbehaves on order."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing

import pytest

from hybridge.core.assembly import assemble
from hybridge.core.errors import BackendError, Fault
from hybridge.core.response import Chunk, Completion, Event
from hybridge.testing.replies import (
    END,
    Cut,
    answers,
    byte_by_byte,
    cut,
    fails,
    framed,
    page,
    raw,
    says,
    slowly,
    sse,
    streams,
)

pytestmark = pytest.mark.anyio
BOTH = pytest.mark.parametrize("stream", [False, True])
TEXT = "你好 👨‍👩‍👧 𝒜 world"


def text_of(events) -> str:
    return "".join(event.text for event in events)


def delta(content=None, finish=None, **more):
    said = {"content": content} | more
    return {"id": "x", "choices": [{"index": 0, "delta": said, "finish_reason": finish}]}


async def refused(up, **body) -> BackendError:
    with pytest.raises(BackendError) as caught:
        await up.ask(**body)
    return caught.value


async def until_broken(events) -> tuple[list[Event], BackendError]:
    got = []
    while True:
        try:
            got.append(await anext(events))
        except BackendError as error:
            return got, error


async def test_a_whole_answer_is_the_upstreams_bytes(asked):
    sent = b'{ "choices" : [{"message": {"content": "hi"}, "finish_reason": "stop"}], "x": 1.50 }\n'
    async with asked(raw(sent)) as up:
        (event,) = await up.ask()
    assert isinstance(event, Completion)
    assert event.wire == sent
    assert event.text == "hi"


async def test_a_streams_chunks_are_the_upstreams_bytes(asked):
    odd = b'{ "choices" : [{"delta": {"content":"\\u4f60"}, "finish_reason": "stop"}], "x": 1.50 }'
    async with asked(streams(b"data: " + odd + b"\n\n")) as up:
        (event,) = await up.ask(stream=True)
    assert isinstance(event, Chunk)
    assert event.wire == odd
    assert event.text == "你"


async def test_the_body_is_the_callers_but_for_the_model(asked):
    body = {"temperature": 0, "seed": 0, "top_p": None, "x_unknown": {"a": [1.5]}}
    async with asked() as up:
        await up.ask(**body)
    expected = {"model": "up-model", "messages": [{"role": "user", "content": "你好"}]} | body
    assert up.upstream.posts[0].json == expected


@BOTH
async def test_stream_and_whole_say_the_same(asked, stream):
    async with asked(byte_by_byte(says(TEXT))) as up:
        events = await up.ask(stream=stream)
    whole = assemble(events) if stream else events[0]
    assert (whole.text, whole.finish_reason) == (TEXT, "stop")
    assert whole.usage is not None
    assert "\ufffd" not in whole.wire.decode()


async def test_a_stream_with_crlf_comments_and_data_on_several_lines(asked):
    said = delta(TEXT, "stop")
    lines = json.dumps(said, ensure_ascii=False, indent=1).split("\n")
    event = "".join(f"data: {line}\r\n" for line in lines)
    odd = f": keep-alive\r\n\r\nevent: message\r\n{event}\r\n".encode()
    async with asked(byte_by_byte(streams(odd))) as up:
        events = await up.ask(stream=True)
    assert text_of(events) == TEXT


async def test_usage_is_asked_for_and_its_chunk_passes(asked):
    async with asked() as up:
        events = await up.ask(stream=True)
    assert up.upstream.posts[0].json["stream_options"] == {"include_usage": True}
    assert [event.has_choices for event in events[-2:]] == [True, False]
    assert events[-1].usage is not None


@pytest.mark.parametrize("status", [400, 422])
async def test_an_upstream_that_refuses_to_be_asked_for_usage_is_asked_without(asked, status):
    def strict(received):
        refusing = fails(status, "extra_forbidden") if "stream_options" in received.json else says()
        return refusing(received)

    async with asked(strict) as up:
        assert text_of(await up.ask(stream=True)) == "Hello from upstream."
        assert text_of(await up.ask(stream=True)) == "Hello from upstream."
        own = await refused(up, stream=True, stream_options={"include_usage": True})
    told = ["stream_options" in received.json for received in up.upstream.posts]
    assert told == [True, False, False, True]  # learnt; a caller's own wish is not taken out
    assert own.status == status


@BOTH
async def test_logprobs_for_the_judge_are_hidden_from_the_caller(asked, call, stream):
    async with asked(says("One two.", logprob=-0.5)) as up:
        wanted = call(stream=stream, want_logprobs=True)
        events = [event async for event in up.backend.answer(wanted)]
        shown = await up.ask(stream=stream, logprobs=True)
    assert [t.logprob for event in events for t in event.tokens] == [-0.5, -0.5]
    assert not any(b"logprob" in event.wire for event in events)
    assert any(b"logprob" in event.wire for event in shown)


@BOTH
async def test_an_upstream_without_logprobs_is_asked_once_with_them(asked, call, stream):
    def strict(received):
        refusing = fails(400, "no logprobs") if "logprobs" in received.json else says()
        return refusing(received)

    async with asked(strict) as up:
        for _ in range(2):
            wanted = call(stream=stream, want_logprobs=True)
            events = [event async for event in up.backend.answer(wanted)]
            assert text_of(events) == "Hello from upstream."
            assert not any(event.tokens for event in events)
    assert ["logprobs" in r.json for r in up.upstream.posts] == [True, False, False]


async def test_who_has_accepted_what_was_added_is_not_asked_twice(asked):
    async with asked(says(), fails(400)) as up:
        await up.ask(stream=True)
        await refused(up, stream=True)
    assert len(up.upstream.posts) == 2


@BOTH
async def test_a_callers_fault_stays_one_after_the_second_try(asked, stream):
    async with asked(
        fails(422, "messages: too few", code="bad", headers={"x-request-id": "7"})
    ) as up:
        error = await refused(up, stream=stream)
    assert (error.fault, error.status, error.upstream_id) == (Fault.CALLER, 422, "7")
    assert error.body is not None
    assert error.body["code"] == "bad"


@BOTH
@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 502, 503])
async def test_other_refusals_are_asked_once(asked, stream, status):
    async with asked(fails(status)) as up:
        assert (await refused(up, stream=stream)).status == status
    assert len(up.upstream.posts) == 1


@BOTH
@pytest.mark.parametrize("reply", [page(200), raw(b"", 200), raw(b"{", 200), answers([1])])
async def test_what_is_no_answer(asked, stream, reply):
    async with asked(reply) as up:
        assert (await refused(up, stream=stream)).fault is Fault.PROTOCOL


@BOTH
async def test_an_error_object_with_status_200(asked, stream):
    async with asked(fails(200, "overloaded", code="overloaded")) as up:
        error = await refused(up, stream=stream)
    assert error.fault is Fault.SERVER
    assert error.body is not None
    assert error.body["code"] == "overloaded"


ERROR = framed(sse({"error": {"message": "lost it", "type": "server_error", "code": 500}}))
TOOL = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a'}}


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (cut(says("a b c d"), after=3, end=Cut.RESET), Fault.NETWORK),
        (cut(says("a b c d"), after=3, end=Cut.CLOSE), Fault.NETWORK),
        (cut(says("a b c d"), after=3, end=END), Fault.PROTOCOL),
        (cut(says("a b c d"), after=3, end=framed(b"data: [DONE]\n\n") + END), Fault.PROTOCOL),
        (cut(says("a b c d"), after=3, end=ERROR + END), Fault.SERVER),
        (cut(says("a b c d"), after=3, end=framed(b"data: {oops\n\n") + END), Fault.PROTOCOL),
        (
            streams(delta("a"), delta("b"), delta("c", tool_calls=[TOOL]), done=False),
            Fault.PROTOCOL,
        ),
    ],
)
async def test_a_broken_stream_gives_what_had_come_and_then_its_fault(asked, call, reply, fault):
    async with asked(reply) as up:
        got, error = await until_broken(up.backend.answer(call(stream=True)))
    assert error.fault is fault
    assert text_of(got).replace(" ", "") == "abc"
    assert all(event.finish_reason is None for event in got)
    assert len(up.upstream.posts) == 1


async def test_a_refusal_inside_a_stream_never_starts_it_anew(asked, call):
    refusal = framed(sse({"error": {"message": "no", "code": 400}}))
    async with asked(cut(says("a b c"), after=1, end=refusal + END)) as up:
        got, _ = await until_broken(up.backend.answer(call(stream=True, want_logprobs=True)))
    assert text_of(got) == "a"
    assert len(up.upstream.posts) == 1


async def test_a_stream_may_end_without_its_mark(asked):
    async with asked(streams(delta("a"), delta(None, "stop"), done=False)) as up:
        assert text_of(await up.ask(stream=True)) == "a"


async def test_nothing_is_read_beyond_the_mark(asked):
    late = streams(delta("a", "stop"), b"data: [DONE]\n\n", b"data: {oops\n\n", done=False)
    async with asked(late) as up:
        assert text_of(await up.ask(stream=True)) == "a"


async def test_a_whole_answer_to_a_request_that_streams(asked):
    whole = {"choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "stop"}]}
    async with asked(answers(whole)) as up:
        events = await up.ask(stream=True)
    assert all(isinstance(event, Chunk) for event in events)
    assert text_of(events) == "hi"
    assert events[-1].finish_reason == "stop"


@BOTH
async def test_tool_calls_come_out_right(asked, stream):
    call = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call, call]}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    told = streams(delta(tool_calls=[call]), delta(tool_calls=[call]), delta(None, "stop"))
    async with asked(told if stream else answers(whole)) as up:
        events = await up.ask(stream=stream)
    answer = assemble(events) if stream else events[0]
    calls = json.loads(answer.wire)["choices"][0]["message"]["tool_calls"]
    assert answer.finish_reason == "tool_calls"
    assert len({c["id"] for c in calls}) == 2


@BOTH
async def test_waiting_ends_with_the_deadline(asked, call, stream):
    async with asked(slowly(says(), first_s=30.0)) as up:
        with pytest.raises(BackendError) as caught:
            [event async for event in up.backend.answer(call(stream=stream, within_s=0.2))]
    assert caught.value.fault is Fault.TIMEOUT


async def test_closing_the_generator_hangs_up(asked, call):
    async with asked(cut(says(), after=2, end=float("inf"))) as up:
        async with aclosing(up.backend.answer(call(stream=True))) as events:
            await anext(events)
        await asyncio.wait_for(up.upstream.posts[0].gone.wait(), 5)


@BOTH
async def test_our_key_is_never_repeated(asked, stream):
    def echo(received):
        return fails(401, f"Bad key: {received.headers['authorization']}")(received)

    async with asked(echo) as up:
        error = await refused(up, stream=stream)
    key = up.upstream.posts[0].headers["authorization"].removeprefix("Bearer ")
    assert error.fault is Fault.CREDENTIALS
    assert key not in str(error) + json.dumps(error.body)


@pytest.mark.parametrize("status", [200, 401, 404, 405, 429])
async def test_a_probe_costs_nothing_and_any_answer_will_do(asked, status):
    async with asked() as up:
        up.upstream.get_with(fails(status) if status != 200 else answers({"data": []}))
        await up.backend.probe()
    assert [(r.method, r.target) for r in up.upstream.requests] == [("GET", "/v1/models")]


@pytest.mark.parametrize("status", [502, 503, 504])
async def test_a_probe_that_meets_a_gateway_without_server(asked, status):
    async with asked() as up:
        up.upstream.get_with(page(status))
        with pytest.raises(BackendError) as caught:
            await up.backend.probe()
    assert caught.value.status == status


async def test_a_probe_that_finds_nobody(asked):
    async with asked() as up:
        backend = up.backend
        await up.upstream.__aexit__(None, None, None)
        with pytest.raises(BackendError) as caught:
            await backend.probe()
    assert caught.value.fault is Fault.NETWORK
