"""Heads and adapters of one's own: taken over while it serves, refused by name, kept apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.unit.routing.own_models import MONTH, NOW, World

from hybridge.core.errors import ConfigError
from hybridge.edge.encoder import Encoder
from hybridge.routing.adaptation import adapt
from hybridge.routing.adapter_file import save
from hybridge.routing.head import SHIPPED, Head
from hybridge.wiring import request_of
from hybridge.wiring.meaning import vectors

pytestmark = pytest.mark.anyio
QUESTION = "Which of the two rivers is longer, and through which countries do they flow?"


def head_file(path: Path) -> Path:
    """A head that calls everything hard."""
    with np.load(SHIPPED) as data:
        arrays = {name: data[name] for name in data.files}
    for name in ("text_scalars", "full_scalars"):
        arrays[name] = arrays[name] + np.array([5, 0, 0], np.float32)
    np.savez(path, **arrays)
    return path


def adapter_file(path: Path, head: Head) -> Path:
    save(
        path,
        adapt(
            None, World().evidence(60, head=head.version), NOW, head=head.version, half_life=MONTH
        ),
    )
    return path


async def score(house) -> tuple[float, str]:
    (told,) = await house.explain_many([request_of(QUESTION)])
    return told.score.value, told.score.version


async def test_a_head_and_its_adapter_are_taken_over_and_given_back(play, tmp_path):
    file = head_file(tmp_path / "head.npz")
    own = Head.load(file)
    async with play() as s:
        shipped = await score(s.house)
        assert shipped[1] == Head.shipped().version
        await s.take(lambda data: data.setdefault("routing", {}).update(head=str(file)))
        higher = await score(s.house)
        assert higher[0] > shipped[0] + 1
        assert higher[1] == own.version
        made = adapter_file(tmp_path / "own.npz", own)
        await s.take(lambda data: data["routing"].update(adapter=str(made)))
        assert (await score(s.house))[1].startswith(f"{own.version}+adapter-")
        assert s.house.learned[0].startswith("from a file: in force, of 60 comparisons")
        with pytest.raises(
            ConfigError, match=r"routing\.adapter: .*own\.npz was made for the head"
        ):
            await s.take(lambda data: data["routing"].pop("head"))
        assert (await score(s.house))[1].startswith(f"{own.version}+adapter-")
        await s.take(lambda data: data.update(routing={}))
        assert await score(s.house) == shipped


async def test_a_head_that_is_none_is_refused_by_its_key(play, tmp_path):
    (tmp_path / "odd.npz").write_bytes(b"odd")
    async with play() as s:
        with pytest.raises(ConfigError, match=r"routing\.head: .*odd\.npz is not a scorer head"):
            await s.take(lambda data: data.update(routing={"head": str(tmp_path / "odd.npz")}))


@pytest.mark.parametrize("threads", [1, 64])
def test_texts_that_are_encoded_together_get_the_vectors_they_get_alone(threads):
    texts = ["Why?", "What is the capital of France?", "word " * 2000, "", "Why?"]
    encoder = Encoder.shipped(threads=1)
    try:
        known = vectors(encoder, texts, threads=threads)
        assert set(known) == set(texts)
        for text, vector in known.items():
            assert (vector == encoder.encode(text)).all()
    finally:
        encoder.close()


async def test_many_are_explained_as_one_by_one(play):
    prompts = [QUESTION, "你好，今天天气怎么样？", QUESTION, "", "Prove that 2 + 2 = 4."]
    async with play() as s:
        together = await s.house.explain_many([request_of(prompt) for prompt in prompts])
        alone = [(await s.house.explain_many([request_of(prompt)]))[0] for prompt in prompts]
    for one, other in zip(together, alone, strict=True):
        assert one.score.p == other.score.p
        assert (one.report.route, one.report.reasons) == (other.report.route, other.report.reasons)
