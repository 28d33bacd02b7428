"""A look into a table of three to five rows."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import Check, Holds, Listed, Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.vocabulary import GOODS, NAMES
from hybridge.pipeline.quiz.wording import Wordings

KIND = "tables"
Pair = tuple[str, str]
COLUMNS: tuple[tuple[Pair, Pair, Pair], ...] = (
    (("product", "商品"), ("price", "价格"), ("stock", "库存")),
    (("name", "姓名"), ("age", "年龄"), ("score", "分数")),
    (("name", "姓名"), ("sales", "销量"), ("days", "天数")),
    (("product", "商品"), ("weight", "重量"), ("count", "数量")),
)
ROWS = {"name": ("person", "人"), "product": ("product", "商品")}
ASKED = {
    "cell": (
        ("What is the {c} of {r}?", "Look up {r}: {c}?", "Give the {c} for {r}."),
        ("{r}的{c}是多少？", "查一下{r}的{c}。", "给出{r}的{c}。"),
    ),
    "most": (
        ("Which {k} has the highest {c}?", "Name the {k} with the highest {c}."),
        ("哪个{k}的{c}最高？", "{c}最大的{k}是哪个？"),
    ),
    "least": (
        ("Which {k} has the lowest {c}?", "Name the {k} with the lowest {c}."),
        ("哪个{k}的{c}最低？", "{c}最小的{k}是哪个？"),
    ),
    "sum": (
        ("What is the total of {c}?", "Add up the column {c}."),
        ("{c}一共是多少？", "求{c}一列的总和。"),
    ),
    "above": (
        ("Which rows have {c} above {n}? Give each {k}.", "List every {k} with {c} over {n}."),
        ("哪些{k}的{c}大于{n}？", "列出{c}超过{n}的所有{k}。"),
    ),
    "count": (
        ("How many rows have {c} above {n}?", "Count the rows where {c} is over {n}."),
        ("有几行的{c}大于{n}？", "{c}超过{n}的有几个？"),
    ),
    "who": (
        ("For which {k} is {c} {v}?", "Which {k} has {c} {v}?"),
        ("哪个{k}的{c}是{v}？", "{c}为{v}的是哪个{k}？"),
    ),
    "gap": (
        ("How much higher is the {c} of {r} than that of {r2}?", "{r} minus {r2} in {c}?"),
        ("{r}的{c}比{r2}多多少？", "{c}一列，{r}减{r2}等于多少？"),
    ),
}
FORMS = {"most": "name", "least": "name", "who": "name", "above": "list"}
LAYOUTS = (
    (
        "{q} {form}\n{t}",
        "{form} {q}\n{t}",
        "{t}\n{q} {form}",
        "Use the table to answer. {q} {form}\n{t}",
        "Please check this table. {form}\n{t}\n{q}",
    ),
    (
        "{q}{form}\n{t}",
        "{form}{q}\n{t}",
        "{t}\n{q}{form}",
        "根据表格回答：{q}{form}\n{t}",
        "请看下表。{form}\n{t}\n{q}",
    ),
)
WORDINGS = Wordings(*LAYOUTS)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    while True:
        what = rng.choice(("cell", "cell", "cell", "who", "who", *ASKED))
        columns = rng.choice(COLUMNS)
        count, most = rng.choice((3, 3, 4, 5)), rng.choice((20, 99, 300))
        rows = rng.sample(NAMES if columns[0][0] == "name" else GOODS, count)
        numbers = [
            rng.sample(range(18, 80) if column[0] == "age" else range(2, most), count)
            for column in columns[1:]
        ]
        yield from _asked(rng, what, columns, rows, numbers)


def _asked(
    rng: random.Random,
    what: str,
    columns: tuple[Pair, Pair, Pair],
    rows: list[Pair],
    numbers: list[list[int]],
) -> Iterator[Question]:
    style = rng.choice((",", " | ", "\t", ": "))
    which = rng.choice((0, 1))
    values, column = numbers[which], columns[which + 1]
    high, low = sorted(rng.sample(range(len(rows)), 2), key=lambda at: -values[at])
    n = sorted(values)[len(rows) // 2 - 1]
    checks = tuple(_check(what, side, rows, values, (high, low), n) for side in (0, 1))
    tables = tuple(
        _table(side, "," if style == ": " else style, columns, rows, numbers) for side in (0, 1)
    )
    asked = tuple(
        rng.choice(ASKED[what][side]).format(
            k=ROWS[columns[0][0]][side],
            c=column[side],
            n=n,
            r=rows[high][side],
            r2=rows[low][side],
            v=values[high],
        )
        for side in (0, 1)
    )
    yield from WORDINGS.ask(
        rng,
        KIND,
        tables[0],
        (checks[0], checks[1]),
        32,
        FORMS.get(what, "number"),
        t=tables,
        q=asked,
    )


def _table(
    side: int, sign: str, columns: tuple[Pair, ...], rows: list[Pair], numbers: list[list[int]]
) -> str:
    lines = [sign.join(column[side] for column in columns)]
    lines += [
        sign.join((row[side], str(first), str(second)))
        for row, first, second in zip(rows, *numbers, strict=True)
    ]
    return "\n".join(lines)


def _check(
    what: str, side: int, rows: list[Pair], values: list[int], ends: tuple[int, int], n: int
) -> Check:
    names, (high, low) = [row[side] for row in rows], ends
    best = {"most": values.index(max(values)), "least": values.index(min(values)), "who": high}
    if what in best:
        right = names[best[what]]
        return Holds((right,), tuple(name for name in names if name != right))
    if what == "above":
        return Listed(
            tuple(name for name, value in zip(names, values, strict=True) if value > n),
            ordered=False,
        )
    return Number(
        {
            "cell": values[high],
            "sum": sum(values),
            "count": sum(value > n for value in values),
            "gap": values[high] - values[low],
        }[what]
    )
