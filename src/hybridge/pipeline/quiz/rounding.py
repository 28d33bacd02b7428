"""Numbers rounded to a place, and rounded sums."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal

from hybridge.pipeline.quiz.checks import Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.wording import Wordings

KIND = "rounding"
PLACES: tuple[tuple[tuple[str, str], Decimal], ...] = (
    (("the nearest whole number", "整数"), Decimal(1)),
    (("one decimal place", "一位小数"), Decimal("0.1")),
    (("two decimal places", "两位小数"), Decimal("0.01")),
)
LARGE_PLACES: tuple[tuple[tuple[str, str], Decimal], ...] = (
    (("the nearest ten", "十位"), Decimal(10)),
    (("the nearest hundred", "百位"), Decimal(100)),
    (("the nearest thousand", "千位"), Decimal(1000)),
)
ROUND = Wordings(
    en=(
        "Round {n} to {p}.",
        "What is {n} rounded to {p}?",
        "Please round {n} to {p}.",
        "{n}, rounded to {p}?",
        "Could you give me {n} rounded to {p}?",
    ),
    zh=(
        "把{n}四舍五入到{p}。",
        "{n}四舍五入到{p}是多少？",
        "请将{n}四舍五入保留到{p}。",
        "{n}精确到{p}约是多少？",
    ),
    form="number",
)
DIVIDE = Wordings(
    en=(
        "What is {a} / {b}, rounded to {p}?",
        "Divide {a} by {b} and round to {p}.",
        "{a} divided by {b}, to {p}?",
    ),
    zh=(
        "{a}除以{b}，四舍五入到{p}是多少？",
        "计算{a} ÷ {b}，结果保留到{p}。",
        "{a}/{b}四舍五入到{p}等于几？",
    ),
    form="number",
)
ESTIMATE = Wordings(
    en=(
        "Round both numbers to the nearest {p}, then {do}: {a} and {b}.",
        "Estimate: round {a} and {b} to the nearest {p} first and then {do}.",
    ),
    zh=(
        "把{a}和{b}都四舍五入到{p}位，再{do}，得多少？",
        "估算：先将{a}和{b}四舍五入到{p}位，然后{do}。",
    ),
    form="number",
)
WHOLE = Wordings(
    en=("Round {n} {way} to a whole number.", "What is {n} rounded {way} to the nearest integer?"),
    zh=("把{n}{way}取整是多少？", "{n}{way}取整等于几？"),
    form="number",
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    while True:
        for draw in (_small, _large, _divide, _estimate, _whole):
            yield from draw(rng)


def rounded(value: Decimal, place: Decimal) -> float:
    """Half up, as taught at school."""
    return float((value / place).quantize(Decimal(1), ROUND_HALF_UP) * place)


def _small(rng: random.Random) -> Iterator[Question]:
    name, place = rng.choice(PLACES)
    n = Decimal(rng.randint(1000, 999_999)) / rng.choice((1000, 10_000))
    yield from ROUND.ask(rng, KIND, f"{n} {place}", Number(rounded(n, place)), n=f"{n:f}", p=name)


def _large(rng: random.Random) -> Iterator[Question]:
    name, place = rng.choice(LARGE_PLACES)
    n = rng.randint(int(place) * 2, 99_999)
    check = Number(rounded(Decimal(n), place))
    yield from ROUND.ask(rng, KIND, f"{n} {place}", check, n=n, p=name)


def _divide(rng: random.Random) -> Iterator[Question]:
    a, b = rng.randint(10, 300), rng.choice((3, 6, 7, 9, 11, 12))
    name, place = rng.choice(PLACES)
    check = Number(rounded(Decimal(a) / b, place))
    yield from DIVIDE.ask(rng, KIND, f"{a}/{b} {place}", check, a=a, b=b, p=name)


def _estimate(rng: random.Random) -> Iterator[Question]:
    name, place = rng.choice(((("ten", "十"), Decimal(10)), (("hundred", "百"), Decimal(100))))
    low, high = int(place) * 2, int(place) * 9
    a, b = rng.randint(low, high), rng.randint(low, high)
    left, right = rounded(Decimal(a), place), rounded(Decimal(b), place)
    do, value = rng.choice(((("add", "相加"), left + right), (("multiply", "相乘"), left * right)))
    yield from ESTIMATE.ask(rng, KIND, f"{a} {do[0]} {b}", Number(value), a=a, b=b, p=name, do=do)


def _whole(rng: random.Random) -> Iterator[Question]:
    n, up = Decimal(rng.randint(1001, 99_999)) / 100, rng.random() < 0.5
    down = float(n.quantize(Decimal(1), ROUND_FLOOR))
    way, value = (("up", "向上"), down + (n != int(n))) if up else (("down", "向下"), down)
    yield from WHOLE.ask(rng, KIND, f"{n} {way[0]}", Number(value), n=f"{n:f}", way=way)
