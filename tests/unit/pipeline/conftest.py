"""Made-up outcomes whose truth is known: long prompts and proofs fail."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from hybridge.pipeline import outcome_set
from hybridge.pipeline.outcome_set import Reply
from hybridge.pipeline.outcomes import key_of
from hybridge.pipeline.quiz.checks import Exact
from hybridge.pipeline.quiz.question import Language, Question

LANGUAGES: tuple[Language, ...] = ("en", "zh")

SUBJECTS = ("a number", "a triangle", "the weather", "a river", "an engine", "a poem")


@dataclass(frozen=True, slots=True)
class Made:
    """Where the files lie."""

    outcomes: Path
    groups: Path
    embeddings: Path
    own: Path

    @property
    def arguments(self) -> list[str]:
        """For a command line."""
        return [
            "--outcomes", str(self.outcomes), "--groups", str(self.groups),
            "--embeddings", str(self.embeddings), "--own", str(self.own),
        ]  # fmt: skip


def prompt(number: int, source: str) -> tuple[str, bool]:
    """A prompt, and whether it is hard."""
    subject, hard = SUBJECTS[number % len(SUBJECTS)], number % 2 == 0
    ask = "Prove a theorem about" if hard else "Say something about"
    return f"{ask} {subject}, case {number} of {source}." + " Show it." * (number % 5), hard


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Made]:
    """Writes the files; `sources` are their names, `leak` puts one group into two folds."""

    def make(sources: tuple[str, ...] = ("zeroeval", "mmlu_pro"), *, leak: bool = False) -> Made:
        rng, folder = np.random.default_rng(0), tmp_path / "outcomes"
        folder.mkdir()
        groups: dict[str, tuple[str, int]] = {}
        for source in sources:
            with gzip.open(folder / f"{source}.jsonl.gz", "wt", encoding="utf-8") as file:
                for number in range(240):
                    text, hard = prompt(number, source)
                    groups[key_of(text)] = (key_of(text), number // 4 % 10)
                    fails = rng.random() < (0.9 if hard else 0.1)
                    file.write(json.dumps({
                        "prompt": text, "source": source, "lang": "en", "task": "made",
                        "weak_model": "lab/gemma-2-2b-it", "strong_model": "gpt",
                        "weak_score": 0.0 if fails else 1.0, "strong_score": 1.0,
                    }) + "\n")  # fmt: skip
        if leak:
            (first, (_, fold)), (second, (_, other)) = list(groups.items())[:5:4]
            groups[first], groups[second] = ("shared", fold), ("shared", 2 if fold != 2 else other)
        return Made(
            folder, _groups(tmp_path, groups), _embeddings(tmp_path, groups), _own(tmp_path)
        )

    return make


def _groups(folder: Path, groups: dict[str, tuple[str, int]]) -> Path:
    path = folder / "groups.csv.gz"
    with gzip.open(path, "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["key", "group", "fold"])
        writer.writerows([key, group, fold] for key, (group, fold) in groups.items())
    return path


def _embeddings(folder: Path, groups: dict[str, tuple[str, int]]) -> Path:
    path, vectors = (
        folder / "embeddings.npz",
        np.random.default_rng(1).normal(size=(len(groups), 384)),
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.savez(path, keys=np.array(list(groups)), x=vectors.astype(np.float16))
    return path


def _own(folder: Path) -> Path:
    """An outcome set; half of the answers are right."""
    out = folder / "own"
    out.mkdir()
    asked = [
        Question(
            f"{kind} {language} {number}", language, kind, f"topic {number % 12}", Exact(("1",))
        )
        for kind in ("sum", "fact", "capital", "yes_no")
        for language in LANGUAGES
        for number in range(24)
    ]
    replies = [
        Reply(one.key, "1", (-0.1,), (-3.0,), "stop", right=place % 2 == 0)
        for place, one in enumerate(asked)
    ]
    files = {
        "questions.jsonl.gz": outcome_set.write(out / "questions.jsonl.gz", asked),
        "qwen2.5-0.5b.jsonl.gz": outcome_set.write(out / "qwen2.5-0.5b.jsonl.gz", replies),
    }
    (out / "card.json").write_text(json.dumps({"files": files}), encoding="utf-8")
    return out
