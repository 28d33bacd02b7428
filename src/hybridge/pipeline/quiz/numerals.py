"""Roman numerals, binary, octal and hexadecimal numbers, numbers in words."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from hybridge.pipeline.quiz.checks import Check, Exact, Holds, Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.wording import Wordings

KIND = "numerals"
FROM = Wordings(
    en=(
        "What is the {name} {s} in decimal?",
        "Convert the {name} {s} to an ordinary decimal number.",
        "Which decimal number is {s} ({name})?",
        "{s} is a {name}. What is it in base ten?",
        "I came across the {name} {s}, what number is that?",
    ),
    zh=(
        "{name}{s}等于十进制的多少？",
        "把{name}{s}转换成十进制数。",
        "{name}{s}表示哪个数？",
        "请问{name}{s}是多少？",
    ),
    form="number",
)
TO = Wordings(
    en=(
        "Write {s} as a {name}.",
        "Convert {s} to a {name}.",
        "How do you write {s} as a {name}?",
        "Give me {s} as a {name}, please.",
    ),
    zh=(
        "把{s}写成{name}。",
        "将十进制数{s}转换为{name}。",
        "{s}用{name}怎么写？",
        "请问{s}的{name}是什么？",
    ),
)
SPELL = Wordings(
    en=(
        "Write the number {s} in English words.",
        "Spell out {s} in words.",
        "How is {s} written in English words?",
    ),
    zh=("数字{s}用英文怎么写？", "把{s}写成英文单词。", "用英语单词拼写{s}。"),
)
READ = Wordings(
    en=("Write this number in digits: {s}", "Which number is {s}?", "{s}, in digits?"),
    zh=("英文{s}是哪个数？", "把英文数字写成阿拉伯数字：{s}", "{s}用数字怎么写？"),
    form="number",
)
ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    while True:
        for draw in (_roman, _base, _words, _roman, _base):
            yield from draw(rng)


def roman(n: int) -> str:
    """`n` from 1 to 3999 as a Roman numeral."""
    said = ""
    for value, sign in ROMAN:
        said += sign * (n // value)
        n %= value
    return said


def spelt(n: int) -> str:
    """`n` below ten thousand in English words, without `and`."""
    if n < 20:
        return UNITS[n]
    if n < 100:
        return TENS[n // 10 - 2] + (f"-{UNITS[n % 10]}" if n % 10 else "")
    size, name = (1000, "thousand") if n >= 1000 else (100, "hundred")
    return f"{spelt(n // size)} {name}" + (f" {spelt(n % size)}" if n % size else "")


SYSTEMS: tuple[tuple[tuple[str, str], Callable[[int], str], int], ...] = (
    (("Roman numeral", "罗马数字"), roman, 3000),
    (("binary number", "二进制数"), lambda n: f"{n:b}", 64),
    (("hexadecimal number", "十六进制数"), lambda n: f"{n:X}", 600),
    (("octal number", "八进制数"), lambda n: f"{n:o}", 200),
)
"""What a numeral is called, how it is written, and up to where it is asked for."""


def _roman(rng: random.Random) -> Iterator[Question]:
    yield from _either(
        rng, 0, rng.choice((rng.randint(2, 20), rng.randint(21, 99), rng.randint(100, 2999)))
    )


def _base(rng: random.Random) -> Iterator[Question]:
    which = rng.choice((1, 1, 2, 2, 3))
    yield from _either(
        rng, which, rng.choice((rng.randint(10, 20), rng.randint(10, SYSTEMS[which][2])))
    )


def _either(rng: random.Random, which: int, n: int) -> Iterator[Question]:
    name, write, _ = SYSTEMS[which]
    topic = f"{name[0]} {n}"
    if rng.random() < 0.55:
        yield from FROM.ask(rng, KIND, topic, Number(n), s=write(n), name=name)
    else:
        yield from TO.ask(rng, KIND, topic, _written(which, write(n)), s=n, name=name)


def _written(which: int, said: str) -> Check:
    if which == 0:
        return Holds((said,))
    before = {1: "0b", 2: "0x", 3: "0o"}[which]
    wraps = (said, before + said, f"{before}{said:0>8}", f"{said:0>8}", f"{said:0>4}")
    return Holds(tuple(dict.fromkeys(wraps)))


def _words(rng: random.Random) -> Iterator[Question]:
    n = rng.choice((rng.randint(13, 99), rng.randint(100, 999), rng.randint(1000, 9999)))
    said = spelt(n)
    if rng.random() < 0.6:
        yield from READ.ask(rng, KIND, f"words {n}", Number(n), s=said)
        return
    with_and = said.replace("hundred ", "hundred and ")
    thousand = with_and.replace("thousand ", "thousand and ") if n % 1000 < 100 else with_and
    ways = {each.replace("-", dash) for each in (said, with_and, thousand) for dash in "- "}
    commas = {each.replace("thousand ", "thousand, ") for each in ways}
    check = Exact(tuple(sorted(ways | commas)))
    yield from SPELL.ask(rng, KIND, f"words {n}", check, 32, s=n)
