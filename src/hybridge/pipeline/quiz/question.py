"""One question with a known answer."""

from __future__ import annotations

import hashlib
from typing import Literal

from msgspec import Struct

from hybridge.pipeline.quiz.checks import Check

Language = Literal["en", "zh"]


class Question(Struct, frozen=True):
    """A question, and how an answer to it is told right from wrong."""

    text: str
    """As a user would send it: one turn, nothing else."""
    language: Language
    kind: str
    """What sort of task it is, e.g. `spelling`; the same name in both languages."""
    topic: str
    """What it is about: questions that share an item (the same country, the same sentence, also in
    the other language) share a topic, and never lie in two folds."""
    check: Check
    max_tokens: int = 40
    """Enough for a right answer with some words around it."""

    @property
    def key(self) -> str:
        """First 16 hexadecimal digits of the SHA-1 of the stripped text."""
        return hashlib.sha1(self.text.strip().encode(), usedforsecurity=False).hexdigest()[:16]

    @property
    def fold(self) -> int:
        """0-9, by topic. 0-1 test, 2 calibrate, 3-9 train."""
        digest = hashlib.sha1(f"{self.kind}/{self.topic}".encode(), usedforsecurity=False)
        return int(digest.hexdigest(), 16) % 10

    def accepts(self, answer: str) -> bool:
        """Whether the answer is right."""
        return self.check.accepts(answer)
