"""How alike texts are: an encoder that is loaded when it is first needed."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from hybridge.edge.encoder import MEANING, Encoder
from hybridge.wiring.meaning import Meaning

pytestmark = pytest.mark.anyio
shipped = partial(Encoder.shipped, threads=1, folder=MEANING)


async def test_two_texts_are_as_alike_as_they_mean() -> None:
    meaning = Meaning(shipped)
    refund = "I want a refund"
    near = await meaning.similarity(refund, "Please give me my money back")
    far = await meaning.similarity(refund, "How do I bake bread?")
    assert near is not None
    assert far is not None
    assert near > far + 0.2
    await meaning.close()


async def test_it_is_loaded_once_and_only_where_it_is_needed() -> None:
    loaded: list[Encoder] = []

    def load() -> Encoder:
        loaded.append(shipped())
        return loaded[-1]

    meaning = Meaning(load)
    assert await meaning.similarity("为什么？", "Why?") is None  # it reads no Chinese
    assert not loaded
    alike = await asyncio.gather(*(meaning.similarity("Why?", "Why?") for _ in range(4)))
    assert alike == pytest.approx([1.0] * 4)
    assert len(loaded) == 1
    await meaning.close()
    assert await loaded[0].embed("Why?", 1) is None  # closed


async def test_who_gives_up_does_not_end_the_loading() -> None:
    meaning = Meaning(shipped)
    first = asyncio.create_task(meaning.similarity("Why?", "Why?"))
    await asyncio.sleep(0)
    first.cancel()
    assert await meaning.similarity("Why?", "Why?") == pytest.approx(1)
    await meaning.close()


async def test_without_an_encoder_nothing_can_be_told(caplog: pytest.LogCaptureFixture) -> None:
    def load() -> Encoder:
        raise RuntimeError("no such file")

    meaning = Meaning(load)
    assert await meaning.similarity("Why?", "Why?") is None
    assert await meaning.similarity("Why?", "Why?") is None
    assert len(caplog.records) == 1
    await meaning.close()


async def test_what_was_never_needed_is_closed_too() -> None:
    await Meaning(shipped).close()
