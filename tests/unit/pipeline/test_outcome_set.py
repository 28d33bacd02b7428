"""The outcome set: packed the same way each time, read back whole, refused when it was changed."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from hybridge.pipeline.judged_rows import beginnings, rows
from hybridge.pipeline.outcome_set import read
from hybridge.pipeline.pack import pack
from hybridge.pipeline.quiz.every import questions
from hybridge.pipeline.resampling import interval

MODEL = "smollm2-135m"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten answers in the file that asking leaves: one stale, one cut."""
    path = tmp_path_factory.mktemp("answers") / "answers.jsonl"
    lines = [
        {
            "key": question.key,
            "answer": "It is yes, and a good deal more than that.",
            "logprobs": [-0.1] * 12 + [-0.5],
            "second": [-3.0] * 13,
            "finish_reason": "stop",
            "right": True,
        }
        for question in questions()[:10]
    ]
    lines.append(lines[0] | {"key": "0" * 16})
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"key": "cut', "utf-8")
    return path


def test_the_same_answers_give_the_same_bytes(answers: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        pack({MODEL: answers}, tmp_path / name)
    for one in (tmp_path / "one").iterdir():
        assert one.read_bytes() == (tmp_path / "two" / one.name).read_bytes()


def test_every_process_asks_the_same_questions() -> None:
    """Order in a set of words differs from process to process."""
    code = (
        "import hashlib, msgspec; from hybridge.pipeline.quiz.every import questions; "
        "print(hashlib.sha256(msgspec.json.encode(questions())).hexdigest())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1


def test_it_is_read_back_and_judged_anew(answers: Path, tmp_path: Path) -> None:
    pack({MODEL: answers}, tmp_path)
    found = read(tmp_path)
    assert list(found.questions.values()) == questions()
    assert len(found.replies[MODEL]) == 10
    for reply in found.replies[MODEL]:
        assert reply.right is found.questions[reply.key].accepts(reply.answer)


def test_a_changed_file_is_refused(answers: Path, tmp_path: Path) -> None:
    pack({MODEL: answers}, tmp_path)
    (tmp_path / f"{MODEL}.jsonl.gz").write_bytes(gzip.compress(b"{}\n"))
    with pytest.raises(ValueError, match="not the file"):
        read(tmp_path)


def test_a_model_that_nobody_knows_is_refused(answers: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        pack({"unheard-of": answers}, tmp_path)


def test_the_token_that_ends_an_answer_is_no_evidence(answers: Path, tmp_path: Path) -> None:
    pack({MODEL: answers}, tmp_path)
    every = rows(read(tmp_path), MODEL)
    assert {row.tokens for row in every} == {12}
    begun = list(beginnings(every, (4, 12, 24)))
    assert {row.tokens for row in begun} == {4}
    assert not any(row.whole for row in begun)


def test_an_interval_holds_the_figure_and_is_wider_with_fewer_topics() -> None:
    values = [0.0, 1.0] * 50

    def mean(places: object) -> float:
        return float(sum(values[int(p)] for p in places) / len(places))  # type: ignore[attr-defined,arg-type,call-overload]

    alone = interval(mean, range(100))
    together = interval(mean, [place // 20 * 2 + place % 2 for place in range(100)])
    assert alone[0] < 0.5 < alone[1]
    assert together[1] - together[0] > alone[1] - alone[0]
