"""The outcome set as the judge of the answer sees it: evidence, and who was right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybridge.core.request import Message, Request
from hybridge.execution import evidence
from hybridge.execution.form import flaw
from hybridge.execution.wanted import Wanted
from hybridge.modelstore.digest import FINGERPRINT_DIGITS
from hybridge.pipeline.logistic import Array
from hybridge.pipeline.outcome_set import OutcomeSet, Reply
from hybridge.pipeline.quiz.question import Question

BEGINNINGS = (4, 8, 12, 16, 24, 32)
"""Tokens after which an answer is looked at as a stream would show it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One answer, or its beginning."""

    model: str
    version: str
    """As the model's backend names it."""
    question: Question
    reply: Reply
    wanted: Wanted
    evidence: tuple[float, ...]
    flaw: str | None
    tokens: int
    """How many of its tokens this row has seen."""
    whole: bool

    @property
    def group(self) -> str:
        """Model and language."""
        return f"{self.model} {self.question.language}"


def wanted(question: Question) -> Wanted:
    """What the gateway reads out of the question."""
    asked = (Message("user", question.text),)
    return Wanted.of(Request("", "auto", asked, body={}, max_tokens=question.max_tokens))


def rows(outcomes: OutcomeSet, name: str) -> list[Row]:
    """The whole answers of one file of the set; those without a token are left out."""
    told = outcomes.card["files"][f"{name}.jsonl.gz"]
    version = told["weights_sha256"][:FINGERPRINT_DIGITS]
    asked = outcomes.questions
    return [
        row(name, version, asked[reply.key], wanted(asked[reply.key]), reply)
        for reply in outcomes.replies[name]
        if reply.said
    ]


def row(
    model: str,
    version: str,
    question: Question,
    want: Wanted,
    reply: Reply,
    tokens: int | None = None,
) -> Row:
    """An answer; with `tokens`, its beginning. Of text no tokens are kept, so that a beginning has
    as large a part of the characters as of the tokens."""
    said, text, reason = reply.said, reply.answer, reply.finish_reason
    seen, ends = said[:tokens], None if tokens is not None else reason
    if tokens is not None:
        text = text[: len(text) * len(seen) // len(said)]
    return Row(
        model,
        version,
        question,
        reply,
        want,
        tuple(map(float, evidence.features(seen, text, finish_reason=ends, wanted=want))),
        flaw(text, finish_reason=ends, wanted=want),
        len(seen),
        tokens is None,
    )


def beginnings(every: Sequence[Row], after: Sequence[int] = BEGINNINGS) -> Iterator[Row]:
    """Of each answer the beginnings that are shorter than it is."""
    for one in every:
        for tokens in after:
            if tokens < one.tokens:
                yield row(one.model, one.version, one.question, one.wanted, one.reply, tokens)


def matrix(every: Sequence[Row]) -> Array:
    """Their evidence, (n, features)."""
    return np.array([one.evidence for one in every])


def right(every: Sequence[Row]) -> Array:
    """1 where the answer was right, (n,)."""
    return np.array([one.reply.right for one in every], dtype=np.float64)


def folds(every: Sequence[Row]) -> NDArray[np.int64]:
    """The fold of each, (n,)."""
    return np.array([one.question.fold for one in every], dtype=np.int64)
