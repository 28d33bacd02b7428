"""Questions made up by code: many, different, and each with an answer that its check knows."""

import contextlib
import io
import json
import random
import re
import sqlite3
from collections import Counter, defaultdict
from datetime import date, timedelta
from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridge.pipeline.quiz import (
    arithmetic,
    checks,
    chinese_numerals,
    code_reading,
    numerals,
    queries,
)
from hybridge.pipeline.quiz.generated import KINDS, few, questions

ALL = tuple(questions(11))
SOME = random.Random(4).sample(ALL, 700)
"""Enough of every kind for what takes its time."""


def said(check: checks.Check) -> str:
    """The right answer in plain words."""
    match check:
        case checks.Number(value):
            words = f"{value:.10g}"
        case checks.Ratio(top, bottom):
            words = f"{top}/{bottom}" if bottom > 1 else str(top)
        case checks.Verbatim(words) | checks.Label(words):
            pass
        case checks.Listed(items):
            words = ", ".join(items)
        case checks.JsonIs(value):
            words = json.dumps(value)
        case checks.Matches(pattern):
            words = "\n".join(re.findall(r"- [a-z\u4e00-\u9fff]+", pattern))
        case _:
            words = check.any_of[0]
    return words


@pytest.mark.parametrize(
    "wrap",
    [
        "{}",
        "{}.",
        "Answer: {}",
        "The answer is {}.",
        "答案是{}。",
        "**{}**",
        "```\n{}\n```",
        " {}\n",
    ],
)
def test_the_right_answer_is_accepted_bare_and_in_its_usual_wraps(wrap: str) -> None:
    refused = [one.text for one in SOME if not one.accepts(_wrapped(wrap, one.check))]
    assert refused == []


def _wrapped(wrap: str, check: checks.Check) -> str:
    # JSON and Markdown are formats: what stands around them breaks them, a fence apart
    strict = isinstance(check, checks.JsonIs | checks.Matches) and wrap not in {
        " {}\n",
        "```\n{}\n```",
    }
    return ("{}" if strict else wrap).format(said(check))


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I do not know.",
        "Sorry, I cannot help.",
        "我不知道",
        "抱歉，我无法回答。",
        "[]",
        "{}",
        "98765432101",
        "qqq",
    ],
)
def test_what_is_no_answer_is_refused(answer: str) -> None:
    assert [one.text for one in SOME if one.accepts(answer)] == []


def test_the_answer_to_another_question_of_the_kind_is_refused_as_a_rule() -> None:
    kinds = defaultdict(list)
    for one in SOME:
        kinds[one.kind, one.language].append(one)
    for same in kinds.values():
        pairs = zip(same, same[1:] + same[:1], strict=True)
        taken = sum(one.accepts(said(other.check)) for one, other in pairs)
        assert taken <= len(same) * 0.35


def test_the_question_said_back_is_no_answer() -> None:
    echoed = [one.text for one in SOME if one.accepts(one.text)]
    assert len(echoed) < len(SOME) * 0.08


def test_there_are_enough_of_each_language_and_no_text_twice() -> None:
    languages = Counter(one.language for one in ALL)
    assert set(languages) == {"en", "zh"}
    assert min(languages.values()) >= 1250
    assert len({one.text for one in ALL}) == len({one.key for one in ALL}) == len(ALL)


def test_each_kind_has_as_many_as_it_says() -> None:
    found = Counter((one.kind, one.language) for one in ALL)
    assert found == {
        (kind, side): count for kind, (_, count) in KINDS.items() for side in ("en", "zh")
    }
    assert all(one.topic for one in ALL)


def test_wordings_vary_within_a_kind() -> None:
    openings = defaultdict(set)
    for one in ALL:
        openings[one.kind, one.language].add(re.sub(r"[\d.]+", "0", one.text)[:12])
    assert min(map(len, openings.values())) >= 8


def test_topics_are_shared_between_the_languages() -> None:
    sides = defaultdict(set)
    for one in ALL:
        sides[one.kind, one.topic].add(one.language)
    assert sum(len(each) == 2 for each in sides.values()) > len(sides) * 0.8


