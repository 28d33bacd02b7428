"""Sums of one to four digits, and expressions of several steps."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.wording import Wordings

KIND = "arithmetic"
WORDINGS = Wordings(
    en=(
        "What is {item}?",
        "Calculate {item}.",
        "{item} = ?",
        "{item} =",
        "How much is {item}?",
        "Can you work out {item} for me?",
        "Please compute {item}.",
        "I forgot my calculator, what does {item} make?",
        "Compute the value of this expression: {item}",
        "Solve: {item}",
        "hey quick question, {item}?",
        "evaluate the expression",
        "work out this sum",
    ),
    zh=(
        "{item}等于多少？",
        "计算：{item}",
        "{item} = ？",
        "请算一下 {item}。",
        "{item}是多少？",
        "帮我算算{item}，谢谢！",
        "口算：{item}",
        "求{item}的值。",
        "手边没有计算器，{item}得多少？",
        "你好，请问{item}等于几？",
        "计算下面的式子",
        "算出下式的结果",
    ),
    form="number",
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end: two fifths easy, as many of middle size, the rest of several steps."""
    while True:
        text, value = rng.choice((_easy, _easy, _middle, _middle, _hard))(rng)
        signs = rng.choice((("*", "/"), ("×", "÷"), ("x", "/"), ("*", "/")))
        shown = text.replace("*", signs[0]).replace("/", signs[1])
        if rng.random() < 0.2:
            shown = shown.replace(" ", "")
        yield from WORDINGS.ask(rng, KIND, text, Number(value), 24, item=shown)


def _easy(rng: random.Random) -> tuple[str, int]:
    a, b = rng.randint(2, 30), rng.randint(2, 20)
    if rng.random() < 0.5:
        return _sum(a, rng.choice("+-"), b)
    return _sum(rng.randint(2, 12), "*", rng.randint(2, 12))


def _middle(rng: random.Random) -> tuple[str, int]:
    sign = rng.choice("++--*/")
    if sign == "*":
        return _sum(rng.randint(11, 99), sign, rng.randint(3, 25))
    if sign == "/":
        b, c = rng.randint(3, 15), rng.randint(6, 60)
        return f"{b * c} / {b}", c
    return _sum(rng.randint(50, 999), sign, rng.randint(20, 899))


def _hard(rng: random.Random) -> tuple[str, int]:
    a, b, c, d = (rng.randint(3, 40) for _ in range(4))
    return rng.choice(
        (
            (f"{a} + {b} * {c}", a + b * c),
            (f"({a} + {b}) * {c}", (a + b) * c),
            (f"{a} * {b} - {c} * {d}", a * b - c * d),
            (f"{a * 97 + b} + {c * 83 + d}", a * 97 + b + c * 83 + d),
            (f"{a * 211} - {b * 97 + c}", a * 211 - b * 97 - c),
            (f"{a * 9 + 7} * {b * 7 + 4}", (a * 9 + 7) * (b * 7 + 4)),
            (f"{a * b} / {b} + {c} - {d}", a + c - d),
            (f"{a} - ({b} - {c}) * {d % 6 + 2}", a - (b - c) * (d % 6 + 2)),
            (f"{a % 9 + 2} * {b % 9 + 2} * {c % 9 + 2}", (a % 9 + 2) * (b % 9 + 2) * (c % 9 + 2)),
        )
    )


def _sum(a: int, sign: str, b: int) -> tuple[str, int]:
    return f"{a} {sign} {b}", {"+": a + b, "-": a - b, "*": a * b}[sign]
