"""What a judge is shown, and which of its words count (R21)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.request import Feature, Message, Request
from hybridge.learning.judging import LONGEST, Case, Verdict, question, verdict

ORDERS = pytest.mark.parametrize("edge_first", [True, False], ids=["edge first", "cloud first"])


def case(edge: str = "one", cloud: str = "other", *turns: Message, **more) -> Case:
    messages = turns or (Message("system", "Be brief."), Message("user", "Why?"))
    return Case(Request(id="r", model="auto", messages=messages, body={}, **more), edge, cloud)


@ORDERS
@pytest.mark.parametrize("word", ["SAME", "same", " Same.\n", "**SAME**", "`same`", '"Same"'])
def test_same_is_the_same_in_any_order(word, edge_first):
    assert verdict(word, edge_first=edge_first) is Verdict.SAME


@pytest.mark.parametrize(
    ("word", "first", "second"),
    [("A", Verdict.EDGE, Verdict.CLOUD), ("[[B]]", Verdict.CLOUD, Verdict.EDGE)],
)
def test_a_letter_means_whoever_stood_there(word, first, second):
    assert verdict(word, edge_first=True) is first
    assert verdict(word, edge_first=False) is second


@pytest.mark.parametrize(
    "word",
    [
        "",
        "C",
        "AB",
        "A or B",
        "A is better",
        "Answer A",
        '{"verdict": "A"}',
        "SAME SAME",
        "TIE",
        "Ä",
    ],
)
def test_nothing_else_is_a_verdict(word):
    assert verdict(word, edge_first=True) is None


@given(st.text())
def test_any_text_is_one_of_three_words_or_none(word):
    found = verdict(word, edge_first=True)
    assert (found is not None) == any(
        word.strip(" \t\r\n\"'`*_.[]()").upper() == known for known in ("A", "B", "SAME")
    )


@ORDERS
@given(st.text(), st.text(), st.text())
def test_it_sees_everything_once_and_as_it_is(edge_first, asked, edge, cloud):
    shown = case(edge, cloud, Message("user", asked))
    rules, put = question(shown, "mark", edge_first=edge_first)
    first, second = (edge, cloud) if edge_first else (cloud, edge)
    parts = f"mark ANSWER A\n{first}\nmark ANSWER B\n{second}\nmark END\n"
    assert put.text.startswith(f"mark CONVERSATION\n[user]\n{asked}\n{parts}")
    assert (rules.role, put.role) == ("system", "user")
    assert "mark" in rules.text


def test_nothing_tells_which_answer_is_whose():
    told = "".join(turn.text for turn in question(case(), "mark", edge_first=True)).lower()
    assert not any(word in told for word in ("edge", "cloud", "local", "small"))


def test_what_text_cannot_show_is_not_put_before_it():
    assert case().fit
    assert case("x" * (LONGEST - 100)).fit
    assert not case("x" * LONGEST).fit
    assert not case(features=frozenset({Feature.TOOLS})).fit
    assert not case("one", "other", Message("user", "What is this?", images=1)).fit
    assert not case("one", "other", Message("assistant", tool_calls=1), Message("tool", "4")).fit
