"""Phrases are found as if every row of every table were searched for one by one."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from hybridge.routing import sign_words, signs, task_words, tasks
from hybridge.routing.phrases import Phrases, Row, Span
from hybridge.routing.spotting import Spotter

TABLES: dict[str, tuple[Row, ...]] = {
    **task_words.WORDS,
    **sign_words.WORDS,
    "maths": sign_words.MATHS,
    "amount": sign_words.AMOUNT,
    "in turn": sign_words.IN_TURN,
}
PHRASES = {name: Phrases(rows) for name, rows in TABLES.items()}
SPOTTER = Spotter(word for phrases in PHRASES.values() for word in phrases.words)


def words_of(row: Row) -> list[str]:
    return [word for gate in row[0].split(" & ") for word in gate.split("|")]


def spans(row: Row, text: str) -> list[Span]:
    """The plain way: the words gate a search of the whole text."""
    gates = [gate.split("|") for gate in row[0].split(" & ")]
    if not all(any(word in text for word in gate) for gate in gates):
        return []
    if row[1] is None:
        return [(text.find(w), text.find(w) + len(w)) for w in gates[-1] if w in text]
    match = whole(row, text)
    return [match.span()] if match else []


def whole(row: Row, text: str) -> re.Match[str] | None:
    pattern = "".join(part or "" for part in row[1:])
    return re.search(pattern, text, re.ASCII | re.MULTILINE)


def literals(pattern: str) -> list[str]:
    """Pieces of a pattern that are likely to occur in a text that it matches."""
    return re.findall(r"[a-z][a-z ]*[a-z]|[\u3040-\u9fff\uac00-\ud7af]+", pattern)


PIECES = sorted({
    piece
    for rows in TABLES.values()
    for row in rows
    for piece in (*words_of(row), *literals("".join(part or "" for part in row[1:])))
})  # fmt: skip
JOINTS = [" ", " ", "", "\n", ", ", ". ", "? ", ": ", "。", " the ", "12", "¤", "("]
texts = st.lists(st.sampled_from(PIECES) | st.sampled_from(JOINTS), max_size=24).map("".join)


@given(texts)
def test_every_table_finds_what_a_plain_loop_finds(text: str) -> None:
    said = SPOTTER.spot(text)
    for name, phrases in PHRASES.items():
        found = [span for row in TABLES[name] for span in spans(row, text)]
        assert phrases.occur(said) is bool(found), name
        assert phrases.find(said) == min(found, default=None), name


@given(texts)
def test_where_a_pattern_matches_its_words_are_there(text: str) -> None:
    """Words that only save time, before `&` and of rows with a `rest`, leave nothing out."""
    for rows in TABLES.values():
        for row in rows:
            if len(row) == 3 and whole(row, text):
                assert spans(row, text), row[0]


def test_the_earliest_wins_and_of_two_there_the_shortest() -> None:
    phrases = Phrases([("bc|b", None), ("zz & cd|d", "", "d+"), ("x", "x+")])
    spotter = Spotter(phrases.words)
    assert phrases.find(spotter.spot("abcdd")) == (1, 2)
    assert phrases.find(spotter.spot("xx abc")) == (0, 2)
    assert phrases.find(spotter.spot("dd")) is None
    assert phrases.find(spotter.spot("dd zz")) == (0, 2)


@given(texts | st.text())
def test_spotting_is_looking_for_every_word(text: str) -> None:
    vocabulary = signs.VOCABULARY | tasks.VOCABULARY
    spotted = Spotter(vocabulary).spot(text)
    assert spotted.words == {word for word in vocabulary if word in text}


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=6), st.text())
def test_any_words_can_be_spotted(words: list[str], text: str) -> None:
    for said in (text, text.join(words), "".join(words)):
        assert Spotter(words).spot(said).words == {word for word in words if word in said}
