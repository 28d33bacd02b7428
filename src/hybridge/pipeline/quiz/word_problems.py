"""Little stories that are counted out in one to three steps."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from hybridge.pipeline.quiz.checks import Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.vocabulary import NAMES, THINGS
from hybridge.pipeline.quiz.wording import Wordings

KIND = "word_problems"
Story = tuple[str, str, Callable[[int, int, int], float]]
STORIES: tuple[Story, ...] = (
    (
        "{x} has {a} {things} and buys {b} more. How many {things} does {x} have now?",
        "{x}有{a}{m}{things}，又买了{b}{m}，现在一共有几{m}？",
        lambda a, b, _: a + b,
    ),
    (
        "{x} had {a} {things} and gave {b} to {y}. How many {things} are left?",
        "{x}有{a}{m}{things}，送给{y}{b}{m}，还剩几{m}？",
        lambda a, b, _: a - b,
    ),
    (
        "There are {a} boxes with {b} {things} in each. How many {things} in total?",
        "有{a}个盒子，每个盒子装{b}{m}{things}，一共有多少{m}{things}？",
        lambda a, b, _: a * b,
    ),
    (
        "{x} shares {a} {things} equally among {b} friends. How many does each friend get?",
        "{x}把{a}{m}{things}平均分给{b}个朋友，每人得几{m}？",
        lambda a, b, _: a / b,
    ),
    (
        "{x} has {a} {things}. {y} has {b} times as many. How many do they have together?",
        "{x}有{a}{m}{things}，{y}的是{x}的{b}倍，两人一共有多少{m}？",
        lambda a, b, _: a + a * b,
    ),
    (
        "{x} buys {a} {things} at {b} dollars each and pays {c} dollars. How much change?",
        "{x}买了{a}{m}{things}，每{m}{b}元，付了{c}元，应找回多少元？",
        lambda a, b, c: c - a * b,
    ),
    (
        "A bus has {a} passengers. {b} get off and {c} get on. How many are on the bus now?",
        "公交车上有{a}人，到站下去{b}人，又上来{c}人，现在车上有多少人？",
        lambda a, b, c: a - b + c,
    ),
    (
        "A car drives {a} km per hour. How many kilometres does it drive in {b} hours?",
        "一辆车每小时行{a}公里，{b}小时行多少公里？",
        lambda a, b, _: a * b,
    ),
    (
        "{x} reads {a} pages a day. The book has {c} pages. How many are left after {b} days?",
        "{x}每天读{a}页书，这本书有{c}页，读了{b}天后还剩多少页？",
        lambda a, b, c: c - a * b,
    ),
    (
        "{x} is {a} years old. {y} is {b} years older. How old will {y} be in {c} years?",
        "{x}今年{a}岁，{y}比{x}大{b}岁，{c}年后{y}多少岁？",
        lambda a, b, c: a + b + c,
    ),
    (
        "{a} workers each make {b} {things} an hour. How many {things} do they make in {c} hours?",
        "{a}个工人每人每小时做{b}{m}{things}，{c}小时一共做多少{m}？",
        lambda a, b, c: a * b * c,
    ),
    (
        "A theatre has {a} rows of {b} seats. {c} seats are taken. How many are free?",
        "剧场有{a}排座位，每排{b}个，已坐{c}个，还空多少个？",
        lambda a, b, c: a * b - c,
    ),
    (
        "{x} saves {a} dollars a week. After how many weeks does {x} have {c} dollars?",
        "{x}每周存{a}元，几周后能存到{c}元？",
        lambda a, _, c: c / a,
    ),
    (
        "{x} has {c} {things}, loses {a} and packs the rest into {b} equal bags. How many per bag?",
        "{x}有{c}{m}{things}，丢了{a}{m}，剩下的平均装进{b}个袋子，每袋几{m}？",
        lambda a, b, c: (c - a) / b,
    ),
    (
        "A shop sold {a} {things} on Monday and {b} fewer on Tuesday. How many in the two days?",
        "商店周一卖出{a}{m}{things}，周二少卖{b}{m}，两天共卖出多少{m}？",
        lambda a, b, _: 2 * a - b,
    ),
    (
        "The average of {a}, {b} and {c} is what?",
        "{a}、{b}和{c}的平均数是多少？",
        lambda a, b, c: (a + b + c) / 3,
    ),
)
"""In English, in Chinese, and what comes out of the three numbers."""


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end; the larger the numbers, the harder."""
    while True:
        english, chinese, count = rng.choice(STORIES[:4] if rng.random() < 0.3 else STORIES)
        (x, y), (thing, ding, measure) = rng.sample(NAMES, 2), rng.choice(THINGS)
        numbers = _fitting(rng, count)
        named: dict[str, Any] = dict(zip("abc", numbers, strict=True))
        told = Wordings((english,), (chinese,), "number").ask(
            rng, KIND, f"{STORIES.index((english, chinese, count))} {numbers}",
            Number(count(*numbers)), 40,
            x=x, y=y, things=(thing, ding), m=measure, **named,
        )  # fmt: skip
        yield from told


def _fitting(rng: random.Random, count: Callable[[int, int, int], float]) -> tuple[int, int, int]:
    most = rng.choice((9, 9, 20, 60))
    while True:
        a, b, c = rng.randint(2, most), rng.randint(2, max(9, most // 3)), rng.randint(2, 5 * most)
        value = count(a, b, c)
        if value > 0 and value == int(value):
            return a, b, c
