"""A response's parts leave in one piece, in order, and none is forgotten."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.server.together import MOST_BYTES, Together

pytestmark = pytest.mark.anyio


class Wire:
    """Notes what is done to a transport."""

    def __init__(self) -> None:
        self.done: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def close(self) -> None:
        self.done.append("closed")

    def is_closing(self) -> bool:
        return "closed" in self.done


def opened(wire: Wire) -> Together:
    return Together(wire, asyncio.get_running_loop())


async def test_what_is_written_in_one_turn_leaves_in_one_piece():
    wire = Wire()
    together = opened(wire)
    together.write(b"head ")
    together.write(b"body")
    assert wire.done == []
    await asyncio.sleep(0)
    together.write(b"next")
    await asyncio.sleep(0)
    assert wire.done == [b"head body", b"next"]


async def test_closing_sends_what_waits_first():
    wire = Wire()
    together = opened(wire)
    together.write(b"last words")
    together.close()
    await asyncio.sleep(0)
    assert wire.done == [b"last words", "closed"]
    assert together.is_closing()


async def test_much_is_not_kept_waiting():
    wire = Wire()
    together = opened(wire)
    for _ in range(3):
        together.write(b"x" * MOST_BYTES)
    assert sum(map(len, wire.done)) > MOST_BYTES


@given(turns=st.lists(st.lists(st.binary(max_size=99), max_size=5), max_size=5))
def test_nothing_is_lost_or_turned_around(turns):
    async def play() -> Wire:
        wire = Wire()
        together = opened(wire)
        for turn in turns:
            for data in turn:
                together.write(data)
            await asyncio.sleep(0)
        return wire

    assert b"".join(asyncio.run(play()).done) == b"".join(data for turn in turns for data in turn)
