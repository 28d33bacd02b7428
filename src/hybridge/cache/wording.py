"""A question without its wording: what is left differs wherever the answer could."""

from __future__ import annotations

import re

from msgspec import Struct

from hybridge.cache.chinese import chinese
from hybridge.cache.english import english, in_small, is_english, names

LONGEST = 400
"""Characters. What is longer holds material to work on, of which every word counts."""

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_OTHER_SCRIPT = re.compile(r"[^\W\d_A-Za-z\u3400-\u4dbf\u4e00-\u9fff]")
"""A letter that is neither plain Latin nor Chinese: Cyrillic, Kana, é ..."""
_QUOTED = re.compile(
    r"`[^`]+`|\"[^\"]+\"|“[^”]+”|「[^」]+」|『[^』]+』|《[^》]+》|(?<!\w)'[^']+'(?!\w)|‘[^’]+’(?!\w)"
)
_GAP = "\x1f"
"""Stands for a blank that was quoted."""
_BLANKS = re.compile(r"[ \t\u3000]+")
_BESIDE_HAN = re.compile(r"(?<=[\u3400-\u9fff,?!.:;]) +| +(?=[\u3400-\u9fff,?!.:;])")
_LATIN = re.compile(r"(?<![\w.-])[A-Za-z]+(?![\w.-])", re.ASCII)
_SPELLING = str.maketrans(
    {0xFF01 + i: 0x21 + i for i in range(94)} | {"’": "'", "‘": "'", "。": "."}
)
"""Full-width signs. Not what else NFKC makes one: 5² is no 52."""


class Wording(Struct, frozen=True):
    """What a question asks."""

    form: str
    """The same for questions that ask the same."""
    names: tuple[str, ...] | None
    """The words that have a capital in it; None where no capitals are used, or none exist."""

    def fits(self, other: Wording) -> bool:
        """Whether both ask the same: Frozen is not frozen, unless somebody never uses capitals."""
        named = self.names is None or other.names is None or self.names == other.names
        return self.form == other.form and named


def wording(text: str) -> Wording | None:
    """What two texts have in common that ask the same in other words; None for what cannot be
    read: long texts, several lines, code blocks, other languages than English and Chinese.

    Kept as they are: numbers, units, names, negations, directions, comparisons, everything quoted,
    every word, and the order of all of them. Dropped or made one: politeness, ways to open a
    question, spelling, and the few paraphrases that `english` and `chinese` list.
    """
    text = text.strip()
    if not text or len(text) > LONGEST or "\n" in text or "```" in text or _GAP in text:
        return None
    guarded = _QUOTED.sub(lambda quoted: f" {_kept(quoted[0])} ", text)
    plain = _BLANKS.sub(" ", guarded.translate(_SPELLING)).strip()
    if _OTHER_SCRIPT.search(plain):
        return None
    if _HAN.search(plain):
        form = chinese(_LATIN.sub(lambda word: in_small(word[0]), _BESIDE_HAN.sub("", plain)))
        return Wording(form, None) if form else None
    chunks = plain.split(" ")
    form = english(chunks) if is_english(chunks) else ""
    return Wording(form, names(chunks)) if form else None


def _kept(quoted: str) -> str:
    return re.sub(r"\s", _GAP, quoted)
