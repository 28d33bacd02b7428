"""From the Messages API back to chat completions, whole and streamed, against a strict server."""

from __future__ import annotations

import copy
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.cloud.anthropic.answer import completion
from hybridge.cloud.anthropic.dialect import Messages
from hybridge.cloud.anthropic.events import EventReader
from hybridge.core.assembly import assemble
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor
from hybridge.core.wire import Malformed
from hybridge.server.errors import failure
from hybridge.testing import anthropic
from hybridge.testing.anthropic import error, events, fails, says, stream_of, thought, use
from hybridge.testing.anthropic_rules import Model
from hybridge.testing.clock import ManualClock
from hybridge.testing.replies import END, Cut, byte_by_byte, cut, page, raw

pytestmark = pytest.mark.anyio
BOTH = pytest.mark.parametrize("stream", [False, True])
TEXT = "你好 👨‍👩‍👧 𝒜 world"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}


@pytest.fixture
def claude(asked):
    """`async with claude(reply, …) as up`."""

    def start(*replies, **limits):
        dialect = Messages("up-model", max_tokens=64, clock=ManualClock())
        return asked(*replies, dialect=dialect, **limits)

    return start


def whole(events):
    return assemble(events) if len(events) > 1 else events[0]


def message(answer):
    return json.loads(answer.wire)["choices"][0]["message"]


async def refused(up, **body):
    with pytest.raises(BackendError) as caught:
        await up.ask(**body)
    return caught.value


async def until_broken(events):
    got = []
    while True:
        try:
            got.append(await anext(events))
        except BackendError as broken:
            return got, broken


@BOTH
async def test_a_plain_answer(claude, stream):
    async with claude(byte_by_byte(says(TEXT))) as up:
        answer = whole(await up.ask(stream=stream))
    assert (answer.text, answer.finish_reason, answer.model) == (TEXT, "stop", "up-model")
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (7, 3)
    assert "\ufffd" not in answer.wire.decode()
    sent = up.upstream.posts[0]
    assert sent.target == "/v1/messages"
    assert sent.headers["x-api-key"].startswith("sk-")
    assert "authorization" not in sent.headers


async def test_a_stream_is_told_in_the_order_that_clients_expect(claude):
    async with claude(says("One two three.")) as up:
        chunks = [json.loads(event.wire) for event in await up.ask(stream=True)]
    assert all(chunk["object"] == "chat.completion.chunk" for chunk in chunks)
    assert len({(chunk["id"], chunk["model"], chunk["created"]) for chunk in chunks}) == 1
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [c["choices"][0]["finish_reason"] for c in chunks if c["choices"]][-1] == "stop"
    assert (chunks[-1]["choices"], chunks[-1]["usage"]["total_tokens"]) == ([], 10)


@BOTH
async def test_calls_of_tools(claude, stream):
    calls = [use("f", {"city": TEXT}, "toolu_1"), use("g", {}, "toolu_2")]
    async with claude(byte_by_byte(says("Let me see.", *calls))) as up:
        answer = whole(await up.ask(stream=stream, tools=[TOOL]))
    assert answer.finish_reason == "tool_calls"
    told = [(c["id"], c["function"]["name"], json.loads(c["function"]["arguments"]))
            for c in message(answer)["tool_calls"]]  # fmt: skip
    assert told == [("toolu_1", "f", {"city": TEXT}), ("toolu_2", "g", {})]
    assert answer.text == "Let me see."


@BOTH
async def test_a_call_that_is_cut_short_is_no_call_to_make(claude, stream):
    async with claude(says(use("f", {"a": 1}), stop_reason="max_tokens")) as up:
        assert whole(await up.ask(stream=stream, tools=[TOOL])).finish_reason == "length"


@BOTH
async def test_thoughts_are_no_text_and_come_with_their_signature(claude, stream):
    async with claude(says(thought("hm, well"), "Yes.")) as up:
        answer = whole(await up.ask(stream=stream, reasoning_effort="low"))
    assert answer.text == "Yes."
    told = message(answer)
    assert told["reasoning_content"] == "hm, well"
    assert told["thinking_blocks"] == [dict(thought("hm, well"))]


@BOTH
async def test_tokens_of_the_cache_are_part_of_the_prompt(claude, stream):
    cached = {
        "input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 90,
        "cache_creation_input_tokens": 3, "output_tokens_details": {"thinking_tokens": 2},
    }  # fmt: skip
    async with claude(says("Yes.", usage=cached)) as up:
        answer = whole(await up.ask(stream=stream))
    assert (answer.usage.prompt_tokens, answer.usage.cached_tokens) == (100, 90)


