"""What the shipped scorer says of the questions, as routing by the prompt alone would use it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hybridge.core.request import Message, Request
from hybridge.edge.encoder import Encoder
from hybridge.pipeline.quiz.question import Question
from hybridge.routing.facts import gather
from hybridge.routing.head import Head
from hybridge.routing.scorer import HeadScorer


def scores(questions: Sequence[Question]) -> dict[str, float]:
    """The probability that a small model fails, by the question's key."""
    return asyncio.run(_scores(questions))


async def _scores(questions: Sequence[Question]) -> dict[str, float]:
    encoder = Encoder.shipped(threads=1)
    try:
        scorer = HeadScorer(Head.shipped(), encoder, timeout_s=10)
        return {one.key: (await scorer.score(gather(_asking(one)))).p for one in questions}
    finally:
        encoder.close()


def _asking(question: Question) -> Request:
    return Request("", "auto", (Message("user", question.text),), body={})
