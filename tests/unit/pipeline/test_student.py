"""The small encoder that imitates a larger one. Needs the extra `export`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from hybridge.edge.text_graph import MAX_TOKENS

if any(find_spec(name) is None for name in ("torch", "transformers", "onnxscript")):
    pytest.skip('needs pip install "hybridge[export]"', allow_module_level=True)

from hybridge.pipeline import student as lessons
from hybridge.pipeline.both_ends import read
from hybridge.pipeline.encoder_teachers import Map
from hybridge.pipeline.student import Lesson, School, Student, cosines, save, vocabulary

pytestmark = pytest.mark.filterwarnings("ignore")
WIDTH = 300
TEXTS = [f"{who} {does} {what}" for who in ("we", "they", "我们", "他们")
         for does in ("read", "write", "看", "写") for what in ("books", "letters", "书", "信")]  # fmt: skip


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    """A text's vector is the sum of its words'."""
    rng = np.random.default_rng(0)
    words = {word: rng.normal(size=WIDTH) for text in TEXTS for word in text.split()}
    sums = np.stack([sum(words[word] for word in text.split()) for text in TEXTS])
    unit = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return Lesson(read(vocabulary(2 * TEXTS), TEXTS), unit.astype(np.float32))


def test_chinese_characters_stand_alone_and_wide_forms_are_narrow() -> None:
    tokenizer = vocabulary(2 * TEXTS)
    assert tokenizer.encode("Ｗe 我们看，书").tokens[1:-1] == [
        "we",
        "我",
        "们",
        "看",
        "[UNK]",
        "书",
    ]


def test_a_long_text_is_read_at_both_ends() -> None:
    tokenizer = vocabulary(2 * TEXTS)
    (ids,) = read(tokenizer, ["we " + "books " * 3000 + "letters"])
    names = [tokenizer.id_to_token(one) for one in ids]
    assert len(ids) == MAX_TOKENS
    assert (names[1], names[-2]) == ("we", "letters")


def test_it_learns_and_a_stopped_run_goes_on(
    lesson: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lessons, "TOKENS_AT_ONCE", 64)
    student = Student(200, WIDTH)
    before = cosines(student, lesson).mean()
    school = School(student, lesson, passes=12, seed=1)
    checkpoint = tmp_path / "checkpoint.pt"
    for number in school.passes(checkpoint):
        if number == 6:
            break
    halfway = cosines(student, lesson).mean()
    again = School(Student(200, WIDTH), lesson, passes=12, seed=1)
    again.resume(checkpoint)
    assert again.done == 6
    assert cosines(again.student, lesson).mean() == pytest.approx(halfway)
    assert list(again.passes(checkpoint)) == list(range(7, 13))
    after = cosines(again.student, lesson).mean()
    assert before < halfway < after
    assert after > 0.8


@pytest.mark.timeout(600)  # PyTorch's exporter takes its time
def test_its_folder_is_exported_as_it_is(lesson: Lesson, tmp_path: Path) -> None:
    from hybridge.pipeline.exporting.export import export
    from hybridge.pipeline.graph_runner import GraphRunner

    tokenizer, student = vocabulary(2 * TEXTS), Student(200, WIDTH)
    student.begin(np.random.default_rng(1).normal(size=(200, WIDTH)), lesson.vectors)
    save(student, tokenizer, tmp_path / "encoder")
    export(tmp_path / "encoder", tmp_path / "fp32", source="a test")
    runner = GraphRunner.of(tmp_path / "fp32" / "model.onnx", tmp_path / "fp32" / "tokenizer.json")
    told = np.concatenate([runner.raw([ids]) for ids in lesson.ids])
    assert np.allclose((told * lesson.vectors).sum(axis=1), cosines(student, lesson), atol=1e-4)


def test_a_map_finds_the_other_space_and_takes_the_language_away() -> None:
    rng = np.random.default_rng(2)
    source = rng.normal(size=(2000, 64)).astype(np.float32)
    turn = np.linalg.qr(rng.normal(size=(64, 64)))[0].astype(np.float32)
    target = source @ turn
    target /= np.linalg.norm(target, axis=1, keepdims=True)
    found = Map.fitted(source[:1500], target[:1500])
    language = np.full(64, 3, np.float32)
    plain = found(source[1500:], np.zeros(64, np.float32))
    assert (plain * target[1500:]).sum(axis=1).min() > 0.95
    assert np.allclose(found(source[1500:] + language, language), plain, atol=1e-4)
