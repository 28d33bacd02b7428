"""The event reader gives the same events at any chunking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.cloud.sse import MAX_EVENT_BYTES, EventTooLarge, SseReader


def read(*pieces: bytes) -> list[bytes]:
    reader = SseReader()
    return [data for piece in pieces for data in reader.feed(piece)] + list(reader.close())


@given(
    events=st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), min_size=1), max_size=6),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    cuts=st.lists(st.integers(0, 400), max_size=30),
)
def test_any_chunking_gives_the_same_events(events, end, cuts):
    raw = "".join(f"data: {event}{end}: a comment{end}{end}" for event in events).encode()
    places = sorted({0, len(raw), *(cut % (len(raw) + 1) for cut in cuts)})
    pieces = [raw[a:b] for a, b in zip(places, places[1:], strict=False)]
    assert read(*pieces) == [event.encode() for event in events]


def test_one_byte_at_a_time_never_tears_a_character():
    raw = 'data: {"t":"你好👩‍🚀"}\r\n\r\n'.encode()
    assert read(*(raw[i : i + 1] for i in range(len(raw)))) == ['{"t":"你好👩‍🚀"}'.encode()]


def test_lines_of_one_event_are_joined_and_other_fields_passed_over():
    assert read(b"\xef\xbb\xbfevent: x\ndata: a\ndata:b\nid: 7\n\ndata\n\n") == [b"a\nb", b""]


def test_an_event_whose_blank_line_never_came_is_given_at_the_end():
    assert read(b"data: last") == [b"last"]


def test_an_endless_event_is_refused():
    reader = SseReader()
    with pytest.raises(EventTooLarge):
        list(reader.feed(b"data: " + b"x" * (MAX_EVENT_BYTES + 1)))
