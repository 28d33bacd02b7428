"""Texts with the names in them marked: what the model for names is taught with.

Three kinds: sentences made from `name_templates`; prompts that people really wrote, in which sure
first names mark themselves and are often exchanged for others; labelled lines of other sets.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from faker import Faker

from hybridge.pipeline import name_words as known
from hybridge.pipeline.name_templates import TEMPLATES
from hybridge.privacy.words import words

LOCALES = tuple(
    (
        "en_US en_US en_US en_GB en_GB en_IN en_AU en_CA en_IE en_NZ de_DE fr_FR es_ES es_MX it_IT pt_BR pt_PT "
        "nl_NL sv_SE da_DK no_NO fi_FI pl_PL cs_CZ sk_SK hu_HU ro_RO hr_HR sl_SI tr_TR id_ID et_EE lt_LT "
        "lv_LV es_CO fil_PH yo_NG zu_ZA tw_GH vi_VN"
    ).split()
)
"""English ones more often. Those of other scripts are no use here."""
_WITH_ADDRESSES = ("en_US", "en_US", "en_GB", "en_CA", "de_DE", "fr_FR", "es_ES", "it_IT", "pl_PL", "sv_SE")
NAME, NOT, UNSURE = 1, 0, -1
"""Labels of a character; what is unsure teaches nothing."""
_SLOT = re.compile(r"\{([a-z])\}")
_CAPITAL = re.compile(r"[A-ZÀ-Þ][\w'’\-]*")
_OFTEN = 4
"""Times that a word must stand in lower case before its capital is taken for the sentence's."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A text, and for each of its characters whether it belongs to a name."""

    text: str
    names: tuple[tuple[int, int], ...] = ()
    unsure: tuple[tuple[int, int], ...] = ()


@dataclass
class Names:
    """Draws names and what is none."""

    rng: random.Random
    fakers: dict[str, Faker] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fakers = {locale: Faker(locale) for locale in dict.fromkeys(LOCALES)}
        for faker in self.fakers.values():
            faker.seed_instance(self.rng.randrange(1 << 30))

    def pair(self) -> tuple[str, str]:
        """First and last name of one origin."""
        chance = self.rng.random()
        if chance < 0.07:
            return self.rng.choice(known.CHINESE_FIRST), self.rng.choice(known.CHINESE_LAST)
        if chance < 0.12:
            return self.rng.choice(known.ARABIC_FIRST), self.rng.choice(known.ARABIC_LAST)
        faker = self.fakers[self.rng.choice(LOCALES)]
        first, last = faker.first_name(), faker.last_name()
        if chance < 0.15:  # of mixed origin
            last = self.fakers[self.rng.choice(LOCALES)].last_name()
        return first, last

    def person(self) -> str:
        """In one of the forms in which people are called."""
        first, last = self.pair()
        initial = self.rng.choice("ABCDEFGHJKLMNPRSTW")
        form = self.rng.random()
        if form < 0.62:
            name = f"{first} {last}"
        elif form < 0.72:
            name = f"{first} {initial}{self.rng.choice(('.', '.', ''))} {last}"
        elif form < 0.77:
            name = f"{first} {self.pair()[0]} {last}"
        elif form < 0.81:
            name = f"{first[0]}. {last}"
        elif form < 0.85:
            name = f"{last}, {first}"
        elif form < 0.95:
            name = first
        else:
            name = last
        return name.upper() if self.rng.random() < 0.03 else name

    def other(self, kind: str) -> str:
        """What stands in a template's place of this kind and is no name."""
        rng, faker = self.rng, self.fakers["en_US"]
        made: dict[str, Callable[[], object]] = {
            "i": lambda: rng.choice(known.TITLES),
            "o": lambda: self._company(),
            "c": lambda: self._place(),
            "w": lambda: rng.choice(known.PRODUCTS),
            "g": lambda: rng.choice(known.PEOPLES),
            "b": lambda: self._phrase(),
            "j": lambda: rng.choice((str.lower, str))(faker.job().split(",")[0]),
            "a": lambda: self._local().street_address().replace("\n", rng.choice((" ", "\n"))),
            "e": faker.email,
            "t": lambda: self._local().phone_number(),
            "d": lambda: faker.date(rng.choice(("%Y-%m-%d", "%d/%m/%Y", "%B %d, %Y", "%d %b %Y"))),
            "n": lambda: rng.randrange(1, rng.choice((10, 100, 5000))),
            "m": lambda: rng.choice((faker.month_name, faker.day_of_week))(),
            "k": lambda: self.other(rng.choice("ocwwgbb")),
        }
        return str(made[kind]())

    def _local(self) -> Faker:
        return self.fakers[self.rng.choice(_WITH_ADDRESSES)]

    def _company(self) -> str:
        return self.fakers[self.rng.choice(("en_US", "en_GB", "de_DE", "en_US"))].company()

    def _place(self) -> str:
        if self.rng.random() < 0.55:
            return self.rng.choice(known.PLACES)
        faker = self.fakers[self.rng.choice(("en_US", "en_GB", "en_AU", "de_DE", "fr_FR", "es_ES"))]
        return self.rng.choice((faker.city, self.fakers["en_US"].country))()

    def _phrase(self) -> str:
        if self.rng.random() < 0.7:
            return self.rng.choice(known.THINGS)
        return self.fakers["en_US"].catch_phrase().title()


