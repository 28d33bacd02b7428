"""Texts with the names in them marked: what the model for names is taught and measured with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hybridge.pipeline.name_draws import Draws

Span = tuple[int, int]
TEMPLATES = tuple(
    line.replace("\\n", "\n").replace("\\t", "\t")
    for line in (Path(__file__).parent / "assets" / "name_templates.txt")
    .read_text(encoding="utf-8")
    .splitlines()
)
"""Sentences with places to fill, with names and without. `{p}` a person in any form, `{f}` a first
name, `{l}` a last name. The others are never names: `{i}` a title, `{o}` company, `{c}` place,
`{w}` product, `{g}` people or language, `{b}` another capitalised phrase, `{k}` any of these five;
`{j}` job, `{a}` street address, `{e}` e-mail, `{t}` telephone, `{d}` date, `{n}` number, `{m}`
weekday or month. `{{` and `}}` stand for braces."""
_SLOT = re.compile(r"\{([a-z])\}|\{\{|\}\}")


@dataclass(frozen=True, slots=True)
class Marked:
    """A text, the names in it, and the words that may be names: those teach nothing."""

    text: str
    names: tuple[Span, ...] = ()
    unsure: tuple[Span, ...] = ()


def made(draws: Draws, count: int) -> Iterator[Marked]:
    """Texts of one to three filled templates."""
    for _ in range(count):
        parts = draws.rng.choice((1, 1, 1, 2, 3))
        filled = [fill(draws.rng.choice(TEMPLATES), draws) for _ in range(parts)]
        yield _joined(filled, draws.rng.choice(("\n", " ", "\n\n")))


def fill(template: str, draws: Draws) -> Marked:
    """One sentence."""
    persons: dict[str, Callable[[], str]] = {
        "p": draws.person,
        "f": lambda: draws.pair()[0],
        "l": lambda: draws.pair()[1],
    }
    text, names, at = "", [], 0
    for slot in _SLOT.finditer(template):
        text += template[at : slot.start()]
        at, kind = slot.end(), slot[1]
        if kind is None:
            value = slot[0][0]
        elif kind in persons:
            value = persons[kind]()
            names.append((len(text), len(text) + len(value)))
        else:
            value = draws.other(kind)
        text += value
    return Marked(text + template[at:], tuple(names))


def _joined(parts: Sequence[Marked], between: str) -> Marked:
    text, names = "", []
    for part in parts:
        text += between if text else ""
        names += [(start + len(text), end + len(text)) for start, end in part.names]
        text += part.text
    return Marked(text, tuple(names))


def exchanged(marked: Marked, new: Callable[[str], str]) -> Marked:
    """The same about others: `new` says who stands for whom."""
    text, names, unsure, at = "", list[Span](), list[Span](), 0
    for start, end in sorted((*marked.names, *marked.unsure)):
        is_name, old = (start, end) in marked.names, marked.text[start:end]
        text += marked.text[at:start]
        word = new(old) if is_name else old
        (names if is_name else unsure).append((len(text), len(text) + len(word)))
        text, at = text + word, end
    return Marked(text + marked.text[at:], tuple(names), tuple(unsure))


def labelled(path: Path, *, half: int | None = None) -> Iterator[Marked]:
    """Lines `{text, spans: [{start, end, type}]}`, with both halves of their templates or one.

    A line's template is its text without the values, so that no sentence is in both halves.
    """
    with path.open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            spans = sorted(line["spans"], key=lambda span: span["start"])
            if half is None or _half(line["text"], spans) == half:
                names = [(span["start"], span["end"]) for span in spans if span["type"] == "PERSON"]
                yield Marked(line["text"], tuple(names))


def _half(text: str, spans: Sequence[dict[str, Any]]) -> int:
    for span in reversed(spans):
        text = f"{text[: span['start']]}*{text[span['end'] :]}"
    letters = re.sub(r"[\W\d_]+", "", text.lower())
    return sum(letters.encode()) % 2