@BOTH
@pytest.mark.parametrize(
    ("reason", "ending"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("something new", "stop"),
    ],
)
async def test_endings(claude, stream, reason, ending):
    async with claude(says("So.", stop_reason=reason)) as up:
        assert whole(await up.ask(stream=stream)).finish_reason == ending


@BOTH
async def test_json_of_a_schema(claude, stream):
    async with claude(says('{"a": 1}')) as up:
        await up.ask(stream=stream, response_format=FORMAT)
    assert up.upstream.posts[0].json["output_config"]["format"]["schema"] == SCHEMA


def by_tool(received):
    """A model from before output formats: it calls the tool that it is told to."""
    tools = received.json.get("tools") or [{"name": "none"}]
    return says(use(tools[-1]["name"], {"a": 1}), model=Model(formats=False))(received)


@BOTH
async def test_json_of_a_schema_from_a_model_that_only_knows_tools(claude, stream):
    async with claude(by_tool) as up:
        for _ in range(2):
            answer = whole(await up.ask(stream=stream, response_format=FORMAT))
            assert json.loads(answer.text) == {"a": 1}
            assert answer.finish_reason == "stop"
            assert "tool_calls" not in message(answer)
    assert len(up.upstream.posts) == 3


@BOTH
async def test_thinking_of_a_model_that_only_knows_budgets(claude, stream):
    async with claude(says("Yes.", model=Model(adaptive=False))) as up:
        for _ in range(2):
            await up.ask(stream=stream, reasoning_effort="low")
    kinds = [post.json["thinking"]["type"] for post in up.upstream.posts]
    assert kinds == ["adaptive", "enabled", "enabled"]


@BOTH
async def test_what_it_has_no_word_for_is_refused_without_being_sent(claude, stream):
    async with claude(says("Yes.")) as up:
        broken = await refused(up, stream=stream, seed=1)
    shown = failure(broken, Redactor())
    assert broken.fault is Fault.UNABLE
    assert (shown.status, shown.code, shown.param) == (400, "unsupported_parameter", "seed")
    assert not up.upstream.posts


@BOTH
@pytest.mark.parametrize(
    ("status", "kind", "fault", "seen"),
    [
        (400, "invalid_request_error", Fault.CALLER, 400),
        (401, "authentication_error", Fault.CREDENTIALS, 502),
        (402, "billing_error", Fault.CREDENTIALS, 502),
        (403, "permission_error", Fault.CREDENTIALS, 502),
        (404, "not_found_error", Fault.ABSENT, 404),
        (413, "request_too_large", Fault.CALLER, 413),
        (429, "rate_limit_error", Fault.LIMITED, 429),
        (500, "api_error", Fault.SERVER, 502),
        (529, "overloaded_error", Fault.BUSY, 529),
    ],
)
async def test_errors(claude, stream, status, kind, fault, seen):
    async with claude(fails(status, kind, headers={"retry-after": "30"})) as up:
        broken = await refused(up, stream=stream)
    shown = failure(broken, Redactor())
    assert (broken.fault, shown.status) == (fault, seen)
    assert dict(shown.headers)[b"x-upstream-request-id"].startswith(b"req_")
    assert broken.retry_after_s == 30


@BOTH
async def test_too_long_a_prompt(claude, stream):
    said = "prompt is too long: 208310 tokens > 200000 maximum"
    async with claude(fails(400, "invalid_request_error", said)) as up:
        broken = await refused(up, stream=stream)
    assert broken.fault is Fault.CONTEXT
    assert "208310" in failure(broken, Redactor()).message


@BOTH
@pytest.mark.parametrize("reply", [page(200), raw(b""), raw(b"{}"), raw(b'{"content": [1]}')])
async def test_what_is_no_answer(claude, stream, reply):
    async with claude(reply) as up:
        assert (await refused(up, stream=stream)).fault is Fault.PROTOCOL


TOLD = stream_of("a b c d")


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (events(error("overloaded_error")), Fault.BUSY),
        (events(*TOLD[:4], error("overloaded_error")), Fault.BUSY),
        (events(*TOLD[:4], error("api_error")), Fault.SERVER),
        (events(*TOLD[:4], error("something_new")), Fault.PROTOCOL),
        (events(*TOLD[:4]), Fault.PROTOCOL),
        (events(*TOLD[:-2]), Fault.PROTOCOL),
        (cut(events(*TOLD), after=2, end=Cut.RESET), Fault.NETWORK),
        (cut(events(*TOLD), after=2, end=END), Fault.PROTOCOL),
    ],
)
async def test_a_broken_stream_gives_what_had_come_and_then_its_fault(claude, call, reply, fault):
    async with claude(reply) as up:
        got, broken = await until_broken(up.backend.answer(call(stream=True)))
    assert broken.fault is fault
    assert "a b c d".startswith("".join(event.text for event in got))
    assert all(event.finish_reason is None for event in got)
    assert len(up.upstream.posts) == 1


