"""Lists sorted, made unique, turned round, filtered and asked for one of their items."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from hybridge.pipeline.quiz.checks import Check, Holds, Listed, Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.vocabulary import NOUNS
from hybridge.pipeline.quiz.wording import Wordings

KIND = "lists"
ASCENDING = Wordings(
    en=(
        "sort these numbers from smallest to largest",
        "put the numbers in ascending order",
        "order the numbers, lowest first",
        "arrange these from small to big",
    ),
    zh=("把这些数从小到大排列", "将数字按升序排序", "从小到大排序", "按从小到大的顺序排好"),
    form="list",
)
DESCENDING = Wordings(
    en=("sort these numbers from largest to smallest", "put the numbers in descending order"),
    zh=("把这些数从大到小排列", "将数字按降序排序"),
    form="list",
)
ALPHABET = Wordings(
    en=(
        "sort these words alphabetically",
        "put the words in alphabetical order",
        "order the words from A to Z",
    ),
    zh=("把英文单词按字母顺序排列", "按字母表顺序给单词排序", "将单词按A到Z排序"),
    form="list",
)
UNIQUE = Wordings(
    en=(
        "remove the duplicates and keep the order",
        "list each item once, in order of first appearance",
        "drop repeated items",
    ),
    zh=("去掉重复项，保持原来的顺序", "去重，按首次出现的顺序列出", "删除重复的项"),
    form="list",
)
REVERSED = Wordings(
    en=("reverse the order of this list", "list these items from last to first"),
    zh=("把列表的顺序反过来", "从后往前列出这些项"),
    form="list",
)
EVEN = Wordings(
    en=("keep only the even numbers", "list the even numbers, in the same order"),
    zh=("只保留偶数", "按原顺序列出其中的偶数"),
    form="list",
)
ABOVE = Wordings(
    en=("list only the numbers greater than {n}", "keep the numbers above {n}"),
    zh=("只列出大于{n}的数", "保留比{n}大的数"),
    form="list",
)
WITHOUT = Wordings(
    en=("remove {w} from this list", "give me the list without {w}"),
    zh=("从列表中去掉{w}", "写出不含{w}的列表"),
    form="list",
)
NTH = Wordings(
    en=("tell me the {nth} item of this list", "give me item number {n}", "pick the {nth} one"),
    zh=("说出列表中的第{n}项", "取出第{n}个", "写出下面的第{n}项"),
    form="word",
)
LAST = Wordings(
    en=("tell me the last item", "give me the final entry of this list"),
    zh=("说出最后一项", "取出列表里最后一个"),
    form="word",
)
TOTALS = {
    "sum": Wordings(
        en=("add up these numbers", "find the sum of this list", "total these"),
        zh=("把这些数加起来", "求下面数字的和", "算出总和"),
        form="number",
    ),
    "median": Wordings(
        en=("find the median", "give me the middle value after sorting"),
        zh=("求中位数", "找出这组数的中位数"),
        form="number",
    ),
    "odd": Wordings(
        en=("count the odd numbers", "say how many of these are odd"),
        zh=("数一数有几个奇数", "统计奇数的个数"),
        form="number",
    ),
}
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    while True:
        for draw in (_sorted, _words, _unique, _reversed, _filtered, _without, _nth, _total):
            yield from draw(rng)


def _numbers(rng: random.Random) -> list[int]:
    most, count = rng.choice(((20, 3), (20, 3), (50, 4), (100, 5), (1000, 7), (99, 9)))
    return rng.sample(range(1, most), count)


def _asked(
    rng: random.Random, wordings: Wordings, items: list[int], check: Check, **fields: Any
) -> Iterator[Question]:
    item = ", ".join(map(str, items))
    yield from wordings.ask(rng, KIND, f"{wordings.zh[0]} {item}", check, 32, item=item, **fields)


def _sorted(rng: random.Random) -> Iterator[Question]:
    numbers, down = _numbers(rng), rng.random() < 0.35
    if rng.random() < 0.2:
        numbers = [number - 40 for number in numbers]
    right = Listed(tuple(map(str, sorted(numbers, reverse=down))))
    yield from _asked(rng, DESCENDING if down else ASCENDING, numbers, right)


def _words(rng: random.Random) -> Iterator[Question]:
    words = [pair[0] for pair in rng.sample(NOUNS, rng.choice((3, 4, 6)))]
    check, item = Listed(tuple(sorted(words))), ", ".join(words)
    yield from ALPHABET.ask(rng, KIND, f"words {item}", check, 32, item=item)


def _pairs(rng: random.Random, count: int) -> list[tuple[str, str]]:
    return rng.sample(NOUNS, count)


def _named(pairs: list[tuple[str, str]]) -> tuple[str, str]:
    return ", ".join(pair[0] for pair in pairs), "、".join(pair[1] for pair in pairs)


def _both(pairs: list[tuple[str, str]]) -> tuple[Listed, Listed]:
    return Listed(tuple(pair[0] for pair in pairs)), Listed(tuple(pair[1] for pair in pairs))


def _unique(rng: random.Random) -> Iterator[Question]:
    some = _pairs(rng, rng.choice((3, 4)))
    pairs = [*some, *(rng.choice(some) for _ in range(rng.choice((2, 3))))]
    rng.shuffle(pairs)
    item = _named(pairs)
    right = _both(list(dict.fromkeys(pairs)))
    yield from UNIQUE.ask(rng, KIND, f"unique {item[0]}", right, 32, item=item)


def _reversed(rng: random.Random) -> Iterator[Question]:
    pairs = _pairs(rng, rng.choice((3, 4, 6)))
    item = _named(pairs)
    yield from REVERSED.ask(rng, KIND, f"back {item[0]}", _both(pairs[::-1]), 32, item=item)


def _filtered(rng: random.Random) -> Iterator[Question]:
    numbers = _numbers(rng)
    n = sorted(numbers)[len(numbers) // 2 - 1] + rng.choice((0, 0, 1))
    even = [number for number in numbers if number % 2 == 0]
    if even and rng.random() < 0.5:
        yield from _asked(rng, EVEN, numbers, Listed(tuple(map(str, even))))
    else:
        above = Listed(tuple(str(number) for number in numbers if number > n))
        yield from _asked(rng, ABOVE, numbers, above, n=n)


def _without(rng: random.Random) -> Iterator[Question]:
    pairs = _pairs(rng, rng.choice((4, 5)))
    gone, item = rng.choice(pairs), _named(pairs)
    right = _both([pair for pair in pairs if pair != gone])
    yield from WITHOUT.ask(rng, KIND, f"without {item[0]}", right, 32, item=item, w=gone)


def _nth(rng: random.Random) -> Iterator[Question]:
    pairs = _pairs(rng, rng.choice((4, 6, 8)))
    n = rng.randrange(min(len(pairs), 6))
    last = rng.random() < 0.25
    right = pairs[-1] if last else pairs[n]
    others = [pair for pair in pairs if pair != right]
    check = (
        Holds(right[:1], tuple(pair[0] for pair in others)),
        Holds(right[1:], tuple(pair[1] for pair in others)),
    )
    item = _named(pairs)
    yield from (LAST if last else NTH).ask(
        rng, KIND, f"nth {item[0]}", check, item=item, n=n + 1, nth=ORDINALS[n]
    )


def _total(rng: random.Random) -> Iterator[Question]:
    numbers, what = _numbers(rng), rng.choice(("sum", "sum", "median", "odd"))
    value = {
        "sum": sum(numbers),
        "median": sorted(numbers)[len(numbers) // 2],
        "odd": sum(number % 2 for number in numbers),
    }[what]
    yield from _asked(rng, TOTALS[what], numbers, Number(value))
