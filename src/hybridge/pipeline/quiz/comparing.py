"""Which is larger, longer, first in the alphabet."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from hybridge.pipeline.quiz.checks import Holds, Label, Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.vocabulary import LONG_WORDS, NOUNS
from hybridge.pipeline.quiz.wording import NO, YES, Wordings

KIND = "comparing"
LARGER = Wordings(
    en=(
        "Which is larger, {a} or {b}?",
        "{a} or {b}: which number is bigger?",
        "Which one is greater: {a} or {b}?",
        "Tell me the larger number of {a} and {b}.",
        "Help me out, is {a} or {b} the bigger one?",
    ),
    zh=(
        "{a}和{b}哪个大？",
        "{a}与{b}，较大的是哪个？",
        "比较大小，写出较大的数：{a}，{b}",
        "请问{a}和{b}谁更大？",
    ),
    form="number",
)
SMALLER = Wordings(
    en=(
        "Which is smaller, {a} or {b}?",
        "Pick the lower number: {a} or {b}.",
        "What is less, {a} or {b}?",
    ),
    zh=("{a}和{b}哪个小？", "{a}与{b}中较小的是哪个？", "选出较小的数：{a}，{b}"),
    form="number",
)
IS_LARGER = Wordings(
    en=(
        "Is {a} larger than {b}?",
        "Is {a} more than {b}?",
        "Would you say that {a} is greater than {b}?",
    ),
    zh=("{a}比{b}大吗？", "{a}是不是大于{b}？", "请问{a}大于{b}吗？"),
    form="yesno",
)
EXTREME = {
    max: Wordings(
        en=("find the largest number", "pick the biggest number", "give me the maximum"),
        zh=("找出最大的数", "选出最大的数字", "求最大值"),
        form="number",
    ),
    min: Wordings(
        en=("find the smallest number", "pick the lowest number", "give me the minimum"),
        zh=("找出最小的数", "选出最小的数字", "求最小值"),
        form="number",
    ),
}
LONGEST = Wordings(
    en=(
        "find the longest word",
        "pick the word with the most letters",
        "tell me which word is longest",
    ),
    zh=("找出最长的英文单词", "选出字母最多的单词", "说出哪个单词最长"),
    form="word",
)
ALPHABET = Wordings(
    en=(
        "pick the word that comes first in the alphabet",
        "find the word that would come first in a dictionary",
        "say which word is first in alphabetical order",
    ),
    zh=(
        "找出按字母顺序排在最前的单词",
        "选出字典里排在最前面的单词",
        "说出按字母表顺序排第一的单词",
    ),
    form="word",
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end; decimals, negatives and fractions are the hard ones."""
    while True:
        for draw in (_two, _fractions, _whether, _extreme, _word):
            yield from draw(rng)


def _number(rng: random.Random) -> float:
    return rng.choice(
        (
            rng.randint(10, 9999),
            rng.randint(100, 999) / 100,
            rng.randint(10, 99) / 10,
            -rng.randint(1, 60),
        )
    )


def _close(rng: random.Random) -> tuple[float, float]:
    a = _number(rng)
    whole = int(a)
    near = rng.choice((a + 9, a - 1, float(f"{whole}.{rng.randint(1, 99)}"), _number(rng), -a))
    return (a, round(near, 2)) if round(near, 2) != a else (a, a + 10)


def _two(rng: random.Random) -> Iterator[Question]:
    a, b = _close(rng)
    pick, wordings = rng.choice(((max, LARGER), (min, SMALLER)))
    right, wrong = (f"{one:g}" for one in ((a, b) if pick(a, b) == a else (b, a)))
    # a number that holds the other is told by its value, else by being named first
    inside = right in wrong or wrong in right
    check = Number(pick(a, b)) if inside else Label(right, (wrong,))
    yield from wordings.ask(rng, KIND, f"{a:g} {b:g}", check, a=f"{a:g}", b=f"{b:g}")


def _fractions(rng: random.Random) -> Iterator[Question]:
    pick, wordings = rng.choice(((max, LARGER), (min, SMALLER)))
    while True:
        a, b = (Fraction(rng.randint(1, 8), rng.randint(2, 9)) for _ in "ab")
        if a != b and a.denominator > 1 and b.denominator > 1:
            break
    right = pick(a, b)
    yield from wordings.ask(
        rng,
        KIND,
        f"{a} {b}",
        Label(f"{right}", (f"{a if right == b else b}",)),
        form="text",
        a=a,
        b=b,
    )


def _whether(rng: random.Random) -> Iterator[Question]:
    a, b = _close(rng)
    check = YES if a > b else NO
    yield from IS_LARGER.ask(rng, KIND, f"{a:g} {b:g}", check, 12, a=f"{a:g}", b=f"{b:g}")


def _extreme(rng: random.Random) -> Iterator[Question]:
    pick = rng.choice((max, min))
    numbers = list({_number(rng) for _ in range(rng.choice((3, 4, 6, 9)))})
    rng.shuffle(numbers)
    item = ", ".join(f"{number:g}" for number in numbers)
    yield from EXTREME[pick].ask(rng, KIND, item, Number(pick(numbers)), item=item)


def _word(rng: random.Random) -> Iterator[Question]:
    long = rng.random() < 0.5
    size = rng.choice((3, 4, 6))
    while True:
        words = rng.sample([*(noun for noun, _ in NOUNS), *LONG_WORDS], size)
        ranked = sorted(words, key=lambda word: -len(word)) if long else sorted(words)
        if not long or len(ranked[0]) > len(ranked[1]):
            break
    check = Holds(tuple(ranked[:1]), tuple(ranked[1:]))
    item = ", ".join(words)
    yield from (LONGEST if long else ALPHABET).ask(rng, KIND, item, check, item=item)
