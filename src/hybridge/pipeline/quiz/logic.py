"""Small conclusions: who is tallest, what follows, true or false."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

from hybridge.pipeline.quiz.checks import Check, Holds, Label
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.vocabulary import NAMES
from hybridge.pipeline.quiz.wording import NO, YES, Wordings

KIND = "logic"
Pair = tuple[str, str]
RELATIONS: tuple[tuple[Pair, Pair, Pair], ...] = (
    (("{x} is taller than {y}.", "{x}比{y}高。"), ("tallest", "最高"), ("shortest", "最矮")),
    (
        ("{x} is older than {y}.", "{x}比{y}年长。"),
        ("oldest", "年龄最大"),
        ("youngest", "年龄最小"),
    ),
    (
        ("{x} runs faster than {y}.", "{x}跑得比{y}快。"),
        ("fastest", "跑得最快"),
        ("slowest", "跑得最慢"),
    ),
    (
        ("{x} has more books than {y}.", "{x}的书比{y}多。"),
        ("one with the most books", "书最多"),
        ("one with the fewest books", "书最少"),
    ),
    (
        ("{x} arrived before {y}.", "{x}比{y}先到。"),
        ("first to arrive", "最先到"),
        ("last to arrive", "最后到"),
    ),
    (("{x} is heavier than {y}.", "{x}比{y}重。"), ("heaviest", "最重"), ("lightest", "最轻")),
)
WHO = Wordings(
    en=(
        "{s} Who is the {best}?",
        "{s} So who is the {best}?",
        "Who is the {best}? {s}",
        "Given this, name the {best}. {s}",
    ),
    zh=("{s}谁{best}？", "{s}那么谁{best}？", "谁{best}？{s}", "根据下面的话，说出谁{best}。{s}"),
    form="name",
)
MADE_UP: tuple[Pair, ...] = (
    *(("wugs", "乌格"), ("blips", "布利"), ("zorks", "佐克"), ("daxes", "达克斯")),
    *(("tovs", "托夫"), ("mips", "米普"), ("grels", "格雷"), ("fenks", "芬克")),
)
FOLLOWS = Wordings(
    en=(
        "{s} Does it follow that {c}?",
        "{s} Can we be sure that {c}?",
        "{s} Is it certain that {c}?",
    ),
    zh=("{s}能确定{c}吗？", "{s}由此一定能推出{c}吗？", "{s}可以肯定{c}吗？"),
    form="yesno",
)
TRUTH = Wordings(
    en=(
        "True or false: {c}",
        "Is this statement true or false? {c}",
        "{c} True or false?",
        "Say true or false: {c}",
    ),
    zh=(
        "判断对错：{c}",
        "这句话对还是错？{c}",
        "{c}这句话是对的还是错的？",
        "请判断（对/错）：{c}",
    ),
    form="none",
)
RIGHT = Label("true", ("false",)), Label("对", ("错", "不"), ("正确",))
WRONG = Label("false", ("true",)), Label("错", ("对", "正确"), ("不对", "不正确"))
STATES: tuple[tuple[tuple[Pair, Pair], tuple[Pair, Pair]], ...] = (
    (
        (("it rains", "下雨"), ("it does not rain", "没有下雨")),
        (("the match is cancelled", "比赛取消"), ("the match is not cancelled", "比赛没有取消")),
    ),
    (
        (("the light is red", "灯是红的"), ("the light is not red", "灯不是红的")),
        (("the cars stop", "汽车停下"), ("the cars do not stop", "汽车没有停下")),
    ),
    (
        (("the alarm rings", "警铃响了"), ("the alarm does not ring", "警铃没有响")),
        (("the doors close", "门会关上"), ("the doors do not close", "门没有关上")),
    ),
    (
        (("the battery is empty", "电池没电"), ("the battery is not empty", "电池有电")),
        (("the lamp stays off", "灯不亮"), ("the lamp does not stay off", "灯亮着")),
    ),
    (
        (("it is Sunday", "今天是星期天"), ("it is not Sunday", "今天不是星期天")),
        (("the shop is closed", "商店关门"), ("the shop is not closed", "商店开着门")),
    ),
    (
        (("the oven is hot", "烤箱是热的"), ("the oven is not hot", "烤箱不热")),
        (("the green lamp is on", "绿灯亮着"), ("the green lamp is off", "绿灯不亮")),
    ),
)
"""Causes and effects, each with its opposite."""


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    while True:
        for draw in (_order, _all, _order, _if, _sums):
            yield from draw(rng)


def _order(rng: random.Random) -> Iterator[Question]:
    says, most, least = rng.choice(RELATIONS)
    people = rng.sample(NAMES, rng.choice((2, 2, 3, 3, 4)))
    links = list(pairwise(people))
    if rng.random() < 0.5:
        rng.shuffle(links)
    story = tuple(
        (" ", "")[side].join(says[side].format(x=x[side], y=y[side]) for x, y in links)
        for side in (0, 1)
    )
    right, asked = rng.choice(((people[0], most), (people[-1], least)))
    others = [person for person in people if person != right]
    check: tuple[Check, Check] = (
        Holds(right[:1], tuple(other[0] for other in others)),
        Holds(right[1:], tuple(other[1] for other in others)),
    )
    yield from WHO.ask(rng, KIND, f"{story[0]} {asked[0]}", check, s=story, best=asked)


def _all(rng: random.Random) -> Iterator[Question]:
    a, b, c = rng.sample(MADE_UP, 3)
    story = (
        f"All {a[0]} are {b[0]}. All {b[0]} are {c[0]}.",
        f"所有{a[1]}都是{b[1]}。所有{b[1]}都是{c[1]}。",
    )
    x, y, true = rng.choice(
        ((a, c, True), (a, c, True), (c, a, False), (b, a, False), (a, b, True))
    )
    claim = f"all {x[0]} are {y[0]}", f"所有{x[1]}都是{y[1]}"
    if rng.random() < 0.3:
        story = (
            f"No {a[0]} are {b[0]}. All {c[0]} are {a[0]}.",
            f"没有{a[1]}是{b[1]}。所有{c[1]}都是{a[1]}。",
        )
        x, y, true = rng.choice(((c, b, False), (c, a, True)))
        claim = f"some {x[0]} are {y[0]}", f"有些{x[1]}是{y[1]}"
        if true:
            claim = f"every one of the {x[0]} is among the {y[0]}", f"每个{x[1]}都是{y[1]}"
    check = YES if true else NO
    yield from FOLLOWS.ask(rng, KIND, f"{story[0]} {claim[0]}", check, 12, s=story, c=claim)


def _if(rng: random.Random) -> Iterator[Question]:
    (cause, no_cause), (effect, no_effect) = rng.choice(STATES)
    known, claim, true = rng.choice((
        (cause, effect, True),
        (no_effect, no_cause, True),
        (effect, cause, False),
        (no_cause, no_effect, False),
    ))  # fmt: skip
    person = rng.choice(NAMES)
    said = (
        f"If {cause[0]}, {effect[0]}. {person[0]} knows that {known[0]}.",
        f"如果{cause[1]}，那么{effect[1]}。{person[1]}知道{known[1]}。",
    )
    check = YES if true else NO
    yield from FOLLOWS.ask(rng, KIND, f"if {cause[0]} {claim[0]}", check, 12, s=said, c=claim)


def _sums(rng: random.Random) -> Iterator[Question]:
    a, b = rng.randint(2, 60), rng.randint(2, 60)
    value = a + b + rng.choice((0, 0, 0, 1, -2, 10))
    divisor = rng.randint(2, 9)
    small, large = sorted(rng.sample(range(-30, 90), 2))
    claim, holds = rng.choice((
        ((f"{a} + {b} = {value}.", f"{a} + {b} = {value}。"), value == a + b),
        ((f"{a} is divisible by {divisor}.", f"{a}能被{divisor}整除。"), a % divisor == 0),
        ((f"{large} is less than {small}.", f"{large}小于{small}。"), False),
        ((f"{small} is less than {large}.", f"{small}小于{large}。"), True),
        ((f"{a} is an even number.", f"{a}是偶数。"), a % 2 == 0),
        ((f"{a * 2} is half of {a * 4}.", f"{a * 2}是{a * 4}的一半。"), True),
    ))  # fmt: skip
    yield from TRUTH.ask(rng, KIND, claim[0], RIGHT if holds else WRONG, 12, c=claim)
