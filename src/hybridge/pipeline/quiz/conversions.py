"""Units of length, weight, volume, time, temperature and data."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.wording import Wordings

KIND = "conversions"
WORDINGS = Wordings(
    en=(
        "Convert {n} {a} to {b}.",
        "How many {b} are {n} {a}?",
        "{n} {a} is how many {b}?",
        "{n} {a} in {b}?",
        "Please convert {n} {a} into {b}.",
        "Express {n} {a} in {b}.",
        "I need {n} {a} in {b}, can you help?",
        "What is {n} {a} in {b}?",
        "{n} {a} = ? {b}",
        "Can you tell me how many {b} there are in {n} {a}?",
    ),
    zh=(
        "{n}{a}等于多少{b}？",
        "把{n}{a}换算成{b}。",
        "{n}{a}是多少{b}？",
        "{n}{a} = ？{b}",
        "请将{n}{a}换算为{b}。",
        "帮我换算一下，{n}{a}合多少{b}？",
        "{n}{a}用{b}表示是多少？",
        "想问一下{n}{a}有多少{b}？",
        "单位换算：{n}{a}=（　）{b}",
        "你好，{n}{a}换成{b}是几？",
    ),
    form="number",
)
LARGE_TO_SMALL = (
    *(
        (("kilometres", "公里"), ("metres", "米"), 1000),
        (("metres", "米"), ("centimetres", "厘米"), 100),
    ),
    *(
        (("centimetres", "厘米"), ("millimetres", "毫米"), 10),
        (("kilograms", "千克"), ("grams", "克"), 1000),
    ),
    *(
        (("tonnes", "吨"), ("kilograms", "千克"), 1000),
        (("litres", "升"), ("millilitres", "毫升"), 1000),
    ),
    *((("hours", "小时"), ("minutes", "分钟"), 60), (("minutes", "分钟"), ("seconds", "秒"), 60)),
    *((("days", "天"), ("hours", "小时"), 24), (("weeks", "周"), ("days", "天"), 7)),
    *((("hours", "小时"), ("seconds", "秒"), 3600), (("feet", "英尺"), ("inches", "英寸"), 12)),
    *((("yards", "码"), ("feet", "英尺"), 3), (("years", "年"), ("months", "个月"), 12)),
    *((("square metres", "平方米"), ("square centimetres", "平方厘米"), 10_000),),
    *((("hectares", "公顷"), ("square metres", "平方米"), 10_000),),
    *(
        (("kilometres", "千米"), ("centimetres", "厘米"), 100_000),
        (("dozen", "打"), ("pieces", "个"), 12),
    ),
)
"""The larger unit, the smaller one, and how many of the smaller make the larger."""
CHINESE = (
    ("斤", "克", 500),
    ("公斤", "斤", 2),
    ("斤", "两", 10),
    ("里", "米", 500),
    ("亩", "分", 10),
)
"""Units that only Chinese questions use."""


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end: whole numbers, halves, and back from the smaller unit."""
    while True:
        yield from rng.choice((_down, _down, _up, _mixed, _temperature, _chinese))(rng)


def _asked(
    rng: random.Random, n: float, a: tuple[str, str], b: tuple[str, str], value: float
) -> Iterator[Question]:
    yield from WORDINGS.ask(rng, KIND, f"{n:g} {a[0]} {b[0]}", Number(value), n=f"{n:g}", a=a, b=b)


def _down(rng: random.Random) -> Iterator[Question]:
    large, small, factor = rng.choice(LARGE_TO_SMALL)
    n = rng.choice((rng.randint(2, 12), rng.randint(13, 90), rng.randint(1, 30) + 0.5))
    yield from _asked(rng, n, large, small, n * factor)


def _up(rng: random.Random) -> Iterator[Question]:
    large, small, factor = rng.choice(LARGE_TO_SMALL)
    n = rng.choice((rng.randint(2, 25), rng.randint(1, 9) + 0.5))
    yield from _asked(rng, n * factor, small, large, n)


def _mixed(rng: random.Random) -> Iterator[Question]:
    large, small, factor = rng.choice(LARGE_TO_SMALL[:9])
    n, rest = rng.randint(1, 9), rng.randint(1, factor - 1)
    both = tuple(
        f"{large[side]}{(' and ', '')[side]}{rest}{(' ', '')[side]}{small[side]}" for side in (0, 1)
    )
    yield from _asked(rng, n, (both[0], both[1]), small, n * factor + rest)


def _temperature(rng: random.Random) -> Iterator[Question]:
    celsius = rng.randrange(-20, 105, 5)
    scales = ("degrees Celsius", "摄氏度"), ("degrees Fahrenheit", "华氏度")
    if rng.random() < 0.5:
        yield from _asked(rng, celsius, *scales, celsius * 9 // 5 + 32)
    else:
        yield from _asked(rng, celsius * 9 // 5 + 32, *scales[::-1], celsius)


def _chinese(rng: random.Random) -> Iterator[Question]:
    large, small, factor = rng.choice(CHINESE)
    n = rng.randint(2, 40)
    a, b, n, value = rng.choice(((large, small, n, n * factor), (small, large, n * factor, n)))
    yield from WORDINGS.ask(rng, KIND, f"{n} {a} {b}", Number(value), only="zh", n=str(n), a=a, b=b)
