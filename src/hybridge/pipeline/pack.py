"""Packs answers into the outcome set, and writes its card.

    python -m hybridge.pipeline.pack --out data/outcomes \
        qwen2.5-0.5b=answers.jsonl qwen2.5-0.5b@0.7=second.jsonl

A name is that of a model in the catalogue; what follows `@` tells another run of it apart. Answers
are judged anew by today's checks. The same answers give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from hybridge.modelstore.catalogue import CATALOGUE
from hybridge.pipeline.outcome_set import CALIBRATION, TEST, TRAINING, Reply, write
from hybridge.pipeline.quiz.every import questions
from hybridge.pipeline.quiz.question import Question

LICENCE = "Apache-2.0"
"""Of the questions, which were written or generated for this project, and of the answers."""


def pack(files: Mapping[str, Path], out: Path) -> dict[str, Any]:
    """Writes the folder and gives the card. Raises `KeyError` for a model nobody knows."""
    out.mkdir(parents=True, exist_ok=True)
    asked = {question.key: question for question in questions()}
    written = {"questions.jsonl.gz": write(out / "questions.jsonl.gz", list(asked.values()))}
    for name, path in files.items():
        replies = _judged(path, asked)
        model = CATALOGUE[name.split("@")[0]]
        written[f"{name}.jsonl.gz"] = write(out / f"{name}.jsonl.gz", replies) | {
            "model": model.title,
            "weights_sha256": model.sha256,
            "model_licence": model.licence,
            "right": _right(replies, asked),
        }
    card = {
        "what": "questions with checkable answers, and what small local models answered",
        "languages": ["en", "zh"],
        "licence": LICENCE,
        "folds": {"test": TEST, "calibration": CALIBRATION, "training": TRAINING},
        "made_by": ["hybridge.pipeline.ask", "hybridge.pipeline.pack"],
        "files": written,
    }
    (out / "card.json").write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return card


def _judged(path: Path, asked: Mapping[str, Question]) -> list[Reply]:
    """In the order of their keys; a last line that was cut, and answers to questions that are no
    longer asked, are left out."""
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    read = msgspec.json.Decoder(Reply)
    replies = {reply.key: reply for reply in map(read.decode, lines) if reply.key in asked}
    return [
        replace(reply, right=asked[key].accepts(reply.answer))
        for key, reply in sorted(replies.items())
    ]


def _right(replies: Sequence[Reply], asked: Mapping[str, Question]) -> dict[str, float]:
    """Share of right answers, by language."""
    by = {
        language: [reply.right for reply in replies if asked[reply.key].language == language]
        for language in ("en", "zh")
    }
    return {language: round(sum(all_) / len(all_), 3) for language, all_ in by.items() if all_}


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", nargs="+", metavar="NAME=FILE")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args(argv)
    pairs = (one.split("=", 1) for one in arguments.answers)
    card = pack({name: Path(path) for name, path in pairs}, arguments.out)
    json.dump(card["files"], sys.stdout, indent=2)


if __name__ == "__main__":
    main()
