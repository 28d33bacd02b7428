"""Digests of weights."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.modelstore.digest import BLOCK, SAMPLE_BYTES, fingerprint, sha256


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 5])
def test_sha256_is_of_the_whole_file_wherever_it_was_read_to(tmp_path: Path, size: int) -> None:
    content = bytes(i % 251 for i in range(size))
    path = tmp_path / "file"
    path.write_bytes(content)
    with path.open("rb") as file:
        file.read(7)
        assert sha256(file) == hashlib.sha256(content).hexdigest()


def test_a_fingerprint_depends_on_content_and_size_alone(tmp_path: Path) -> None:
    content = bytes(range(256)) * 4096
    one, same, longer = (tmp_path / name for name in ("one", "same", "longer"))
    one.write_bytes(content)
    same.write_bytes(content)
    longer.write_bytes(content + b"\0")
    assert fingerprint(one) == fingerprint(same) != fingerprint(longer)


@given(at=st.integers(0, 4 * SAMPLE_BYTES - 1))
def test_every_byte_of_a_small_file_counts(
    tmp_path_factory: pytest.TempPathFactory, at: int
) -> None:
    path = tmp_path_factory.mktemp("weights") / "weights"
    content = bytearray(4 * SAMPLE_BYTES)
    path.write_bytes(content)
    before = fingerprint(path)
    content[at] ^= 1
    path.write_bytes(content)
    assert fingerprint(path) != before


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        fingerprint(tmp_path / "nowhere")
