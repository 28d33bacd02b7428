"""The shipped head: calibrated numbers for any text, sensible order, honest refusal."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.errors import ModelError
from hybridge.routing.head import DIMENSIONS, SHIPPED, Head

HEAD = Head.shipped()
TOPIC = np.full(DIMENSIONS, DIMENSIONS**-0.5, np.float32)

TRIVIAL = [
    "Hello!", "Good morning", "What is the capital of France?", "List the four seasons.",
    "Translate to German: good night", "Say hello.", "Is the sun a star?", "Name three fruits.",
    "What causes the seasons on Earth?", "Explain how photosynthesis works.",
    "你好", "谢谢你", "法国的首都是哪里？", "为什么天空是蓝色的？", "把这句话翻译成英文：今天天气很好。",
    "列出四个季节。", "解释一下光合作用。", "推荐三道家常菜。", "说一句问候。", "太阳是恒星吗？",
]  # fmt: skip
HARD = [
    "Prove that there are infinitely many primes congruent to 3 modulo 4, and derive a bound.",
    "Find all integer solutions of x^2 - 5y^2 = 4 and prove that there are no others.",
    "Let $f(x) = \\frac{x^3 - 3x}{x^2 + 1}$. Compute $\\int_0^1 f(x)\\,dx$ and the maximum of $f$.",
    "Write a Python class with a lock-free queue, import threading, and prove that it is linearisable.",
    "Six people sit at a round table; how many seatings keep A from B, if C must sit beside D?",
    "设函数 f(x)=x^3-3x+1，求其在区间[-2,2]上的最大值与最小值，并证明方程f(x)=0有三个实根。",
    "已知数列{a_n}满足a_1=1，a_{n+1}=2a_n+3n，求通项公式并证明。",
    "用Python写一个支持并发的LRU缓存类，要求get和put都是O(1)，必须线程安全，并证明其正确性。",
    "若x^2+y^2=25且xy=12，计算x^4+y^4的值，并推导一般公式。",
]  # fmt: skip


@given(st.text())
def test_any_text_has_a_probability_with_and_without_an_embedding(text: str) -> None:
    for embedding in (None, TOPIC):
        said = HEAD.predict(text, embedding)
        assert 0.0 <= said.p <= 1.0
        assert len(said.reasons) <= 3


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800", "a" * 1_000_000, "证" * 1_000_000])
def test_odd_texts_have_one_too(text: str) -> None:
    assert math.isfinite(HEAD.predict(text, TOPIC).p)


def test_hard_requests_score_above_trivial_ones_in_both_languages() -> None:
    trivial = [HEAD.predict(text, None).p for text in TRIVIAL]
    hard = [HEAD.predict(text, None).p for text in HARD]
    assert np.mean(hard) > np.mean(trivial) + 0.1
    assert np.mean([h > t for h in hard for t in trivial]) > 0.9


def test_everyday_requests_do_not_get_absurd_scores() -> None:
    for text in TRIVIAL:
        assert 1 + 9 * HEAD.predict(text, None).p < 5.5, text


def test_the_end_of_a_long_text_is_not_overlooked() -> None:
    report = "The weather was fine and the trains ran on time. " * 400
    plain = HEAD.predict(report + "Summarise it.", None).p
    asked = HEAD.predict(
        report + "Then prove the theorem: $\\sum x^2 = 4$, by a calculation.", None
    ).p
    assert asked != plain
    assert HEAD.predict(report, None).p != HEAD.predict(report[:2000], None).p


@pytest.mark.parametrize("text", ["Why is the sky blue?", "为什么天空是蓝色的？"])
def test_the_embedding_counts_in_every_language(text: str) -> None:
    with_it, without = (HEAD.predict(text, e) for e in (TOPIC, None))
    assert with_it.p != without.p
    assert (with_it.used_embedding, without.used_embedding) == (True, False)


def test_reasons_are_words_with_a_direction() -> None:
    said = HEAD.predict(HARD[3], None)
    assert said.reasons
    assert all(reason.startswith(("harder: ", "easier: ")) for reason in said.reasons)
    assert "easier: short prompt" in HEAD.predict("Hi", None).reasons


def test_another_process_says_the_same() -> None:
    code = (
        "from hybridge.routing.head import Head; h = Head.shipped(); "
        "print(h.version, h.predict('Why is the sky blue?', None).p)"
    )
    there = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    version, p = there.stdout.split()
    assert version == HEAD.version
    assert float(p) == pytest.approx(HEAD.predict("Why is the sky blue?", None).p, rel=1e-6)


def test_the_card_is_of_this_head_and_names_every_licence() -> None:
    card = json.loads(SHIPPED.with_suffix(".card.json").read_text(encoding="utf-8"))
    assert card["version"] == HEAD.version
    assert {source["licence"] for source in card["sources"].values()} <= {"Apache-2.0", "MIT"}
    for name in ("text", "full"):
        for measured in card["test_folds_small_models"][name].values():
            assert measured["ece"] < 0.05


def altered(path: Path, **changes: np.ndarray) -> Path:
    with np.load(SHIPPED) as data:
        arrays = {name: data[name] for name in data.files}
    np.savez(path, **(arrays | changes))
    return path


@pytest.mark.parametrize(
    "change",
    [
        {"mean": np.zeros(3, np.float32)},
        {"text_scalars": np.zeros(2, np.float32)},
        {"full_embedding": np.zeros(12, np.float32)},
        {"text_scalars": np.full(5, np.nan, np.float32)},
    ],
)
def test_a_head_of_another_make_is_refused_by_name(tmp_path: Path, change: dict) -> None:
    with pytest.raises(ModelError, match="odd.npz"):
        Head.load(altered(tmp_path / "odd.npz", **change))


@pytest.mark.parametrize("content", [b"", b"not a head", b"PK\x03\x04 broken"])
def test_a_broken_file_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="broken.npz"):
        Head.load(path)
    with pytest.raises(ModelError, match="gone.npz"):
        Head.load(tmp_path / "gone.npz")


def test_the_version_follows_the_content(tmp_path: Path) -> None:
    other = altered(tmp_path / "other.npz", mean=np.zeros_like(HEAD.mean))
    assert Head.load(other).version != HEAD.version
    assert HEAD.version == Head.shipped().version
