"""R70, R71: whatever a stream is cut into, it makes the same response as the whole answer."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.assembly import assemble
from hybridge.core.response import Usage
from hybridge.core.wire import chunk
from hybridge.server.errors import Failure
from hybridge.server.shapes.responses import Responses, ResponsesStore
from hybridge.server.shapes.shape import Asker
from hybridge.testing.clock import ManualClock

ESTIMATE = Usage(4, 6, estimated=True)
HEAD = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
BROKEN = Failure(502, "gpt hung up", "server_error", "upstream_network")


def asked(**said):
    clock = ManualClock()
    asker = Asker("req-" + "a" * 24, "ann", {}, 0.0)
    return Responses(ResponsesStore(clock), clock).read({"input": "Hi", **said}, asker).writer


def piece(delta, finish=None, logprobs=None, **members):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    if logprobs is not None:
        choice["logprobs"] = {"content": logprobs}
    return chunk(msgspec.json.encode(HEAD | {"choices": [choice]} | members))


def token(text):
    return {"token": text, "logprob": -0.5, "top_logprobs": [{"token": text, "logprob": -0.5}]}


def said(kind, text):
    """A delta, with its token where it is text."""
    if kind == "content":
        return piece({kind: text}, logprobs=[token(text)])
    return piece({kind: text})


def called(index, **function):
    call = {"index": index, "function": function}
    if "name" in function:
        call |= {"id": f"call_{index}", "type": "function"}
    return piece({"tool_calls": [call]})


def ending(reason="stop"):
    usage = {
        "prompt_tokens": 3,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    return [
        piece({}, reason),
        chunk(msgspec.json.encode(HEAD | {"choices": [], "usage": usage, "service_tier": "flex"})),
    ]


def read(body):
    told = []
    for block in body.decode().split("\n\n")[:-1]:
        name, data = block.split("\n")
        told.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {told[-1]['type']}"
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    return told


def streamed(chunks, report=b'{"route":"direct"}', **options):
    writer = asked(stream=True, **options)
    body = b"".join(writer.chunk(one) for one in chunks)
    assert writer.finished
    return read(body + writer.end(ESTIMATE, report))


def rebuilt(events):
    """The output as a client builds it that looks at deltas only; fails where it could not."""
    items, parts, closed = {}, {}, set()
    for event in events:
        kind = event["type"].removeprefix("response.")
        index = event.get("output_index")
        if kind == "output_item.added":
            assert index == len(items)
            items[index] = event["item"]
            assert event["item"]["status"] == "in_progress"
            continue
        if index is None:
            continue
        assert index in items, kind
        assert index not in closed, kind
        assert event.get("item_id", items[index]["id"]) == items[index]["id"]
        place = (index, event.get("content_index", event.get("summary_index")))
        if kind.endswith("part.added"):
            assert place not in parts
            parts[place] = ""
        elif kind.endswith(".delta"):
            parts[place] = parts.get(place, "") + event["delta"]
        elif kind.endswith("part.done"):
            assert parts[place] == event["part"].get("text", event["part"].get("refusal"))
        elif kind == "output_item.done":
            closed.add(index)
            items[index] = event["item"]
        else:
            done = next(event[name] for name in ("text", "refusal", "arguments") if name in event)
            assert parts.get(place, "") == done
    assert closed == set(items)
    return [items[index] for index in sorted(items)]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
SAID = st.tuples(st.sampled_from(["reasoning_content", "content", "refusal"]), TEXT)
CALLED = st.tuples(st.integers(0, 2), TEXT)


@st.composite
def answers(draw):
    """Deltas in the usual order: thoughts, text, a refusal, calls whose arguments interleave."""
    told = [("reasoning_content", text) for text in draw(st.lists(TEXT, max_size=3))]
    told += [("content", text) for text in draw(st.lists(TEXT, max_size=4))]
    told += [("refusal", text) for text in draw(st.lists(TEXT, max_size=2))]
    return told, draw(st.lists(CALLED, max_size=8))


def chunks_of(told, calls):
    chunks = [piece({"role": "assistant", "content": ""}), *(said(*one) for one in told)]
    numbers = {}
    for name, arguments in calls:
        if name not in numbers:
            numbers[name] = len(numbers)
            chunks.append(called(numbers[name], name=f"f{name}", arguments=""))
        chunks.append(called(numbers[name], arguments=arguments))
    return chunks


def joined(told):
    """The same, neighbours of one kind in one piece."""
    whole = []
    for kind, text in told:
        if whole and whole[-1][0] == kind:
            whole[-1] = (kind, whole[-1][1] + text)
        else:
            whole.append((kind, text))
    return whole


@given(answers(), st.sampled_from(["stop", "length", "content_filter"]), st.booleans())
def test_a_stream_makes_the_same_response_as_the_whole_answer(answer, reason, summarised):
    told, calls = answer
    options = {"include": ["message.output_text.logprobs"], "store": False}
    if summarised:
        options["reasoning"] = {"summary": "auto"}
    chunks = [*chunks_of(told, calls), *ending(reason)]
    events = streamed(chunks, **options)
    whole = asked(**options).whole(assemble(chunks), ESTIMATE, b'{"route":"direct"}')
    assert events[-1]["response"] == msgspec.json.decode(whole)
    assert rebuilt(events) == events[-1]["response"]["output"]


@given(st.lists(SAID, max_size=8))
def test_the_cuts_of_a_stream_do_not_matter(told):
    parts = [*(said(*one) for one in told), *ending()]
    few = [*(said(*one) for one in joined(told)), *ending()]
    one, other = streamed(parts), streamed(few)
    assert one[-1] | {"sequence_number": 0} == other[-1] | {"sequence_number": 0}
    assert rebuilt(one) == rebuilt(other) == one[-1]["response"]["output"]


@given(answers(), st.integers(0, 12))
def test_a_stream_that_breaks_says_so_once_and_last(answer, at):
    writer = asked(stream=True)
    body = b"".join(writer.chunk(one) for one in chunks_of(*answer)[:at])
    events = read(body + writer.failed(BROKEN))
    assert [event["type"] for event in events[:2]] == ["response.created", "response.in_progress"]
    assert [i for i, event in enumerate(events) if "fail" in event["type"]] == [len(events) - 1]
    assert not any(event["type"] == "response.completed" for event in events)
    response = events[-1]["response"]
    assert response["status"] == "failed"
    assert response["error"]["code"] == "server_error"
    assert events[-1]["error"]["code"] == "upstream_network"
    assert response["error"]["message"] == events[-1]["error"]["message"] == "gpt hung up"
    begun = [e["item"]["id"] for e in events if e["type"] == "response.output_item.added"]
    assert [item["id"] for item in response["output"]] == begun


def test_the_events_of_a_plain_answer_and_their_order():
    events = streamed(
        [piece({"role": "assistant", "content": ""}), piece({"content": "Hi"}), *ending()]
    )
    assert [event["type"].removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert events[0]["response"]["status"] == "in_progress"
    assert events[0]["response"]["model"] == "m"
    assert "hybridge" not in events[0]["response"]
    last = events[-1]["response"]
    assert last["hybridge"] == {"route": "direct"}
    assert last["service_tier"] == "flex"
    assert last["usage"] == {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 1},
        "total_tokens": 5,
    }


def test_thoughts_end_where_the_answer_begins():
    events = streamed([said("reasoning_content", "Hm"), said("content", "Hi"), *ending()])
    kinds = [event["type"].removeprefix("response.") for event in events[2:10]]
    assert kinds == [
        "output_item.added",
        "content_part.added",
        "reasoning_text.delta",
        "reasoning_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
    ]
    thoughts = events[-1]["response"]["output"][0]
    assert thoughts["content"] == [{"type": "reasoning_text", "text": "Hm"}]
    assert thoughts["summary"] == []


def test_thoughts_as_a_summary_where_one_was_asked_for():
    told = [said("reasoning_content", "Hm"), said("content", "Hi"), *ending()]
    events = streamed(told, reasoning={"summary": "detailed"})
    kinds = [event["type"].removeprefix("response.") for event in events[3:7]]
    assert kinds == [
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
    ]
    thoughts = events[-1]["response"]["output"][0]
    assert thoughts["summary"] == [{"type": "summary_text", "text": "Hm"}]


def test_calls_that_come_in_turns_are_items_of_their_own():
    chunks = [
        piece({"content": "Let me see"}),
        called(0, name="f", arguments='{"a":'),
        called(1, name="g", arguments="{"),
        called(0, arguments="1}"),
        called(1, arguments="}"),
        *ending("tool_calls"),
    ]
    output = streamed(chunks)[-1]["response"]["output"]
    assert [item["type"] for item in output] == ["message", "function_call", "function_call"]
    calls = [(c["call_id"], c["name"], c["arguments"], c["status"]) for c in output[1:]]
    assert calls == [
        ("call_0", "f", '{"a":1}', "completed"),
        ("call_1", "g", "{}", "completed"),
    ]


@pytest.mark.parametrize("name", ["", "same"])
def test_every_call_has_an_id_of_its_own(name):
    calls = [{"index": i, "id": name, "function": {"name": "f", "arguments": ""}} for i in (0, 1)]
    events = streamed([piece({"tool_calls": calls}), *ending()])
    ids = [item["call_id"] for item in events[-1]["response"]["output"]]
    assert len(set(ids)) == 2
    assert all(ids)


@pytest.mark.parametrize(
    ("reason", "why"), [("length", "max_output_tokens"), ("content_filter", "content_filter")]
)
def test_an_answer_that_was_cut_short_is_incomplete(reason, why):
    events = streamed([said("reasoning_content", "Hm"), said("content", "Hi"), *ending(reason)])
    assert events[-1]["type"] == "response.incomplete"
    response = events[-1]["response"]
    assert response["status"] == "incomplete"
    assert response["incomplete_details"] == {"reason": why}
    assert [item["status"] for item in response["output"]] == ["completed", "incomplete"]


def test_probabilities_only_where_they_were_asked_for():
    chunks = [said("content", "Hi"), piece({"content": ""}, logprobs=[token("!")]), *ending()]
    events = streamed(chunks)
    assert [e["logprobs"] for e in events if e["type"] == "response.output_text.delta"] == [[]]
    events = streamed(chunks, top_logprobs=1)
    first = {"token": "Hi", "bytes": [72, 105], "logprob": -0.5}
    delta = next(e for e in events if e["type"] == "response.output_text.delta")
    assert delta["logprobs"] == [first | {"top_logprobs": [first]}]
    part = events[-1]["response"]["output"][0]["content"][0]
    assert [row["token"] for row in part["logprobs"]] == ["Hi", "!"]


def test_usage_that_nobody_counted_is_an_estimate():
    usage = streamed([piece({"content": "Hi"}), piece({}, "stop")])[-1]["response"]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["estimated"]) == (4, 6, True)


def test_the_request_is_repeated():
    tool = {"type": "function", "name": "f"}
    options = {
        "instructions": "Be brief.", "max_output_tokens": 5, "temperature": 0.5, "top_p": 1,
        "metadata": {"a": "b"}, "user": "u", "tools": [tool], "tool_choice": "auto",
        "parallel_tool_calls": False, "reasoning": {"effort": "low"}, "store": False,
        "text": {"format": {"type": "json_object"}}, "truncation": "disabled",
    }  # fmt: skip
    response = msgspec.json.decode(
        asked(**options).whole(assemble([piece({"content": "{}"}), *ending()]), ESTIMATE, None)
    )
    assert "hybridge" not in response
    assert response["tools"] == [tool | {"parameters": None, "strict": False, "description": None}]
    assert response["reasoning"] == {"effort": "low", "summary": None}
    assert response["text"] == {"format": {"type": "json_object"}, "verbosity": None}
    for name in options.keys() - {"tools", "reasoning", "text"}:
        assert response[name] == options[name]
    plain = msgspec.json.decode(
        asked().whole(assemble([piece({"content": "Hi"}), *ending()]), ESTIMATE, None)
    )
    assert plain["tools"] == []
    assert (plain["tool_choice"], plain["parallel_tool_calls"], plain["store"]) == (
        "auto",
        True,
        True,
    )
    assert plain["created_at"] == plain["completed_at"] == 1893456000
