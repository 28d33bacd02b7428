"""Fractions, percentages, decimals and remainders."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from hybridge.pipeline.quiz.checks import Number, Ratio
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.wording import Wordings

KIND = "fractions"
SUM = Wordings(
    en=("What is {s}?", "Calculate {s}.", "{s} = ?", "Work out {s}, please.", "Add up: {s}"),
    zh=("{s}等于多少？", "计算 {s}。", "{s} = ？", "请算一下{s}。", "帮我算：{s}"),
    form="fraction",
)
LOWEST = Wordings(
    en=("Simplify {s}.", "Write {s} in lowest terms.", "Can you reduce the fraction {s}?"),
    zh=("把{s}化成最简分数。", "约分：{s}", "{s}约分后是多少？"),
    form="fraction",
)
PERCENT = Wordings(
    en=(
        "What is {p}% of {n}?",
        "Find {p} percent of {n}.",
        "How much is {p}% of {n}?",
        "{p}% of {n} =",
        "Hi, could you tell me what {p}% of {n} comes to?",
    ),
    zh=("{n}的{p}%是多少？", "求{n}的百分之{p}。", "{n}的{p}%等于几？", "计算：{n} × {p}%"),
    form="number",
)
OFF = Wordings(
    en=(
        "A coat costs {n} and is {p}% off. What is the new price?",
        "{n} goes up by {p}%. What is the new value?",
    ),
    zh=("一件外套{n}元，降价{p}%后是多少元？", "{n}增加{p}%后是多少？"),
    form="number",
)
SHARE = Wordings(
    en=(
        "{a} is what percent of {n}?",
        "What percentage of {n} is {a}?",
        "{a} out of {n}, in percent?",
    ),
    zh=("{a}是{n}的百分之几？", "{a}占{n}的百分之多少？", "{n}里的{a}占百分之几？"),
    form="number",
)
DECIMAL = Wordings(
    en=(
        "Write {s} as a decimal.",
        "Convert {s} to a decimal number.",
        "What is {s} in decimal form?",
    ),
    zh=("把{s}写成小数。", "{s}化成小数是多少？", "{s}用小数怎么表示？"),
    form="number",
)
REMAINDER = Wordings(
    en=(
        "What is the remainder when {n} is divided by {a}?",
        "{n} mod {a}?",
        "{n} divided by {a} leaves what?",
    ),
    zh=("{n}除以{a}的余数是几？", "{n} mod {a} 等于多少？", "用{n}除以{a}，余几？"),
    form="number",
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    while True:
        for draw in (_sum, _lowest, _percent, _changed, _share, _decimal, _remainder):
            yield from draw(rng)


def _sum(rng: random.Random) -> Iterator[Question]:
    bottoms = rng.choice(((2, 4), (3, 3), (5, 5), (3, 6), (4, 8), (2, 3), (3, 4), (4, 6), (5, 7)))
    one, two = (Fraction(rng.randint(1, bottom - 1), bottom) for bottom in bottoms)
    sign = rng.choice("++-*")
    value = {"+": one + two, "-": abs(one - two), "*": one * two}[sign]
    if sign == "-" and one < two:
        one, two = two, one
    said = f"{one} {sign} {two}"
    check = Ratio(value.numerator, value.denominator)
    yield from SUM.ask(rng, KIND, said, check, s=said)


def _lowest(rng: random.Random) -> Iterator[Question]:
    bottom, times = rng.randint(3, 13), rng.randint(2, 9)
    value = Fraction(rng.randint(1, bottom - 1), bottom)
    said = f"{value.numerator * times}/{value.denominator * times}"
    yield from LOWEST.ask(rng, KIND, said, Ratio(value.numerator, value.denominator), s=said)


def _percent(rng: random.Random) -> Iterator[Question]:
    p, n = rng.choice((10, 20, 25, 50, 5, 15, 30, 35, 75, 12)), rng.randint(1, 40) * 20
    yield from PERCENT.ask(rng, KIND, f"{p}% of {n}", Number(p * n / 100), p=p, n=n)


def _changed(rng: random.Random) -> Iterator[Question]:
    p, n, down = rng.randrange(5, 65, 5), rng.randint(2, 40) * 20, rng.random() < 0.5
    one = (
        Wordings(OFF.en[:1], OFF.zh[:1], OFF.form)
        if down
        else Wordings(OFF.en[1:], OFF.zh[1:], OFF.form)
    )
    value = n * (100 - p if down else 100 + p) / 100
    yield from one.ask(
        rng, KIND, f"{n} {'off' if down else 'up'} {p}%", Number(value), 32, p=p, n=n
    )


def _share(rng: random.Random) -> Iterator[Question]:
    n, p = rng.choice((20, 25, 40, 50, 80, 120, 200, 400)), rng.randrange(5, 100, 5)
    a = n * p // 100
    value = 100 * a / n
    yield from SHARE.ask(rng, KIND, f"{a} of {n}", Number(value, 0.01), a=a, n=n)


def _decimal(rng: random.Random) -> Iterator[Question]:
    bottom = rng.choice((2, 4, 5, 8, 10, 16, 20, 25))
    top = rng.randint(1, 2 * bottom - 1)
    yield from DECIMAL.ask(rng, KIND, f"{top}/{bottom}", Number(top / bottom), s=f"{top}/{bottom}")


def _remainder(rng: random.Random) -> Iterator[Question]:
    n, a = rng.randint(10, 300), rng.randint(3, 13)
    yield from REMAINDER.ask(rng, KIND, f"{n} mod {a}", Number(n % a), n=n, a=a)