async def test_a_stream_may_end_without_its_last_word(claude):
    async with claude(events(*TOLD[:-1])) as up:
        assert whole(await up.ask(stream=True)).text == "a b c d"


async def test_events_and_blocks_that_nobody_knows_are_passed_over(claude):
    new = {"type": "content_block_start", "index": 7, "content_block": {"type": "hologram"}}
    odd = [{"type": "aurora"}, new, {"type": "content_block_stop", "index": 7}]
    async with claude(events(TOLD[0], *odd, *TOLD[1:])) as up:
        assert whole(await up.ask(stream=True)).text == "a b c d"


async def test_a_probe_asks_with_the_key_where_it_belongs(claude):
    async with claude() as up:
        await up.backend.probe()
    assert up.upstream.requests[0].headers["x-api-key"]
    assert up.upstream.requests[0].headers["anthropic-version"]


@BOTH
async def test_why_it_would_not_answer_is_told(claude, stream):
    details = {"type": "refusal", "category": None, "explanation": "That is dangerous."}
    reply = says("I", stop_reason="refusal", stop_details=details)
    async with claude(reply) as up:
        answer = whole(await up.ask(stream=stream))
    assert answer.finish_reason == "content_filter"
    assert message(answer)["refusal"] == "That is dangerous."


JUNK = st.sampled_from([None, True, 5, "x", [], {}, [1], {"a": 1}, [[]], {"type": 5}, 1e300])


def places(value, path=()):
    if path:
        yield path
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from places(inner, (*path, key))


@st.composite
def spoilt(draw, good):
    """A JSON value with something in it that does not belong there."""
    value = copy.deepcopy(good)
    *way, last = draw(st.sampled_from(list(places(value))))
    inner = value
    for key in way:
        inner = inner[key]
    inner[last] = copy.deepcopy(draw(JUNK))
    return value


STREAMED = stream_of(thought("hm"), "Hello", use("f", {"a": 1}), stop_reason="tool_use")
ANSWER = {
    "id": "msg_1", "type": "message", "model": "claude", "stop_reason": "end_turn",
    "content": [dict(thought("hm")), dict(anthropic.text("Hello")), dict(use("f", {"a": 1}))],
    "stop_details": {"explanation": "no"},
    "usage": {**anthropic.USAGE, "output_tokens_details": {"thinking_tokens": 1}},
}  # fmt: skip


@given(spoilt(STREAMED), st.booleans())
def test_whatever_a_stream_holds_it_is_read_or_malformed(told, by_tool):
    reader = EventReader(created=1, schema_as_tool=by_tool)
    with suppress(Malformed):
        data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in told)
        assemble([*reader.feed(data), *reader.close()])


@given(spoilt(ANSWER), st.booleans())
def test_whatever_an_answer_holds_it_is_read_or_malformed(told, by_tool):
    with suppress(Malformed):
        completion(json.dumps(told).encode(), created=1, schema_as_tool=by_tool)


BLOCKS = st.lists(
    st.one_of(
        st.text(min_size=1, max_size=30).map(anthropic.text),
        st.text(max_size=30).map(thought),
        st.dictionaries(st.text(max_size=5), st.integers(), max_size=3).map(lambda d: use("f", d)),
    ),
    max_size=5,
)


def as_sse(told):
    return b"".join(
        f"event: {event['type']}\r\ndata: ".encode()
        + json.dumps(event, ensure_ascii=False).encode()
        + b"\r\n\r\n"
        for event in told
    )


@given(BLOCKS, st.data())
def test_a_stream_says_what_the_whole_answer_says_however_it_is_torn(blocks, data):
    raw_bytes = as_sse(stream_of(*blocks))
    step = data.draw(st.integers(1, len(raw_bytes)))
    reader = EventReader(created=1, schema_as_tool=False)
    pieces = [raw_bytes[at : at + step] for at in range(0, len(raw_bytes), step)]
    chunks = [chunk for piece in pieces for chunk in reader.feed(piece)] + list(reader.close())
    body = {
        "id": "msg_013Zva2CMHLNnjNJJKqJ2EF", "type": "message", "model": "claude",
        "content": list(blocks), "stop_reason": "end_turn", "usage": dict(anthropic.USAGE),
    }  # fmt: skip
    expected = completion(json.dumps(body).encode(), created=1, schema_as_tool=False)
    got = assemble(chunks)
    assert reader.finished
    assert reader.done
    assert got.text == expected.text
    assert message(got).get("tool_calls") == message(expected).get("tool_calls")
    assert message(got).get("reasoning_content", "") == message(expected).get(
        "reasoning_content", ""
    )
    assert got.usage == expected.usage
