"""The questions that confidence is fitted on: enough of them, and judged strictly."""

from __future__ import annotations

from collections import Counter

import pytest

from hybridge.pipeline.questions import Question, questions


def test_there_are_enough_of_both_languages_and_always_the_same() -> None:
    every = questions()
    assert min(Counter(q.language for q in every).values()) > 100
    assert every == questions()
    assert [q.text for q in every] != [q.text for q in questions(seed=8)]


@pytest.mark.parametrize(
    ("question", "answer", "right"),
    [
        (Question("", "en", "sum", ("42",)), "23 + 19 = 42.", True),
        (Question("", "en", "sum", ("42",)), "42 is not it, but 41", False),
        (Question("", "en", "sum", ("-8",)), "The result is -8", True),
        (Question("", "en", "yes_no", ("no",), ("yes",)), '"No, it cannot.', True),
        (Question("", "zh", "yes_no", ("不", "否"), ("是",)), "是的，会飞。", False),
        (Question("", "en", "sentiment", ("positive",), ("negative",)), "Positive", True),
        (Question("", "en", "sentiment", ("positive",), ("negative",)), "positive/negative", False),
        (Question("", "en", "fact", ("7", "seven")), "There are 17.", False),
        (Question("", "zh", "capital", ("巴黎",)), "法国的首都是巴黎。", True),
        (Question("", "en", "fact", ("Au",)), "It is aurum.", False),
    ],
)
def test_right_and_wrong(question: Question, answer: str, right: bool) -> None:
    assert question.accepts(answer) is right


def test_no_question_is_answered_by_its_own_echo() -> None:
    answered = [q.text for q in questions() if q.accepts(q.text)]
    assert answered == []
