"""What the scorer's encoder is taught on."""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path

import pytest

from hybridge.pipeline.encoder_texts import (
    REQUESTS,
    characters,
    counted,
    dictionary_words,
    gathered,
    held_out,
    made,
    prompts,
    split,
)

DICTIONARY = "".join(
    f"{word} {count} {kind}\n"
    for word, count, kind in [
        ("天气", 90, "n"), ("学校", 80, "n"), ("跑步", 70, "v"), ("学习", 95, "v"),
        ("漂亮", 60, "a"), ("的", 99, "uj"), ("B超", 98, "n"),
    ]
)  # fmt: skip


@pytest.fixture
def dictionary(tmp_path: Path) -> Path:
    path = tmp_path / "dict.txt"
    path.write_text(DICTIONARY, encoding="utf-8")
    return path


@pytest.fixture
def outcomes(tmp_path: Path) -> Path:
    rows = [
        {"prompt": "Why is the sky blue? And what of the sea at night?", "source": "eqbench"},
        {"prompt": "Why is the sky blue? And what of the sea at night? ", "source": "eqbench"},
        {"prompt": "Nobody may train on this one.", "source": "no_licence"},
    ]
    with gzip.open(tmp_path / "some.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path


def test_prompts_come_once_and_only_with_a_licence(outcomes: Path) -> None:
    assert prompts(outcomes) == ["Why is the sky blue? And what of the sea at night?"]


def test_a_prompt_falls_into_sentences_and_lines() -> None:
    text = "Why is the sky blue? Hm. It is not that simple!\nA line of its own\n" + "x" * 300
    assert list(split([text])) == [
        "Why is the sky blue?", "It is not that simple!", "A line of its own",
    ]  # fmt: skip


def test_words_count_once_for_each_text() -> None:
    assert counted(["The sky, the SKY", "a sky-blue don't"]) == {
        "the": 1, "sky": 1, "sky-blue": 1, "don't": 1,
    }  # fmt: skip


def test_chinese_words_and_characters_come_by_frequency(dictionary: Path) -> None:
    known = dictionary_words(dictionary)
    assert [word for word, _, _ in known[:3]] == ["的", "学习", "天气"]
    assert "B超" not in {word for word, _, _ in known}
    assert characters(known, 2) == ["学", "的"]  # `学` of two words


def test_requests_are_frames_filled_with_words(dictionary: Path) -> None:
    rng = random.Random(1)
    found = made(dictionary_words(dictionary), ["photosynthesis"], rng, 300)
    assert len(set(found)) == 300
    assert not any(letter in text for text in found for letter in "{}")
    assert any("photosynthesis" in text for text in found)
    assert any(text.count("。") + text.count("？") > 2 for text in found)


def test_every_frame_has_blanks_that_are_known() -> None:
    for frame in REQUESTS.read_text(encoding="utf-8").splitlines():
        blanks = re.findall(r"\{(\w)\}", frame)
        assert set(blanks) <= set("nvadw")
        assert frame.count("{") == len(blanks)


def test_what_is_kept_to_measure_on_is_always_the_same_and_teaches_nothing(
    outcomes: Path, dictionary: Path
) -> None:
    texts = [f"text {number}" for number in range(5000)]
    assert 0.01 < sum(map(held_out, texts)) / len(texts) < 0.03
    kept = next(
        text for text in (f"Is {n} a number of its own?" for n in range(999)) if held_out(text)
    )
    with gzip.open(outcomes / "more.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps({"prompt": kept, "source": "eqbench"}) + "\n")
    found = gathered(outcomes, dictionary, random.Random(1), requests=20)
    assert kept in found.english["prompts"]
    assert kept not in found.english["sentences"]
    assert len(found.chinese["requests"]) == 20
    assert len(found.chinese["questions"]) > 3000
    assert set(found.every()) >= set(found.english["questions"])
