"""Views: of one size for every text, exact enough, and no text themselves (R33)."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.routing.head import DIMENSIONS, Head, read
from hybridge.routing.view import BYTES, EMBEDDING, PRIOR, PROJECTED, SIZE, pack, unpack, view

HEAD = Head.shipped()
TOPIC = np.full(DIMENSIONS, DIMENSIONS**-0.5, np.float32)


def seen(text: str, embedding: np.ndarray | None = TOPIC) -> np.ndarray:
    said = read(text)
    return view(HEAD, said, embedding, HEAD.judge(said, embedding).p)


@given(st.text())
def test_every_text_has_one_of_the_same_size(text: str) -> None:
    packed = pack(seen(text))
    assert len(packed) == BYTES
    assert np.abs(unpack(packed) - seen(text)).max() < 0.02


@given(st.text(min_size=6, max_size=200))
def test_a_view_holds_no_text(text: str) -> None:
    packed = pack(seen(text))
    for encoding in ("utf-8", "utf-16-le", "utf-32-le"):
        raw = text.encode(encoding, "surrogatepass")
        assert not any(raw[i : i + 8] in packed for i in range(len(raw) - 7) if any(raw[i : i + 8]))


def test_it_keeps_what_the_prior_says_of_the_text() -> None:
    text = "Prove that there are infinitely many primes."
    p = HEAD.predict(text, TOPIC).p
    assert unpack(pack(seen(text)))[PRIOR] == pytest.approx(np.log(p / (1 - p)), rel=1e-5)


def test_without_an_embedding_its_place_is_empty() -> None:
    assert not seen("为什么天空是蓝色的？", None)[EMBEDDING].any()


def test_the_projection_keeps_who_is_like_whom() -> None:
    """Inner products of words survive on average (Charikar et al. 2002)."""
    texts = [
        "What is the capital of France?",
        "What is the capital of Spain?",
        "写一首关于秋天的诗",
    ]
    one, alike, other = (seen(text, None)[PROJECTED] for text in texts)
    assert one @ alike > 0.5 > abs(one @ other) + 0.2


def test_another_process_projects_the_same() -> None:
    code = (
        "from tests.unit.routing.test_view import seen; import hashlib; "
        "print(hashlib.sha256(seen('Why is the sky blue?')[420:].round(4).tobytes()).hexdigest())"
    )
    path = ":".join([".", *sys.path])
    there = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    here = hashlib.sha256(seen("Why is the sky blue?")[420:].round(4).tobytes()).hexdigest()
    assert there.stdout.strip() == here


@pytest.mark.parametrize("packed", [b"", b"\x01", bytes(BYTES), b"\x01" + bytes(BYTES - 1)])
def test_what_is_no_view_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match="view"):
        unpack(packed)


def test_numbers_that_are_not_finite_are_refused() -> None:
    packed = bytearray(pack(seen("Hello")))
    packed[1:5] = np.float32(np.nan).tobytes()
    with pytest.raises(ValueError, match="broken"):
        unpack(bytes(packed))


def test_the_size_is_that_of_its_parts() -> None:
    assert PROJECTED.stop == SIZE
    assert seen("Hi").shape == (SIZE,)