def made(rng: random.Random, count: int) -> Iterator[Marked]:
    """Sentences from the templates, one to three of them to a text."""
    names = Names(rng)
    for _ in range(count):
        parts = [_fill(rng.choice(TEMPLATES), names) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
        yield _joined(parts, rng.choice(("\n", " ", "\n\n")))


def _fill(template: str, names: Names) -> Marked:
    """One sentence. Last names alone come with their title or in a place for them."""
    text, spans, at = "", [], 0
    for slot in _SLOT.finditer(template):
        text += template[at : slot.start()].replace("{{", "{").replace("}}", "}")
        at, kind = slot.end(), slot[1]
        person = {"p": names.person, "f": lambda: names.pair()[0], "l": lambda: names.pair()[1]}
        value = person[kind]() if kind in person else names.other(kind)
        if kind in person:
            spans.append((len(text), len(text) + len(value)))
        text += value
    text += template[at:].replace("{{", "{").replace("}}", "}")
    return Marked(text.replace("\x00", "\n"), tuple(spans))


def _joined(parts: Sequence[Marked], between: str) -> Marked:
    text, spans = "", []
    for part in parts:
        text += between if text else ""
        spans += [(start + len(text), end + len(text)) for start, end in part.names]
        text += part.text
    return Marked(text, tuple(spans))


class Prompts:
    """Marks what people wrote: names that are sure, words that are sure to be none, the rest."""

    def __init__(self, texts: Sequence[str], rng: random.Random) -> None:
        self._rng = rng
        self._names = Names(rng)
        lower = Counter(
            text[start:end]
            for text in texts
            for start, end in words(text).spans
            if text[start:end].islower()
        )
        self._common = {word for word, times in lower.items() if times >= _OFTEN}
        english = [self._names.fakers[locale] for locale in ("en_US", "en_GB", "en_IN")]
        self._first = {faker.first_name() for faker in english for _ in range(8000)}
        self._last = {faker.last_name() for faker in english for _ in range(8000)}
        flat = " ".join((*known.PRODUCTS, *known.PEOPLES, *known.PLACES, *known.THINGS))
        self._none = set(_CAPITAL.findall(flat))
        faker = self._names.fakers["en_US"]
        self._none |= {faker.month_name() for _ in range(200)}
        self._none |= {faker.day_of_week() for _ in range(200)}

    def mark(self, text: str) -> Marked:
        """Of each capitalised word one of the three."""
        spans = words(text).spans
        names: list[tuple[int, int]] = []
        unsure: list[tuple[int, int]] = []
        for start, end in spans:
            sure = self._label(text[start:end], after_name=_follows(text, names, start))
            if sure == NAME and _follows(text, names, start):
                names[-1] = (names[-1][0], end)
            elif sure == NAME:
                names.append((start, end))
            elif sure == UNSURE:
                unsure.append((start, end))
        return Marked(text, tuple(names), tuple(unsure))

    def _label(self, word: str, *, after_name: bool) -> int:
        if not _CAPITAL.fullmatch(word) or (len(word) == 1):
            return NOT
        common, first = word.lower() in self._common, word in self._first
        if first and not common and word not in self._none:
            return NAME
        if after_name and word in self._last and not common:
            return NAME
        if first or after_name or word in self._last:
            return UNSURE
        sure = common or word in self._none or word.isupper() or not word[1:].islower()
        return NOT if sure else UNSURE

    def exchanged(self, marked: Marked) -> Marked:
        """With other names in the places of its own, each always by the same."""
        others: dict[str, str] = {}
        whole = self._rng.random() < 0.35
        text, spans, unsure, at = "", [], [], 0
        cuts = sorted((*((*s, True) for s in marked.names), *((*s, False) for s in marked.unsure)))
        for start, end, is_name in cuts:
            text += marked.text[at:start]
            old = marked.text[start:end]
            if is_name and old not in others:
                pair = self._names.pair()
                others[old] = " ".join(pair) if whole or " " in old else pair[0]
            new = others[old] if is_name else old
            (spans if is_name else unsure).append((len(text), len(text) + len(new)))
            text, at = text + new, end
        return Marked(text + marked.text[at:], tuple(spans), tuple(unsure))


def _follows(text: str, names: Sequence[tuple[int, int]], start: int) -> bool:
    return bool(names) and text[names[-1][1] : start] == " "


def labelled(path: Path, *, half: int | None = None) -> Iterator[Marked]:
    """Lines `{text, spans: [{start, end, type}]}`; of both halves of their templates, or of one.

    A line's template is its text without the values, so that no sentence is in both halves.
    """
    with path.open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            spans = sorted(line["spans"], key=lambda span: span["start"])
            if half is None or _half(line["text"], spans) == half:
                names = [(s["start"], s["end"]) for s in spans if s["type"] == "PERSON"]
                yield Marked(line["text"], tuple(names))


def _half(text: str, spans: Iterable[dict[str, int]]) -> int:
    for span in reversed(list(spans)):
        text = f"{text[: span['start']]}*{text[span['end'] :]}"
    letters = re.sub(r"[\W\d_]+", "", text.lower())
    return sum(letters.encode()) % 2


def refilled(marked: Marked, names: Names) -> Marked:
    """The same sentence about others."""
    text, spans, at = "", [], 0
    for start, end in sorted(marked.names):
        first, last = names.pair()
        new = f"{first} {last}" if " " in marked.text[start:end] else names.rng.choice((first, last))
        text += marked.text[at:start]
        spans.append((len(text), len(text) + len(new)))
        text, at = text + new, end
    return Marked(text + marked.text[at:], tuple(spans))
