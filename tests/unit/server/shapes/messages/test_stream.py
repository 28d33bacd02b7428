"""Streams, as the events of a message."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.errors import BackendError
from hybridge.core.response import Usage
from hybridge.core.wire import chunk, completion
from hybridge.server.errors import Failure
from hybridge.server.shapes.messages import Messages
from hybridge.server.shapes.shape import Asker

THINKING = {"thinking": {"type": "adaptive"}}
USAGE = chunk(
    b'{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,'
    b'"prompt_tokens_details":{"cached_tokens":5}}}'
)
FAILURE = Failure(502, "gpt hung up", "server_error", "upstream_network")


def test_the_events_of_a_plain_answer(delta, stream):
    chunks = [
        delta(role="assistant", content=""),
        delta(content="你"),
        delta(content="好"),
        delta("stop"),
        USAGE,
    ]
    heard = stream(chunks, report=b'{"route":"edge"}')
    assert heard == [
        (
            "message_start",
            {
                "type": "message_start",
                "message": {
                    "id": "msg_0a",
                    "type": "message",
                    "role": "assistant",
                    "model": "m-1",
                    "content": [],
                    "stop_reason": None,
                    "stop_sequence": None,
                    "usage": {
                        "input_tokens": 7,
                        "output_tokens": 0,
                        "cache_creation_input_tokens": 0,
                        "cache_read_input_tokens": 0,
                        "estimated": True,
                    },
                },
            },
        ),
        (
            "content_block_start",
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            },
        ),
        *(
            (
                "content_block_delta",
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "text_delta", "text": text},
                },
            )
            for text in "你好"
        ),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        (
            "message_delta",
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {
                    "input_tokens": 4,
                    "output_tokens": 3,
                    "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": 5,
                },
                "hybridge": {"route": "edge"},
            },
        ),
        ("message_stop", {"type": "message_stop"}),
    ]  # fmt: skip


def test_usage_is_an_estimate_where_the_backend_gives_none(delta, stream):
    heard = stream([delta(content="Hi"), delta("stop")])
    assert heard[-2][1]["usage"]["estimated"] is True
    assert "hybridge" not in heard[-2][1]


def test_usage_on_every_chunk(delta, stream, gathered):
    given = msgspec.json.decode(delta(content="Hi").wire)
    given["usage"] = {"prompt_tokens": 9, "completion_tokens": 1}
    last = msgspec.json.decode(delta("stop").wire)
    last["usage"] = {"prompt_tokens": 9, "completion_tokens": 4}
    heard = stream([chunk(msgspec.json.encode(body)) for body in (given, last)])
    assert heard[0][1]["message"]["usage"]["input_tokens"] == 9
    assert gathered(heard)["usage"]["output_tokens"] == 4


def test_the_prompt_is_counted_once(body, read, delta):
    counted = []
    shape = Messages(lambda request: counted.append(request.id) or 1)
    writer = shape.read(body(stream=True), Asker("req-1", "t", {}, 0.0)).writer
    for _ in range(3):
        writer.chunk(delta(content="x"))
    assert counted == ["req-1"]


def test_an_empty_answer(delta, stream, gathered):
    message = gathered(stream([delta(role="assistant"), delta("stop")]))
    assert (message["content"], message["stop_reason"]) == ([], "end_turn")


def test_thoughts_have_a_block_of_their_own(delta, stream, gathered):
    chunks = [
        delta(reasoning_content="H"),
        delta(reasoning="m."),
        delta(content="Yes."),
        delta("stop"),
    ]
    assert gathered(stream(chunks, **THINKING))["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": ""},
        {"type": "text", "text": "Yes."},
    ]
    assert gathered(stream(chunks))["content"] == [{"type": "text", "text": "Yes."}]


def test_thoughts_between_words(delta, stream, gathered):
    chunks = [delta(content="a"), delta(reasoning="b"), delta(content="c"), delta("stop")]
    kinds = [block["type"] for block in gathered(stream(chunks, **THINKING))["content"]]
    assert kinds == ["text", "thinking", "text"]


def test_a_call_is_told_as_it_comes(fragment, delta, read, body, events):
    writer = read(body(stream=True)).writer
    first = events(writer.chunk(fragment(0, "", call="call_1", name="weather")))
    block = {"type": "tool_use", "id": "call_1", "name": "weather", "input": {}}
    assert first[-1][1] == {"type": "content_block_start", "index": 0, "content_block": block}
    (more,) = events(writer.chunk(fragment(0, '{"city":')))
    assert more[1]["delta"] == {"type": "input_json_delta", "partial_json": '{"city":'}


def test_the_next_call_is_told_at_once_where_the_one_before_is_complete(
    fragment, read, body, events
):
    writer = read(body(stream=True)).writer
    writer.chunk(fragment(0, '{"n": 1}', call="a", name="f"))
    heard = events(writer.chunk(fragment(1, '{"n"', call="b", name="g")))
    assert [name for name, _ in heard] == [
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
    ]


def test_fragments_of_an_earlier_call_that_come_late(fragment, delta, stream, gathered):
    chunks = [
        fragment(0, '{"n":', call="a", name="f"),
        fragment(1, '{"m":', call="b", name="g"),
        fragment(2, "", call="c", name="h"),
        fragment(0, " 1}"),
        fragment(1, "2"),
        fragment(2, "{}"),
        fragment(1, "}"),
        delta("tool_calls"),
    ]
    message = gathered(stream(chunks))
    assert [(b["id"], b["name"], b["input"]) for b in message["content"]] == [
        ("a", "f", {"n": 1}),
        ("b", "g", {"m": 2}),
        ("c", "h", {}),
    ]
    assert message["stop_reason"] == "tool_use"


def test_space_after_a_complete_call_is_nothing(fragment, delta, stream, gathered):
    chunks = [
        fragment(0, "{}", call="a", name="f"),
        fragment(1, "{}", call="b", name="g"),
        fragment(0, " \n"),
        delta("tool_calls"),
    ]
    assert len(gathered(stream(chunks))["content"]) == 2


def test_more_of_a_call_that_was_complete_breaks_the_stream(fragment, read, body):
    writer = read(body(stream=True)).writer
    writer.chunk(fragment(0, "{}", call="a", name="f"))
    writer.chunk(fragment(1, "{}", call="b", name="g"))
    with pytest.raises(BackendError, match="after its end"):
        writer.chunk(fragment(0, '{"n":1}'))


def test_thousands_of_calls_whose_fragments_take_turns(fragment, delta, stream, gathered):
    """Each is looked at when something of it comes, not when something of another does."""
    count = 4000
    chunks = [fragment(i, '{"n":', call=f"c{i}", name="f") for i in range(count)]
    chunks += [fragment(i, f"{i}") for i in range(count)]
    chunks += [fragment(i, "}") for i in range(count)]
    content = gathered(stream([*chunks, delta("tool_calls")]))["content"]
    assert [block["input"] for block in content] == [{"n": i} for i in range(count)]


def test_a_call_whose_name_comes_late(fragment, delta, stream, gathered):
    chunks = [fragment(0, '{"n":'), fragment(0, "1}", name="f"), delta("tool_calls")]
    (block,) = gathered(stream(chunks))["content"]
    assert block == {"type": "tool_use", "id": "toolu_0a_0", "name": "f", "input": {"n": 1}}


def test_words_after_a_call_come_at_the_end(fragment, delta, stream, gathered):
    chunks = [
        delta(content="a"),
        fragment(0, '{"n":', call="a", name="f"),
        delta(content="b"),
        fragment(0, "1}"),
        delta(content="c"),
        delta("tool_calls"),
    ]
    content = gathered(stream(chunks))["content"]
    assert [block.get("text") or block["input"] for block in content] == ["a", {"n": 1}, "bc"]


def test_a_call_that_a_limit_cut_short(fragment, delta, stream):
    heard = stream([fragment(0, '{"city": "Bei', call="a", name="f"), delta("length")])
    assert [name for name, _ in heard][-3:] == [
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert heard[-2][1]["delta"]["stop_reason"] == "max_tokens"


def test_a_refusal(delta, stream, gathered):
    message = gathered(stream([delta(refusal="I "), delta(refusal="can't."), delta("stop")]))
    assert message["content"] == [{"type": "text", "text": "I can't."}]
    assert message["stop_reason"] == "refusal"


def test_a_stop_sequence_that_the_backend_names(delta, stream, gathered):
    last = delta("stop", choice={"stop_reason": "END"})
    message = gathered(stream([delta(content="a"), last], stop_sequences=["END"]))
    assert (message["stop_reason"], message["stop_sequence"]) == ("stop_sequence", "END")


def test_only_a_finish_reason_makes_it_finished(delta, read, body):
    writer = read(body(stream=True)).writer
    writer.chunk(delta(content="a"))
    assert not writer.finished
    with pytest.raises(ValueError, match="did not finish"):
        writer.end(Usage(1, 1), None)


def test_an_error_is_one_event(delta, read, body, events):
    writer = read(body(stream=True)).writer
    writer.chunk(delta(content="a"))
    assert events(writer.failed(FAILURE)) == [
        (
            "error",
            {
                "type": "error",
                "error": {
                    "type": "api_error",
                    "message": "gpt hung up",
                    "details": {"error_code": "upstream_network"},
                },
                "request_id": "req-0a",
            },
        )
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def scattered(draw):
    """A text, calls, and the fragments that tell them: those of one call in their order, the calls
    beginning in theirs, and otherwise mixed at will."""
    calls = draw(
        st.lists(st.dictionaries(st.text(max_size=4), JSON, max_size=3), min_size=1, max_size=4)
    )
    queues = []
    for arguments in calls:
        text = msgspec.json.encode(arguments).decode()
        cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=5)))
        bounds = [0, *cuts, len(text)]
        queues.append([text[a:b] for a, b in pairwise(bounds)])
    fragments, begun = [], 0
    while any(queues):
        ready = [i for i, queue in enumerate(queues) if queue and i <= begun]
        index = draw(st.sampled_from(ready))
        fragments.append((index, queues[index].pop(0), index == begun))
        begun = max(begun, index + 1)
    return draw(st.text(max_size=8)), calls, fragments


@given(scattered=scattered())
def test_however_it_is_split_the_message_is_the_same(
    scattered, fragment, delta, stream, whole, gathered
):
    text, calls, fragments = scattered
    chunks = [delta(content=letter) for letter in text]
    for index, arguments, first in fragments:
        name = {"call": f"c{index}", "name": f"f{index}"} if first else {}
        chunks.append(fragment(index, arguments, **name))
    message = {
        "content": text,
        "tool_calls": [
            {
                "id": f"c{i}",
                "function": {"name": f"f{i}", "arguments": msgspec.json.encode(call).decode()},
            }
            for i, call in enumerate(calls)
        ],
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    unsplit = whole(completion(msgspec.json.encode({"model": "m-1", "choices": [choice]})))
    assert gathered(stream([*chunks, delta("tool_calls")])) == unsplit


PIECES = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["content", "reasoning", "refusal"]), st.text(max_size=4)),
        st.tuples(st.integers(0, 3), st.sampled_from(["", "{", "}", "{}", '{"a":', "1", " ", "x"])),
    ),
    max_size=12,
)


@given(pieces=PIECES, finishes=st.booleans(), named=st.booleans())
def test_any_stream_is_well_formed_or_ends_in_one_error(
    pieces, finishes, named, fragment, delta, read, body, events
):
    writer = read(body(stream=True, **THINKING)).writer
    written = []
    try:
        for kind, text in pieces:
            told = (
                delta(**{kind: text})
                if isinstance(kind, str)
                else fragment(kind, text, name="f" if named else None)
            )
            written.append(writer.chunk(told))
        if finishes:
            written.append(writer.chunk(delta("stop")))
            written.append(writer.end(Usage(1, 1), None))
        else:
            written.append(writer.failed(FAILURE))
    except BackendError:
        written.append(writer.failed(FAILURE))
    names = [(name, told.get("index")) for name, told in events(b"".join(written))]
    assert_grammar(names)


def assert_grammar(names):
    last = names[-1][0]
    assert last in ("message_stop", "error")
    kinds = [name for name, _ in names]
    for once in ("message_start", "message_delta", "message_stop", "error"):
        assert kinds.count(once) <= 1
    if last == "message_stop":
        assert (kinds[0], kinds[-2]) == ("message_start", "message_delta")
        assert "error" not in kinds
    else:
        assert not {"message_delta", "message_stop"} & set(kinds)
        assert kinds[0] in ("message_start", "error")
    opened, is_open = -1, False
    for name, index in names:
        if name == "content_block_start":
            assert not is_open
            assert index == opened + 1
            opened, is_open = index, True
        elif name.startswith("content_block"):
            assert is_open
            assert index == opened
            is_open = name == "content_block_delta"
    assert last == "error" or not is_open
