"""The outcome set: questions with known answers, and what small models answered to them.

A folder with `questions.jsonl.gz`, one `MODEL.jsonl.gz` for each model, and `card.json`, which
names them all with their digests. `hybridge.pipeline.pack` writes it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hybridge.pipeline.quiz.question import Question

TEST, CALIBRATION, TRAINING = (0, 1), (2,), tuple(range(3, 10))
"""Folds."""


class Reply(Struct, frozen=True):
    """One answer of one model, as `hybridge.pipeline.ask` keeps it."""

    key: str
    """Of the question."""
    answer: str
    logprobs: tuple[float, ...]
    """Of its tokens, natural logarithm; the one that ended it as well, if it ended by itself."""
    second: tuple[float, ...]
    """Of the likeliest other token at each place."""
    finish_reason: str
    right: bool

    @property
    def said(self) -> tuple[float, ...]:
        """The log-probabilities as a stream has them: without the token that ends it."""
        ends = self.finish_reason == "stop" and len(self.logprobs) > 1
        return self.logprobs[:-1] if ends else self.logprobs


class OutcomeSet(Struct, frozen=True):
    """All of it, read and checked."""

    questions: Mapping[str, Question]
    """By key."""
    replies: Mapping[str, Sequence[Reply]]
    """By the model's name, as its file is called."""
    card: Mapping[str, Any]


def read(folder: Path) -> OutcomeSet:
    """Raises `ValueError` where a file is not the one that the card names."""
    card = json.loads((folder / "card.json").read_text("utf-8"))
    texts = {name: _checked(folder / name, row["sha256"]) for name, row in card["files"].items()}
    rows = msgspec.json.Decoder(Question)
    lines = texts.pop("questions.jsonl.gz").splitlines()
    questions = {question.key: question for question in map(rows.decode, lines)}
    reply = msgspec.json.Decoder(Reply)
    return OutcomeSet(
        questions,
        {
            name.removesuffix(".jsonl.gz"): [reply.decode(line) for line in text.splitlines()]
            for name, text in texts.items()
        },
        card,
    )


def write(path: Path, rows: Sequence[Struct]) -> dict[str, Any]:
    """One of its files, and what the card says of it. The same rows give the same bytes."""
    encode = msgspec.json.encode
    text = b"".join(encode(row) + b"\n" for row in rows)
    path.write_bytes(gzip.compress(text, 9, mtime=0))
    return {"rows": len(rows), "sha256": sha256(text).hexdigest()}


def _checked(path: Path, digest: str) -> bytes:
    text = gzip.decompress(path.read_bytes())
    if sha256(text).hexdigest() != digest:
        raise ValueError(f"{path} is not the file that card.json names")
    return text
