"""An upstream that refuses how it is asked is asked differently, and that is remembered."""

from __future__ import annotations

import re

import pytest

from hybridge.cloud.chat_completions import ChatCompletions
from hybridge.cloud.tolerance import GOOD_FOR_S, kind_of
from hybridge.cloud.tool_ids import ALPHANUMERIC9
from hybridge.core.errors import BackendError, Fault
from hybridge.testing.clock import ManualClock
from hybridge.testing.replies import answers, fails, says

pytestmark = pytest.mark.anyio
BOTH = pytest.mark.parametrize("stream", [False, True])
NINE = re.compile(r"[A-Za-z0-9]{9}")
HISTORY = [
    {"role": "user", "content": "Weather?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{n}_{'x' * 20}",
                "type": "function",
                "function": {"name": "f", "arguments": "{}"},
            }
            for n in range(2)
        ],
    },
    *({"role": "tool", "tool_call_id": f"call_{n}_{'x' * 20}", "content": "1"} for n in range(2)),
]


def mistral(received):
    """Takes ids of nine letters and digits only, each of them answered."""
    turns = received.json["messages"]
    called = [call["id"] for turn in turns for call in turn.get("tool_calls") or ()]
    answered = [turn["tool_call_id"] for turn in turns if turn["role"] == "tool"]
    if called != answered:
        return fails(400, "Unexpected tool call id in tool results")(received)
    if not all(map(NINE.fullmatch, called)):
        return fails(400, "Tool call id has to be defined and a-z, A-Z, 0-9, of length 9")(received)
    return says("Sunny.")(received)


def ids(received):
    return [
        call["id"] for turn in received.json["messages"] for call in turn.get("tool_calls") or ()
    ]


@BOTH
async def test_ids_are_respelled_once_they_are_refused_and_from_then_on(asked, stream):
    async with asked(mistral) as up:
        for _ in range(2):
            events = await up.ask(stream=stream, messages=HISTORY)
            assert "".join(event.text for event in events) == "Sunny."
    odd = [
        any(map(str.__len__, ids(post))) and not all(map(NINE.fullmatch, ids(post)))
        for post in up.upstream.posts
    ]
    assert odd == [True, False, False]
    assert ids(up.upstream.posts[1]) == ids(up.upstream.posts[2])


@BOTH
async def test_a_provider_that_is_known_for_it_is_never_asked_otherwise(asked, stream):
    dialect = ChatCompletions("up-model", spelling=ALPHANUMERIC9)
    async with asked(mistral, dialect=dialect) as up:
        await up.ask(stream=stream, messages=HISTORY)
    assert len(up.upstream.posts) == 1


@BOTH
async def test_a_provider_that_takes_them_gets_them_as_they_are(asked, stream):
    async with asked(says(), fails(400, "messages: bad")) as up:
        await up.ask(stream=stream, messages=HISTORY)
        with pytest.raises(BackendError):
            await up.ask(stream=stream, messages=HISTORY)
    assert [post.json["messages"] for post in up.upstream.posts] == [HISTORY, HISTORY]


