"""What a small SQL query returns, and what a regular expression matches."""

# ruff: noqa: S608 (the queries are read by a model and run by nobody)
from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from hybridge.pipeline.quiz.checks import Check, Holds, Listed, Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.vocabulary import NAMES
from hybridge.pipeline.quiz.wording import NO, YES, Wordings

KIND = "queries"
SQL = Wordings(
    en=(
        "What does the SQL query return? Only the value(s).\n{item}",
        "Give the result of this query, nothing else.\n{item}",
        "Run this SQL in your head. Just the result.\n{item}",
        "Please read the table and the query and tell me only the result.\n{item}",
        "{item}\nResult of the query? Values only, with commas if there are several.",
    ),
    zh=(
        "SQL查询返回什么？只写值。\n{item}",
        "给出查询结果，不要解释。\n{item}",
        "看表和查询，直接回答结果。\n{item}",
        "请问下面的SQL查出什么？只要结果。\n{item}",
        "{item}\n查询结果是？只写值，多个用逗号隔开。",
    ),
    form="none",
)
REGEX = Wordings(
    en=(
        'Does the regex {p} match the whole string "{s}"?',
        'Is "{s}" a full match for the regular expression {p}?',
        'Regex {p}, input "{s}": full match?',
        'Would re.fullmatch(r"{p}", "{s}") succeed?',
    ),
    zh=(
        "正则表达式 {p} 能完整匹配“{s}”吗？",
        "字符串“{s}”能被正则 {p} 完全匹配吗？",
        '正则 {p}，输入 "{s}"，是否完全匹配？',
        're.fullmatch(r"{p}", "{s}") 能匹配成功吗？',
    ),
    form="yesno",
)
PATTERNS: tuple[tuple[str, Sequence[str], Sequence[str]], ...] = (
    (r"\d+", ("7", "2024", "00", "583"), ("12a", "a1", "3.5", "4 5", "-9")),
    (r"\d{3}", ("123", "904", "000"), ("12", "1234", "12a")),
    (r"[a-z]+", ("cat", "hello", "x"), ("Cat", "cat1", "two words", "a-b")),
    (r"[A-Z][a-z]*", ("Tom", "A", "Hello"), ("tom", "TOM", "Tom2")),
    (r"a.c", ("abc", "a-c", "a1c"), ("ac", "abbc", "abd")),
    (r"ab*", ("a", "ab", "abbb"), ("b", "aab", "abc")),
    (r"ab+", ("ab", "abbb"), ("a", "abab", "b")),
    (r"colou?r", ("color", "colour"), ("colouur", "colr", "colors")),
    (r"cat|dog", ("cat", "dog"), ("catdog", "cats", "ca")),
    (r"(ab)+", ("ab", "abab", "ababab"), ("aba", "a", "abb")),
    (r"\w+@\w+\.com", ("joe@site.com", "a@b.com"), ("joe@site.org", "@site.com", "joe.site.com")),
    (r"[^0-9]+", ("abc", "x-y"), ("abc1", "9", "a2b")),
    (
        r"\d{4}-\d{2}-\d{2}",
        ("2024-01-31", "1999-12-01"),
        ("24-01-31", "2024-1-3", "2024/01/31"),
    ),
    (r"#[0-9a-f]{6}", ("#00ff7f", "#123abc"), ("#12g45f", "00ff7f", "#fff")),
    (r"-?\d+", ("-5", "12", "0"), ("--5", "5-", "-")),
)
"""A pattern, what it matches whole, and what it does not."""


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end for SQL; a pattern with each string in several wordings."""
    while True:
        for draw in (_sql, _sql, _regex):
            yield from draw(rng)


def _regex(rng: random.Random) -> Iterator[Question]:
    pattern, matching, others = rng.choice(PATTERNS)
    right = rng.random() < 0.5
    text = rng.choice(matching if right else others)
    check = YES if right else NO
    yield from REGEX.ask(rng, KIND, f"{pattern} {text}", check, 12, p=pattern, s=text)


def _sql(rng: random.Random) -> Iterator[Question]:
    people = rng.sample([pair[0] for pair in NAMES], rng.choice((3, 3, 4)))
    rows = [(name, rng.randint(18, 60), rng.choice(("Rome", "Oslo", "Lima"))) for name in people]
    query, result = rng.choice(_queries(rng, rows))
    if result in ([], None):
        return
    table = "\n".join(f"{name}, {age}, {city}" for name, age, city in rows)
    item = f"users(name, age, city):\n{table}\n{query}"
    yield from SQL.ask(rng, KIND, item, _check(result, people), 32, item=item)


def _check(result: Any, people: Sequence[str]) -> Check:
    if isinstance(result, int):
        return Number(result)
    if len(result) == 1:
        return Holds(tuple(result), tuple(name for name in people if name != result[0]))
    return Listed(tuple(result), ordered=False)


def _queries(rng: random.Random, rows: list[tuple[str, int, str]]) -> list[tuple[str, Any]]:
    city, name, n = rng.choice(rows)[2], rng.choice(rows)[0], rng.choice(rows)[1]
    ages = {row[0]: row[1] for row in rows}
    living = [row for row in rows if row[2] == city]
    oldest = [row[0] for row in rows if row[1] == max(ages.values())]
    return [
        ("SELECT COUNT(*) FROM users;", len(rows)),
        (f"SELECT COUNT(*) FROM users WHERE city = '{city}';", len(living)),
        (f"SELECT age FROM users WHERE name = '{name}';", ages[name]),
        ("SELECT MAX(age) FROM users;", max(ages.values())),
        (f"SELECT MIN(age) FROM users WHERE city = '{city}';", min(row[1] for row in living)),
        (f"SELECT SUM(age) FROM users WHERE city = '{city}';", sum(row[1] for row in living)),
        (f"SELECT name FROM users WHERE age > {n};", [row[0] for row in rows if row[1] > n]),
        (f"SELECT name FROM users WHERE city = '{city}';", [row[0] for row in living]),
        ("SELECT name FROM users ORDER BY age DESC LIMIT 1;", oldest if len(oldest) == 1 else None),
        ("SELECT COUNT(DISTINCT city) FROM users;", len({row[2] for row in rows})),
    ]
