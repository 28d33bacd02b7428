"""Words and the names made of them: whatever the text, and whatever a model says of it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hybridge.privacy.name_spans import may_name, name_spans
from hybridge.privacy.word_traits import ROWS, TRAITS, words

ANYTHING = st.text(max_size=200) | st.text("Aa Bb.'’-王\n\x1f@,_Éß1\ud800", max_size=80)
CHANCES = st.lists(st.floats(0, 1), min_size=3, max_size=3)


def parts(text: str) -> list[str]:
    return [text[start:end] for start, end in words(text).spans]


def test_words_are_cut_where_names_are() -> None:
    assert parts("O'Brien's Jean-Paul, J. 王伟Anna a_b 12x") == [
        *("O'Brien", "'s", "Jean-Paul", ",", "J", ".", "王伟", "Anna", "a", "_", "b", "12", "x"),
    ]  # fmt: skip


@given(ANYTHING)
def test_words_are_all_that_is_no_space_in_order(text: str) -> None:
    seen = words(text)
    assert "".join(parts(text)) == "".join(text.split())
    assert all(one[1] <= other[0] for one, other in pairwise(seen.spans))
    assert all(start < end for start, end in seen.spans)
    assert len(seen.traits) == len(seen.spans)
    assert all(len(rows) == TRAITS and 0 <= min(rows) <= max(rows) < ROWS for rows in seen.traits)


def test_a_word_is_seen_by_itself_and_by_what_stands_before_it() -> None:
    first, middle = words("Anna met Anna").traits[::2]
    assert sum(one != other for one, other in zip(first, middle, strict=True)) == 1


@given(ANYTHING, st.data())
def test_names_lie_in_the_text_apart_from_each_other_and_look_like_names(
    text: str, data: st.DataObject
) -> None:
    spans = words(text).spans
    chances = data.draw(st.lists(CHANCES, min_size=len(spans), max_size=len(spans)))
    names = list(name_spans(text, spans, chances, 0.5))
    assert all(one[1] <= other[0] for one, other in pairwise(names))
    for start, end in names:
        assert 0 <= start < end <= len(text)
        assert "\n" not in text[start:end]
        assert "\x1f" not in text[start:end]
    assert not names or may_name(text)


def test_what_begins_goes_on_until_something_else_begins() -> None:
    text = "Anna Miller and Tom\nLee\x1fBob"
    begins, goes_on, outside = (0.0, 0.9, 0.1), (0.0, 0.1, 0.9), (1.0, 0.0, 0.0)
    chances = [begins, goes_on, outside, begins, goes_on, goes_on]
    names = [text[a:b] for a, b in name_spans(text, words(text).spans, chances, 0.5)]
    assert names == ["Anna Miller", "Tom", "Lee", "Bob"]


def test_a_name_ends_with_its_letters() -> None:
    text = "Miller, J. Anna, Tom王伟 Bob"
    goes_on = (0.0, 0.1, 0.9)
    chances = [(0.0, 0.9, 0.1), *[goes_on] * (len(words(text).spans) - 1)]
    names = [text[a:b] for a, b in name_spans(text, words(text).spans, chances, 0.5)]
    assert names == ["Miller, J. Anna, Tom", "Bob"]
    assert [text[a:b] for a, b in name_spans(text, words(text).spans[:6], chances[:6], 0.5)] == [
        "Miller, J. Anna"
    ]


def test_parts_of_addresses_and_code_are_no_names() -> None:
    for text in ("Anna@example.org", "x@Anna.org", "Anna_Id", "x/Anna", "Anna(1)", "SQL", "anna"):
        spans = words(text).spans
        assert not list(name_spans(text, spans, [(0.0, 1.0, 0.0)] * len(spans), 0.5)), text