async def test_ids_of_the_answer_are_shown_as_they_are(asked):
    call = {"id": "AbCdEf123", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    async with asked(answers(whole), dialect=ChatCompletions("m", spelling=ALPHANUMERIC9)) as up:
        (event,) = await up.ask(messages=HISTORY)
    assert b"AbCdEf123" in event.wire


def knows_only(name):
    """An upstream that refuses the limit's other name, as OpenAI's newer models do."""
    other = "max_tokens" if name == "max_completion_tokens" else "max_completion_tokens"
    words = (
        f"Unsupported parameter: '{other}' is not supported with this model. Use '{name}' instead."
    )

    def reply(received):
        if other in received.json:
            return fails(400, words, code="unsupported_parameter", param=other)(received)
        return says("Hello.")(received)

    return reply


LIMITS = ("max_tokens", "max_completion_tokens")


@BOTH
@pytest.mark.parametrize("known", LIMITS)
@pytest.mark.parametrize("sent", LIMITS)
async def test_the_limit_goes_out_by_the_name_that_is_known(asked, stream, known, sent):
    async with asked(knows_only(known)) as up:
        for _ in range(2):
            await up.ask(stream=stream, **{sent: 7})
    told = [
        {name: post.json[name] for name in LIMITS if name in post.json}
        for post in up.upstream.posts
    ]
    assert told == ([{sent: 7}] if sent != known else []) + [{known: 7}] * 2


@BOTH
async def test_a_configured_name_that_is_refused_is_replaced_too(asked, stream):
    dialect = ChatCompletions("up-model", limit_field="max_tokens")
    async with asked(knows_only("max_completion_tokens"), dialect=dialect) as up:
        await up.ask(stream=stream, max_tokens=7)
    assert up.upstream.posts[-1].json["max_completion_tokens"] == 7


@BOTH
@pytest.mark.parametrize(
    "words",
    [
        "max_tokens is too large: 1000. This model supports at most 512 completion tokens.",
        "Invalid value for 'max_tokens': must be at least 1",
    ],
)
async def test_a_limit_that_is_only_wrong_is_never_renamed(asked, stream, words):
    """Or else an upstream that passes over the other name would write without end."""
    async with asked(fails(400, words, param="max_tokens")) as up:
        with pytest.raises(BackendError) as caught:
            await up.ask(stream=stream, max_tokens=1000)
    assert caught.value.fault is Fault.CALLER
    assert all("max_completion_tokens" not in post.json for post in up.upstream.posts)


async def test_several_dislikes_are_found_one_after_the_other(asked):
    def strict(received):
        if "stream_options" in received.json:
            return fails(422, "Extra inputs are not permitted: stream_options")(received)
        return knows_only("max_tokens")(received)

    async with asked(strict) as up:
        for _ in range(3):
            await up.ask(stream=True, max_completion_tokens=7)
    last = up.upstream.posts[-1].json
    assert ("stream_options" in last, last.get("max_tokens")) == (False, 7)
    assert len(up.upstream.posts) == 6, "two to learn, one to be sure of it, one that knows"


@BOTH
async def test_a_hopeless_request_is_asked_a_few_times_at_most(asked, stream):
    async with asked(fails(400, "no")) as up:
        with pytest.raises(BackendError):
            await up.ask(stream=stream, messages=HISTORY, max_tokens=3)
    assert len(up.upstream.posts) <= 3


@BOTH
async def test_one_odd_refusal_is_not_remembered_for_ever(asked, stream):
    """A refusal may have had another reason than the one that seemed to help."""
    clock = ManualClock()
    replies = [fails(400, "no"), says(), says(), says()]
    async with asked(*replies, clock=clock) as up:
        for _ in range(2):
            await up.ask(stream=stream, want_logprobs=True)
        clock.advance(GOOD_FOR_S)
        await up.ask(stream=stream, want_logprobs=True)
    wanted = ["logprobs" in post.json for post in up.upstream.posts]
    assert wanted == [True, False, False, True]


@BOTH
async def test_what_was_once_accepted_may_be_refused_later(asked, stream):
    """Upstreams are brought up to date while we run."""
    clock = ManualClock()
    async with asked(says(), clock=clock) as up:
        await up.ask(stream=stream, max_tokens=7)
        up.upstream.then(knows_only("max_completion_tokens"))
        with pytest.raises(BackendError):
            await up.ask(stream=stream, max_tokens=7)
        clock.advance(GOOD_FOR_S)
        await up.ask(stream=stream, max_tokens=7)
    assert up.upstream.posts[-1].json["max_completion_tokens"] == 7


def test_what_is_kept_of_a_kind_of_call_is_no_word_of_the_callers(call):
    kinds = {kind_of(call(**{name: 1})) for name in ("secret", "other")}
    assert len(kinds) == 2
    assert all(isinstance(kind, int) for kind in kinds)