def test_prompts_are_short() -> None:
    """In words and Chinese characters, which are about as many as tokens."""
    sizes = sorted(len(re.findall(r"[a-zA-Z]+|[^\sa-zA-Z]", one.text)) for one in ALL)
    assert sizes[len(sizes) // 2] <= 40
    assert sizes[int(len(sizes) * 0.95)] <= 90
    assert sizes[-1] <= 160
    assert all(8 <= one.max_tokens <= 64 for one in ALL)


def test_every_fold_has_its_share() -> None:
    folds = Counter(one.fold for one in ALL)
    assert min(folds[fold] for fold in range(10)) > len(ALL) * 0.06


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(sorted(KINDS)))
def test_a_seed_gives_the_same_questions_and_each_accepts_its_own_answer(
    seed: int, kind: str
) -> None:
    draw = KINDS[kind][0]
    once, again = (list(few(draw, random.Random(seed), 20)) for _ in "ab")
    assert once == again
    assert len({one.text for one in once}) == len(once) == 40
    assert all(one.kind == kind and one.accepts(said(one.check)) for one in once)


def test_another_seed_gives_other_questions() -> None:
    others = {one.text for one in questions(12)}
    assert len(others & {one.text for one in ALL}) < len(ALL) * 0.2


@given(st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_sums_come_out_as_python_counts_them(seed: int) -> None:
    for one in islice(arithmetic.questions(random.Random(seed)), 20):
        assert one.accepts(f"{eval(one.topic):g}")


@given(st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_code_prints_what_the_check_expects(seed: int) -> None:
    for one in islice(code_reading.questions(random.Random(seed)), 14):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(one.topic, {})
        assert one.accepts(printed.getvalue()), one.text


@given(st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_queries_return_what_the_check_expects(seed: int) -> None:
    for one in islice(queries.questions(random.Random(seed)), 12):
        if one.topic.startswith("users("):
            _, *rows, query = one.topic.split("\n")
            with contextlib.closing(sqlite3.connect(":memory:")) as base:
                base.execute("CREATE TABLE users (name, age INTEGER, city)")
                base.executemany(
                    "INSERT INTO users VALUES (?, ?, ?)", [row.split(", ") for row in rows]
                )
                found = [str(value) for (value,) in base.execute(query)]
            assert one.accepts(", ".join(found)), one.text


@given(st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_a_sequence_follows_one_rule(seed: int) -> None:
    for one in islice(KINDS["sequences"][0](random.Random(seed)), 30):
        if re.fullmatch(r"(\d+, ){4}\d+", one.topic):
            a = [*map(int, one.topic.split(", ")), int(one.check.value)]
            steps = [y - x for x, y in pairwise(a)]
            assert (
                len({y - x for x, y in pairwise(steps)}) == 1  # straight or square
                or all(a[1] * x == a[0] * y for x, y in pairwise(a))
                or all(x + y == z for x, y, z in zip(a, a[1:], a[2:], strict=False))
                or len({z - x for x, z in zip(a, a[2:], strict=False)}) == 1  # by turns
            ), one.text


def test_patterns_match_what_they_are_said_to_match() -> None:
    for pattern, matching, others in queries.PATTERNS:
        assert all(re.fullmatch(pattern, text) for text in matching)
        assert not any(re.fullmatch(pattern, text) for text in others)


@given(st.integers(0, 2**32))
@settings(max_examples=5, deadline=None)
def test_dates_are_those_of_the_calendar(seed: int) -> None:
    for one in islice(KINDS["dates"][0](random.Random(seed)), 40):
        found = re.fullmatch(r"(\d{4}-\d{2}-\d{2}) (\d+)", one.topic)
        if found and isinstance(one.check, checks.Holds):
            assert one.accepts(str(date.fromisoformat(found[1]) + timedelta(int(found[2]))))


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (10, "十"), (17, "十七"), (20, "二十"), (105, "一百零五"), (110, "一百一十"), (1002, "一千零二"),
        (1020, "一千零二十"), (2300, "二千三百"), (10_000, "一万"), (10_500, "一万零五百"),
        (101_000, "十万一千"), (1_230_045, "一百二十三万零四十五"), (3_000_007, "三百万零七"),
    ],
)  # fmt: skip
def test_chinese_numbers_are_read_as_in_chinese(number: int, expected: str) -> None:
    assert chinese_numerals.chinese(number) == expected


@pytest.mark.parametrize(
    ("number", "expected"), [(4, "IV"), (49, "XLIX"), (944, "CMXLIV"), (2026, "MMXXVI")]
)
def test_roman_numerals(number: int, expected: str) -> None:
    assert numerals.roman(number) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [(13, "thirteen"), (40, "forty"), (85, "eighty-five"), (907, "nine hundred seven"),
     (6021, "six thousand twenty-one")],
)  # fmt: skip
def test_english_number_words(number: int, expected: str) -> None:
    assert numerals.spelt(number) == expected
