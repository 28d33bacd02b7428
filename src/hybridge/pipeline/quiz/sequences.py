"""What comes next, and what is missing."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from hybridge.pipeline.quiz.checks import Exact, Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.wording import Wordings

KIND = "sequences"
NEXT = Wordings(
    en=(
        "What number comes next: {s}, ?",
        "Continue the sequence with one number: {s}, ...",
        "{s}, ... what is the next number?",
        "Find the next term: {s}",
        "Can you guess what follows {s}?",
        "{s}, __ . Fill in the blank.",
        "Look at these numbers: {s}. Which one should come next?",
        "Next in the series {s}?",
    ),
    zh=(
        "找规律，下一个数是几：{s}，？",
        "{s}，……后面是什么数？",
        "按规律填数：{s}，（　）",
        "数列{s}的下一项是多少？",
        "请问{s}接下来是哪个数？",
        "观察数列 {s}，写出下一个数。",
        "{s}，__，空格里填几？",
        "帮我看看{s}后面应该是几？",
    ),
    form="number",
)
MISSING = Wordings(
    en=(
        "Which number is missing: {s}?",
        "Fill in the missing number: {s}",
        "{s}: what belongs in the gap?",
    ),
    zh=("缺少的数是几：{s}？", "按规律在空格里填数：{s}", "{s}，空缺处应该填几？"),
    form="number",
)
LETTER = Wordings(
    en=("Which letter comes next: {s}, ?", "Continue with one letter: {s}, ..."),
    zh=("下一个字母是什么：{s}，？", "按规律写出下一个字母：{s}"),
    form="text",
)
TERM = Wordings(
    en=(
        "A sequence starts at {a} and each term is {d} more. What is term number {n}?",
        "Start at {a} and keep adding {d}. What is the {n}th number?",
    ),
    zh=("数列首项是{a}，每项比前一项大{d}，第{n}项是多少？", "从{a}开始每次加{d}，第{n}个数是几？"),
    form="number",
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    while True:
        for draw in (_next, _next, _missing, _next, _letter, _term):
            yield from draw(rng)


def _terms(rng: random.Random) -> list[int]:
    """Six terms of one of nine rules."""
    a, d = rng.randint(1, 30), rng.randint(2, 12)
    step, easy = rng.choice((2, 3)), rng.choice((1, 2, 5, 10))
    fibonacci = [rng.randint(1, 5), rng.randint(2, 9)]
    for _ in range(4):
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    return rng.choice((
        [a + d * i for i in range(6)],
        [d * i for i in range(1, 7)],
        [a + easy * i for i in range(6)],
        [150 + a - d * i for i in range(6)],
        [(a % 6 + 1) * step**i for i in range(6)],
        [(i + d) ** 2 for i in range(6)],
        [a + d * i + i * (i + 1) // 2 for i in range(6)],
        [(a, a + d)[i % 2] + i // 2 * step for i in range(6)],
        fibonacci,
    ))  # fmt: skip


def _said(terms: Sequence[object]) -> tuple[str, str]:
    return ", ".join(map(str, terms)), "，".join(map(str, terms))


def _next(rng: random.Random) -> Iterator[Question]:
    terms = _terms(rng)
    said = _said(terms[:-1])
    yield from NEXT.ask(rng, KIND, said[0], Number(terms[-1]), s=said)


def _missing(rng: random.Random) -> Iterator[Question]:
    terms = _terms(rng)
    gap = rng.randint(1, 4)
    said = _said([*terms[:gap], "__", *terms[gap + 1 :]])
    yield from MISSING.ask(rng, KIND, said[0], Number(terms[gap]), s=said)


def _letter(rng: random.Random) -> Iterator[Question]:
    step = rng.choice((1, 2, 3, -1))
    start = rng.randrange(5, 13)
    letters = [chr(ord("A") + start + step * i) for i in range(5)]
    said = _said(letters[:-1])
    yield from LETTER.ask(
        rng, KIND, said[0], Exact((letters[-1], f"next letter is {letters[-1]}")), 12, s=said
    )


def _term(rng: random.Random) -> Iterator[Question]:
    a, d, n = rng.randint(1, 20), rng.randint(2, 9), rng.randint(5, 20)
    yield from TERM.ask(rng, KIND, f"{a} {d} {n}", Number(a + d * (n - 1)), a=a, d=d, n=n)
