"""Prompts that people really wrote, with what is surely a name and what surely is none marked.

No model labels them. A common first name that is no other word marks itself, and often another name
takes its place, so that the sentence teaches and not the name. A capitalised word that is neither
known as a name nor as anything else teaches nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hybridge.pipeline.name_draws import KNOWN, Draws
from hybridge.pipeline.name_texts import Marked, Span, exchanged
from hybridge.privacy.word_traits import words

NAME, NEITHER, UNSURE = 1, 0, -1
_CAPITALISED = re.compile(r"[A-ZÀ-Þ][\w'’\-]+")
_OFTEN = 4
"""Times that a word must stand in lower case before its capital is taken for the sentence's."""
_FULL_NAMES = 0.35
"""Share of texts in which a first name gives way to a full one."""


class Prompts:
    """Marks them, with what all of them together say of a word."""

    def __init__(self, texts: Sequence[str], draws: Draws) -> None:
        self._draws = draws
        lower = Counter(
            text[start:end]
            for text in texts
            for start, end in words(text).spans
            if text[start:end].islower()
        )
        self._common = {word for word, times in lower.items() if times >= _OFTEN}
        self._first, self._last = draws.english()
        known = (*KNOWN["products"], *KNOWN["peoples"], *KNOWN["places"], *KNOWN["things"])
        self._others = set(_CAPITALISED.findall(" ".join(known)))
        self._others |= {draws.other("m") for _ in range(400)}
        self.marked = [self.mark(text) for text in texts]

    def mark(self, text: str) -> Marked:
        """Each capitalised word as one of the three."""
        names: list[Span] = []
        unsure: list[Span] = []
        for start, end in words(text).spans:
            follows = bool(names) and text[names[-1][1] : start] == " "
            label = self._label(text[start:end], follows=follows)
            if label == NAME and follows:
                names[-1] = (names[-1][0], end)
            elif label == NAME:
                names.append((start, end))
            elif label == UNSURE:
                unsure.append((start, end))
        return Marked(text, tuple(names), tuple(unsure))

    def _label(self, word: str, *, follows: bool) -> int:
        """`follows`: it stands right after a name."""
        if not _CAPITALISED.fullmatch(word):
            return NEITHER
        common, first, last = word.lower() in self._common, word in self._first, word in self._last
        if not common and ((first and word not in self._others) or (follows and last)):
            return NAME
        if first or last or follows:
            return UNSURE
        known = common or word in self._others or word.isupper() or not word[1:].islower()
        return NEITHER if known else UNSURE

    def about_others(self, marked: Marked) -> Marked:
        """With other names, each always in the place of the same."""
        full = self._draws.rng.random() < _FULL_NAMES
        others: dict[str, str] = {}

        def new(old: str) -> str:
            if old not in others:
                first, last = self._draws.pair()
                others[old] = f"{first} {last}" if full or " " in old else first
            return others[old]

        return exchanged(marked, new)
