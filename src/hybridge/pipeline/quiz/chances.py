"""Probability, choices and combinations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from math import comb, factorial

from hybridge.pipeline.quiz.checks import Number, Ratio
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.wording import Wordings

KIND = "chances"
BAG = Wordings(
    en=(
        "A bag holds {a} red and {b} blue balls. What is the probability of drawing a red one?",
        "There are {a} red and {b} blue marbles in a box. Chance of picking red?",
        "{a} red socks and {b} blue socks are in a drawer. How likely is it to grab a red one?",
    ),
    zh=(
        "袋里有{a}个红球和{b}个蓝球，摸到红球的概率是多少？",
        "盒子里有{a}颗红珠、{b}颗蓝珠，任取一颗是红的概率？",
        "抽屉里有{a}只红袜子和{b}只蓝袜子，随便拿一只是红的可能性有多大？",
    ),
    form="fraction",
)
DIE = Wordings(
    en=(
        "A fair die is numbered 1 to {n}. What is the probability of rolling more than {k}?",
        "One of the numbers 1 to {n} is drawn at random. How likely is a number above {k}?",
    ),
    zh=(
        "一个{n}面骰子标有1到{n}，掷出大于{k}的概率是多少？",
        "从1到{n}中随机抽一个数，大于{k}的概率是多少？",
    ),
    form="fraction",
)
COINS = Wordings(
    en=(
        "What is the chance of getting {n} heads in {n} fair coin tosses?",
        "I toss a fair coin {n} times. Probability that all are heads?",
    ),
    zh=("抛{n}次硬币，全是正面的概率是多少？", "连续抛{n}次均匀硬币都是正面，概率是几分之几？"),
    form="fraction",
)
OUTFITS = Wordings(
    en=(
        "{a} shirts, {b} trousers and {c} hats: how many different outfits with one of each?",
        "A menu has {a} starters, {b} mains and {c} desserts. How many different meals are there?",
    ),
    zh=(
        "{a}件上衣、{b}条裤子、{c}顶帽子，各选一件有几种搭配？",
        "菜单有{a}种前菜、{b}种主菜、{c}种甜点，各点一种共有几种选法？",
    ),
    form="number",
)
CHOOSE = Wordings(
    en=(
        "In how many ways can {k} people be chosen out of {n}?",
        "How many teams of {k} can be made from {n} players?",
    ),
    zh=("从{n}个人中选{k}个，有多少种选法？", "{n}名队员选{k}名组队，共有几种组合？"),
    form="number",
)
QUEUE = Wordings(
    en=(
        "In how many orders can {n} people stand in a line?",
        "How many ways are there to arrange {n} different books on a shelf?",
    ),
    zh=("{n}个人排成一队有多少种排法？", "{n}本不同的书排在书架上，有几种排法？"),
    form="number",
)
PIN = Wordings(
    en=(
        "How many codes of {n} digits (0-9, repeats allowed) exist?",
        "A lock has {n} wheels with {k} symbols each. How many combinations?",
    ),
    zh=(
        "{n}位数字密码（0-9，可重复）有多少种？",
        "一把锁有{n}个转轮，每个{k}种符号，共有多少种组合？",
    ),
    form="number",
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end; few of each, for their numbers are small."""
    while True:
        for draw in (_bag, _die, _bag, _outfits, _choose, _bag, _outfits, _few):
            yield from draw(rng)


def _ratio(value: Fraction) -> Ratio:
    return Ratio(value.numerator, value.denominator)


def _bag(rng: random.Random) -> Iterator[Question]:
    a, b = rng.randint(2, 12), rng.randint(2, 15)
    yield from BAG.ask(rng, KIND, f"bag {a} {b}", _ratio(Fraction(a, a + b)), a=a, b=b)


def _die(rng: random.Random) -> Iterator[Question]:
    n = rng.choice((6, 6, 8, 10, 12, 20))
    k = rng.randint(1, n - 1)
    yield from DIE.ask(rng, KIND, f"die {n} {k}", _ratio(Fraction(n - k, n)), n=n, k=k)


def _outfits(rng: random.Random) -> Iterator[Question]:
    a, b, c = (rng.randint(2, 9) for _ in "abc")
    yield from OUTFITS.ask(rng, KIND, f"outfits {a} {b} {c}", Number(a * b * c), 32, a=a, b=b, c=c)


def _choose(rng: random.Random) -> Iterator[Question]:
    n, k = rng.randint(4, 12), rng.randint(2, 3)
    yield from CHOOSE.ask(rng, KIND, f"choose {n} {k}", Number(comb(n, k)), 32, n=n, k=k)


def _few(rng: random.Random) -> Iterator[Question]:
    n, k = rng.randint(2, 6), rng.randint(3, 9)
    which = rng.randrange(4)
    if which == 0:
        yield from COINS.ask(rng, KIND, f"coins {n}", Ratio(1, 2**n), n=n)
    elif which == 1:
        yield from QUEUE.ask(rng, KIND, f"queue {n}", Number(factorial(n)), 32, n=n)
    else:
        side = which - 2
        one = Wordings(PIN.en[side : side + 1], PIN.zh[side : side + 1], "number")
        value = 10**n if side == 0 else k**n
        yield from one.ask(rng, KIND, f"code {n} {side and k}", Number(value), 32, n=n, k=k)
