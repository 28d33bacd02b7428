"""Server-sent events, at any cut of the bytes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.cloud.sse import MAX_EVENT_BYTES, EventTooLarge, SseReader


def read(*pieces: bytes) -> list[bytes]:
    reader = SseReader()
    return [data for piece in pieces for data in reader.feed(piece)] + list(reader.close())


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize(
    ("lines", "events"),
    [
        ([b"data: a", b""], [b"a"]),
        ([b"data:a", b""], [b"a"]),
        ([b"data:  a", b""], [b" a"]),
        ([b"data: a", b"", b"data: b", b""], [b"a", b"b"]),
        ([b"data: a", b"data: b", b""], [b"a\nb"]),
        ([b"data", b""], [b""]),
        ([b": a comment", b"", b"data: a", b""], [b"a"]),
        ([b"event: message", b"id: 7", b"retry: 1", b"data: a", b""], [b"a"]),
        ([b"", b"", b""], []),
        ([b"database: a", b""], []),
        ([b"data: a: b", b""], [b"a: b"]),
        ([b"data: a"], [b"a"]),
    ],
)
def test_the_format(newline, lines, events):
    assert read(newline.join([*lines, b""])) == events
    assert read(b"\xef\xbb\xbf" + newline.join([*lines, b""])) == events


def test_an_event_is_there_as_soon_as_its_blank_line_is():
    reader = SseReader()
    assert list(reader.feed(b"data: a\n")) == []
    assert list(reader.feed(b"\n")) == [b"a"]
    assert list(reader.feed(b"data: b\r\n\r\n")) == [b"b"]


LINES = st.sampled_from(
    [
        b"data: {}",
        "data: 你好 👨‍👩‍👧 é".encode(),
        b"data:x",
        b": hm",
        b"event: e",
        b"",
        b"",
        b"data",
        b"x",
    ]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
STREAMS = st.tuples(
    st.sampled_from([b"", b"\xef\xbb\xbf"]), st.lists(st.tuples(LINES, ENDS).map(b"".join))
).map(lambda parts: parts[0] + b"".join(parts[1]))


@given(STREAMS, st.lists(st.integers(0, 400)))
def test_any_cut_gives_the_same_events(stream, cuts):
    bounds = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    pieces = [stream[a:b] for a, b in pairwise(bounds)]
    assert read(*pieces) == read(stream)
    assert read(*(stream[i : i + 1] for i in range(len(stream)))) == read(stream)


ANY_TEXT = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), min_size=1)


@given(
    st.lists(ANY_TEXT, max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(0, 400), max_size=30),
)
def test_what_was_sent_is_what_is_read_in_any_script(events, end, cuts):
    raw = "".join(f"data: {event}{end}: a comment{end}{end}" for event in events).encode()
    bounds = sorted({0, len(raw), *(cut % (len(raw) + 1) for cut in cuts)})
    assert read(*(raw[a:b] for a, b in pairwise(bounds))) == [event.encode() for event in events]


@given(st.lists(st.binary(max_size=40)))
def test_any_bytes_can_be_read(pieces):
    for data in read(*pieces):
        assert b"\r" not in data


@pytest.mark.parametrize("piece", [b"data: " + b"a" * 1024, b"data: " + b"a" * 1024 + b"\n"])
def test_an_event_without_end_is_given_up(piece):
    with pytest.raises(EventTooLarge):
        read(b"data: " + b"x" * (MAX_EVENT_BYTES + 1))
    with pytest.raises(EventTooLarge):
        read(*[piece] * (MAX_EVENT_BYTES // 1024 + 1))
