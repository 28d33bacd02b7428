"""B01, B03, B04, B07: a stream says the same however it is dressed and wherever it is torn."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.cloud.chunks import ChunkReader
from hybridge.core import wire
from hybridge.core.assembly import assemble

TEXTS = st.sampled_from(
    ["a", " b", "你好", "👨‍👩‍👧", "𝒜", 'quo"te', "line\nline", "data: x\n\n", "[DONE]"]
)
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


def delta(finish=None, index=0, **said):
    return {"id": "x", "choices": [{"index": index, "delta": said, "finish_reason": finish}]}


def begins(place, name):
    return {
        "index": place,
        "id": f"id{place}",
        "type": "function",
        "function": {"name": name, "arguments": ""},
    }


def goes_on(place, piece):
    return {"index": place, "function": {"arguments": piece}}


@st.composite
def interleaved(draw):
    """Fragments of one to three calls, in any order that keeps each call's own."""
    texts = [
        json.dumps({"q": draw(TEXTS)}, ensure_ascii=False) for _ in range(draw(st.integers(1, 3)))
    ]
    queues = []
    for place, text in enumerate(texts):
        cut = draw(st.integers(0, len(text)))
        queues.append(
            [begins(place, f"f{place}"), goes_on(place, text[:cut]), goes_on(place, text[cut:])]
        )
    mixed = []
    while any(queues):
        queue = draw(st.sampled_from([queue for queue in queues if queue]))
        mixed.append(delta(tool_calls=[queue.pop(0)]))
    return texts, mixed


@st.composite
def dressed(draw, events):
    """The events as some server writes them, in any pieces."""
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    raw = draw(st.sampled_from(["", "\ufeff"]))
    for event in events:
        raw += draw(
            st.sampled_from(
                [
                    "",
                    f": keep-alive{end}",
                    f"{end}: ping{end}{end}",
                    f"event: message{end}",
                    f"id: 7{end}retry: 1{end}",
                ]
            )
        )
        indent = draw(st.sampled_from([None, 1]))
        told = json.dumps(event, ensure_ascii=draw(st.booleans()), indent=indent)
        raw += "".join(f"data: {line}{end}" for line in told.split("\n")) + end
    raw += draw(
        st.sampled_from(
            ["", f"data: [DONE]{end}{end}", f"data: [DONE]{end}{end}data: {{oops{end}{end}"]
        )
    )
    sent = raw.encode()
    cuts = draw(st.lists(st.integers(0, len(sent)), max_size=20))
    if draw(st.booleans()):
        cuts = range(len(sent))
    bounds = sorted({0, len(sent), *cuts})
    return [sent[a:b] for a, b in pairwise(bounds)]


def read(pieces, choices=1):
    reader = ChunkReader("r", choices=choices)
    chunks = [chunk for piece in pieces for chunk in reader.feed(piece)] + list(reader.close())
    return reader, chunks


@given(
    st.data(), st.lists(TEXTS, max_size=5), st.sampled_from(["own", "finish", "every", "nowhere"])
)
def test_text_and_usage(data, texts, where):
    events = [
        delta(role="assistant", content=""),
        *(delta(content=text) for text in texts),
        delta("stop"),
    ]
    if where == "every":
        events = [event | {"usage": USAGE} for event in events]
    elif where == "finish":
        events[-1] |= {"usage": USAGE}
    elif where == "own":
        events.append({"id": "x", "choices": [], "usage": USAGE})
    reader, chunks = read(data.draw(dressed(events)))
    answer = assemble(chunks)
    assert reader.finished
    assert (answer.text, answer.finish_reason) == ("".join(texts), "stop")
    assert (answer.usage is None) is (where == "nowhere")
    assert "\ufffd" not in answer.wire.decode()
    assert all(json.loads(chunk.wire) for chunk in chunks)


@given(st.data(), interleaved(), st.sampled_from(["stop", "tool_calls"]))
def test_parallel_calls_come_out_apart(data, calls, ending):
    texts, mixed = calls
    reader, chunks = read(data.draw(dressed([delta(role="assistant"), *mixed, delta(ending)])))
    message = json.loads(assemble(chunks).wire)["choices"][0]["message"]
    told = message["tool_calls"]
    given_to = {call["function"]["name"]: call["function"]["arguments"] for call in told}
    assert given_to == {f"f{place}": text for place, text in enumerate(texts)}
    assert len(told) == len(texts)
    assert len({call["id"] for call in told}) == len(texts)
    assert reader.finished
    assert assemble(chunks).finish_reason == "tool_calls"


@given(st.data(), interleaved(), st.integers(0, 200))
def test_a_stream_that_is_cut_anywhere_is_never_taken_for_finished(data, calls, where):
    _, mixed = calls
    sent = b"".join(data.draw(dressed([*mixed, delta("tool_calls")])))
    finish = sent.rfind(b"finish_reason")
    reader = ChunkReader("r")
    chunks = list(reader.feed(sent[: min(where, finish)]))
    assert not reader.finished
    assert all(chunk.finish_reason is None for chunk in chunks)


@pytest.mark.parametrize("finished", [(0,), (0, 1), (1, 0), (1,)])
def test_of_several_choices_each_has_to_end(finished):
    events = [delta(content="a"), delta(index=1, content="b")]
    events += [delta("stop", index=index) for index in finished]
    pieces = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    reader, _ = read(pieces, choices=2)
    assert reader.finished is (len(finished) == 2)
    assert read(pieces)[0].finished is (0 in finished)


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "no", "code": 500}},
        {"error": "no"},
        {"object": "error", "message": "no", "code": 40303},
        {"message": "no", "type": "overloaded_error"},
    ],
)
@pytest.mark.parametrize("said", [0, 2])
def test_an_error_in_the_stream_is_one_however_it_looks(error, said):
    events = [*(delta(content="a") for _ in range(said)), error]
    sent = b"".join(f"event: error\ndata: {json.dumps(event)}\n\n".encode() for event in events)
    reader, got = ChunkReader("r"), []
    with pytest.raises(wire.ErrorInBand):
        got.extend(reader.feed(sent))
    assert "".join(chunk.text for chunk in got) == "a" * said
    assert not reader.finished
