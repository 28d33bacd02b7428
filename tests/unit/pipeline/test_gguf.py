"""GGUF files through the real `llama-quantize`, where that is installed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.unit.edge.local_model import call, loaded, whole

from hybridge.core.errors import ModelError
from hybridge.pipeline.gguf import PROGRAM, quantise
from hybridge.testing.weights import tiny_gguf

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        shutil.which(PROGRAM) is None,
        reason=f"{PROGRAM} is not on the PATH; llama.cpp's releases carry it",
    ),
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tiny_gguf(tmp_path / "f32.gguf", 1)


async def test_what_it_writes_is_smaller_and_answers(source: Path, tmp_path: Path) -> None:
    out, seen = tmp_path / "q8.gguf", list[tuple[int, int]]()
    done = quantise(source, out, "Q8_0", advance=lambda *tensor: seen.append(tensor))
    assert (done.before_bytes, done.after_bytes) == (source.stat().st_size, out.stat().st_size)
    assert done.after_bytes < done.before_bytes / 2
    assert done.fallbacks == 0
    total = seen[-1][1]
    assert seen == [(n, total) for n in range(1, total + 1)]
    backend = await loaded(out)
    try:
        assert (await whole(backend, call("Hello!", max_tokens=3, temperature=0))).text
    finally:
        await backend.close()


def test_tensors_that_do_not_fit_the_type_are_counted(source: Path, tmp_path: Path) -> None:
    """Their rows have 32 and 64 numbers, and a block of Q4_K has 256."""
    assert quantise(source, tmp_path / "q4.gguf", "Q4_K_M").fallbacks > 0


def test_its_reasons_are_told_with_the_way_out(source: Path, tmp_path: Path) -> None:
    once, twice = tmp_path / "once.gguf", tmp_path / "twice.gguf"
    quantise(source, once, "Q8_0")
    for given, kind, reason in (
        (once, "Q4_0", "requantizing from type q8_0 is disabled; .* add --requantize"),
        (source, "NONSENSE", "invalid ftype 'NONSENSE'. llama-quantize --help lists the types"),
    ):
        with pytest.raises(ModelError, match=f"ended with 1: (failed to quantize: )?{reason}"):
            quantise(given, twice, kind)
        assert not twice.exists()
    assert quantise(once, twice, "Q4_0", again=True).after_bytes < once.stat().st_size


def test_a_file_that_was_cut_is_told_as_one(source: Path, tmp_path: Path) -> None:
    source.write_bytes(source.read_bytes()[:-100])
    with pytest.raises(ModelError, match="corrupted or incomplete"):
        quantise(source, tmp_path / "out.gguf", "Q8_0")
    assert [path.name for path in tmp_path.iterdir()] == ["f32.gguf"]
