"""What the scorer's encoder is taught on: prompts, their sentences, words, and Chinese requests.

Only texts: no model's outcome is read here, so that leaving a source of outcomes out of the head's
training stays honest.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hybridge.pipeline.outcomes import LICENCES, key_of
from hybridge.pipeline.quiz.every import questions

REQUESTS = Path(__file__).parent / "assets" / "chinese_requests.txt"
"""Frames of Chinese requests: {n} a noun, {v} a verb, {a} an adjective, {d} a number, {w} a Latin
word."""
KINDS = {"n": ("n", "nz", "nr", "ns"), "v": ("v", "vn"), "a": ("a", "ad", "an")}
"""Of a blank: the parts of speech, in jieba's letters."""
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
SHORTEST, LONGEST = 12, 240
"""Characters of a sentence that is taught on its own."""
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
HELD_OUT = 50
"""One prompt in so many is kept to measure on, with every text made from it."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts by what they are; the language of a group is what its teacher reads."""

    english: Mapping[str, list[str]]
    chinese: Mapping[str, list[str]]

    def every(self) -> Iterator[str]:
        """All of them, the English ones first."""
        for group in (*self.english.values(), *self.chinese.values()):
            yield from group


def gathered(
    folder: Path,
    dictionary: Path,
    rng: random.Random,
    *,
    sentences: int = 30_000,
    words: int = 10_000,
    chinese_words: int = 20_000,
    requests: int = 24_000,
) -> Texts:
    """`folder`: recorded outcomes, of which the prompts are read; `dictionary`: jieba's `dict.txt`.

    The numbers are how many texts of each kind there are at most.
    """
    written = prompts(folder)
    teaching = [text for text in written if not held_out(text)]
    counts = counted(teaching)
    frequent = sorted(counts, key=lambda word: (-counts[word], word))[:words]
    known = dictionary_words(dictionary)
    asked = {
        language: [one.text for one in questions() if one.language == language]
        for language in ("en", "zh")
    }
    parts = sorted(set(split(teaching)))
    rng.shuffle(parts)
    names = [word for word in frequent if word.isascii() and len(word) > 2][:3000]
    return Texts(
        english={
            "prompts": written,
            "questions": asked["en"],
            "sentences": parts[:sentences],
            "words": frequent,
        },
        chinese={
            "questions": asked["zh"],
            "words": [word for word, _, _ in known[:chinese_words]],
            "characters": characters(known, most=6000),
            "requests": made(known, names, rng, requests),
        },
    )


def prompts(folder: Path) -> list[str]:
    """Each once, of the sources whose licence allows training."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["source"] in LICENCES and row["prompt"].strip():
                    found.setdefault(key_of(row["prompt"]), row["prompt"])
    return list(found.values())


def held_out(text: str) -> bool:
    """Whether a text is kept to measure on; by its content, always the same ones."""
    return int(key_of(text), 16) % HELD_OUT == 0


def split(texts: Iterable[str]) -> Iterator[str]:
    """The sentences and lines of texts that are neither very short nor long."""
    for text in texts:
        for part in SENTENCE.split(text):
            if SHORTEST <= len(part.strip()) <= LONGEST:
                yield part.strip()


def counted(texts: Iterable[str]) -> Counter[str]:
    """English words, in small letters, in how many texts each occurs."""
    return Counter(word for text in texts for word in set(WORD.findall(text.lower())))


def dictionary_words(path: Path) -> list[tuple[str, int, str]]:
    """Chinese words with how frequent they are and their part of speech, frequent ones first."""
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    chinese = [
        (word, int(count), kind)
        for word, count, kind in (row for row in rows if len(row) == 3)
        if all("一" <= letter <= "鿿" for letter in word)
    ]
    return sorted(chinese, key=lambda row: -row[1])


def characters(known: Sequence[tuple[str, int, str]], most: int) -> list[str]:
    """The most frequent ones, by the words they occur in."""
    counts: Counter[str] = Counter()
    for word, count, _kind in known:
        counts.update(dict.fromkeys(word, count))
    return [letter for letter, _ in counts.most_common(most)]


def made(
    known: Sequence[tuple[str, int, str]], names: Sequence[str], rng: random.Random, most: int
) -> list[str]:
    """Requests and statements from frames; one in three goes on with a second or more."""
    frames = REQUESTS.read_text(encoding="utf-8").splitlines()
    words = {
        blank: [word for word, _, kind in known[:20_000] if kind in kinds and len(word) > 1]
        for blank, kinds in KINDS.items()
    }

    def one() -> str:
        return re.sub(r"\{(\w)\}", fill, rng.choice(frames))

    def fill(blank: re.Match[str]) -> str:
        kind = blank[1]
        if kind == "d":
            return str(rng.randint(2, 10 ** rng.randint(1, 4)))
        return rng.choice(names) if kind == "w" else rng.choice(words[kind])

    found: dict[str, None] = {}
    while len(found) < most:
        count = 1 if rng.random() < 2 / 3 else rng.randint(2, 5)
        found["".join(one() for _ in range(count))] = None
    return list(found)
