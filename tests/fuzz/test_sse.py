"""The reader of server-sent events gives the same events however the network cuts their bytes."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from hybridge.cloud.sse import SseReader

BYTES = 1_000_000
_PIECES = (
    b"data: ", b"data:", b"data", b"event: message", b"id: 1", b"retry: 5", b": comment", b"\n", b"\r", b"\r\n",
    b"\n\n", b"\r\r", b"\r\n\r\n", b"\xef\xbb\xbf", "北京".encode(), "\U0001f468\u200d\U0001f469\u200d\U0001f467".encode(),
    b'{"choices":[{"index":0,"delta":{"content":"hi"}}]}', b"[DONE]", b"\x00", b"\xff", b" ", b"x" * 500,
    b"data: one\ndata: two\n\n", b"data: {}\r\n\r\n",
)  # fmt: skip


def noise(random: Random) -> bytes:
    """A million bytes that look like a stream here and there."""
    made = bytearray()
    while len(made) < BYTES:
        made += (
            random.choice(_PIECES)
            if random.random() < 0.9
            else random.randbytes(random.randrange(1, 20))
        )
    return bytes(made[:BYTES])


def cut(data: bytes, random: Random) -> Iterator[bytes]:
    """The same bytes in pieces, many of them single ones."""
    at = 0
    while at < len(data):
        size = random.choice((0, 1, 1, 1, 2, 3, 7, 60, 1460, 65_536))
        yield data[at : at + size]
        at += size


def events(pieces: Iterator[bytes] | list[bytes]) -> list[bytes]:
    reader = SseReader()
    found = [event for piece in pieces for event in reader.feed(piece)]
    return [*found, *reader.close()]


@pytest.mark.parametrize("seed", range(8))
def test_a_million_bytes_in_any_pieces_are_the_same_events(seed: int):
    random = Random(seed)
    data = noise(random)
    whole = events([data])
    assert len(whole) > 1_000
    for _ in range(3):
        assert events(cut(data, random)) == whole


def test_byte_by_byte_they_are_the_same_too():
    data = noise(Random(99))
    assert events([data[i : i + 1] for i in range(len(data))]) == events([data])
