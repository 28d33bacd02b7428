"""Language questions: each takes its own answer, none takes a wrong one."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridge.pipeline.quiz.checks import (
    Check,
    Choice,
    Exact,
    Holds,
    Label,
    Listed,
    Number,
    YesNo,
)
from hybridge.pipeline.quiz.language import KINDS, questions

ONE_LANGUAGE = {"forms", "idioms", "measure_words", "characters", "pinyin", "poems"}
ALL = tuple(questions(1))


def right_answers(check: Check) -> tuple[str, ...]:
    match check:
        case Exact() | Holds():
            return check.any_of
        case Label():
            return (check.label, f"Answer: {check.label}.")
        case YesNo():
            return ("Yes.", "是的。") if check.yes else ("No.", "不是。", "否")
        case Number():
            return (f"{check.value:g}", f"It is {check.value:g}.")
        case Choice():
            return (check.letter, f"{check.letter}. {check.words}", f"It is {check.words}")
        case Listed():
            return (", ".join(check.items), "、".join(check.items))
    raise AssertionError(check)


def wrong_answers(check: Check) -> tuple[str, ...]:
    match check:
        case Label():
            return check.others
        case YesNo():
            return ("No", "否", "不是") if check.yes else ("Yes", "是", "是的")
        case Number():
            return (f"{check.value + 1:g}", "none")
        case Choice():
            return tuple(letter for letter in "ABCD" if letter != check.letter)
        case Listed():
            return (", ".join((*check.items, "zebra")), check.items[0] + "x")
    return ("zzz", "无可奉陪", "")


def test_every_question_takes_its_own_answers() -> None:
    assert [(q.text, a) for q in ALL for a in right_answers(q.check) if not q.accepts(a)] == []


def test_no_question_takes_a_wrong_answer() -> None:
    assert [(q.text, a) for q in ALL for a in wrong_answers(q.check) if q.accepts(a)] == []


def test_a_question_with_a_mistake_in_it_does_not_take_its_own_text() -> None:
    kinds = {"spelling", "grammar", "characters", "translation", "forms", "antonyms", "idioms"}
    same = {"sheep", "deer", "cut"}  # these do not change
    assert [
        q.text
        for q in ALL
        if q.kind in kinds and isinstance(q.check, Holds) and q.accepts(q.text)
        if not same & set(q.check.any_of)
    ] == []


def test_texts_are_unique_and_short() -> None:
    assert len({q.key for q in ALL}) == len(ALL)
    words = [len(re.findall(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+|[^\w\s]", q.text)) for q in ALL]
    assert max(words) <= 110
    assert sum(count > 80 for count in words) <= len(ALL) / 20
    assert all(6 <= q.max_tokens <= 40 for q in ALL)
    assert not [q.text for q in ALL if q.text != q.text.strip() or re.search(r"[{}@]", q.text)]


def test_both_languages_have_enough_of_every_kind() -> None:
    counts = Counter((q.kind, q.language) for q in ALL)
    for kind in KINDS:
        assert max(counts[kind, "en"], counts[kind, "zh"]) >= 16, kind
        assert kind in ONE_LANGUAGE or min(counts[kind, "en"], counts[kind, "zh"]) >= 14, kind
    assert min(Counter(q.language for q in ALL).values()) >= 1750


def test_shared_items_lie_in_one_fold() -> None:
    capitals: dict[str, set[int]] = {}
    for q in ALL:
        if q.kind == "capitals":
            capitals.setdefault(q.topic, set()).add(q.fold)
    assert all(len(folds) == 1 for folds in capitals.values())
    assert set(Counter(q.fold for q in ALL)) == set(range(10))


def test_labels_to_choose_from_stand_in_the_question() -> None:
    kinds = ("intent", "news_topic", "emotion", "category", "synonyms", "odd_one_out", "keyword")
    for q in ALL:
        if q.kind in kinds and isinstance(q.check, Label):
            assert all(one in q.text.casefold() for one in (q.check.label.casefold(),)), q.text


@settings(max_examples=2, deadline=None)
@given(st.integers(0, 10_000))
def test_a_seed_always_makes_the_same_questions(seed: int) -> None:
    first, second = tuple(questions(seed)), tuple(questions(seed))
    assert [a.text for a, b in zip(first, second, strict=True) if a != b] == []
    assert [q.text for q in first if not q.accepts(right_answers(q.check)[0])] == []


@pytest.mark.parametrize(
    ("answer", "yes"),
    [
        ("Yes, it is.", True),
        ("No, whales are mammals.", False),
        ("It cannot fly.", False),
        ("That isn't right.", False),
        ("True", True),
        ("是的，太阳是恒星。", True),
        ("不是。", False),
        ("鲸鱼不是鱼。", False),
        ("没错", True),
        ("没有。", False),
        ("非洲的埃及，是的。", True),
        ("不会，鸵鸟不能飞。", False),
        ("这是错误的。", False),
        ("答案：对", True),
        ("不对", False),
        ("能", True),
    ],
)
def test_yes_and_no_are_told_apart(answer: str, yes: bool) -> None:
    assert YesNo(yes=yes).accepts(answer)
    assert not YesNo(yes=not yes).accepts(answer)


def test_an_answer_that_says_neither_yes_nor_no_is_wrong_both_ways() -> None:
    assert not YesNo(yes=True).accepts("Perhaps.")
    assert not YesNo(yes=False).accepts("地球围绕太阳转动")


@pytest.mark.parametrize(
    "answer",
    ["B", "答案是 B", "(B) Paris", "The correct answer is B.", "The answer is **B. Paris**", "答案是B",
     "正确选项是B。", "Paris", "The capital of France is Paris.", "选B"],
)  # fmt: skip
def test_a_choice_is_its_letter_or_its_words(answer: str) -> None:
    assert Choice(letter="B", words="Paris").accepts(answer)
    assert not Choice(letter="C", words="Rome").accepts(answer)


def test_words_that_start_with_an_article_are_no_letter() -> None:
    assert Choice(letter="C", words="dolphin").accepts("A dolphin")
    assert not Choice(letter="B", words="shark").accepts("A dolphin")


def test_what_leads_up_to_an_answer_is_taken_off_only_before_an_answer() -> None:
    assert Holds(any_of=("翻译",)).accepts("翻译")
    assert not Holds(any_of=("翻译",)).accepts("口译")
    assert Exact(any_of=("好",)).accepts("答案：好")
    assert Exact(any_of=("翻译家",)).accepts("翻译家")
    assert not Exact(any_of=("家",)).accepts("翻译家")
    assert Exact(any_of=("don't stop",)).accepts("The correct answer is: Don’t stop.")
