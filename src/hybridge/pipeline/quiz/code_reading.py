"""What a few lines of Python print."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import Check, Exact, Label, Listed, Number, Verbatim
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.vocabulary import NOUNS
from hybridge.pipeline.quiz.wording import Wordings

KIND = "code_reading"
WORDINGS = Wordings(
    en=(
        "What does this Python code print?\n{item}",
        "What is the output? Write only the output.\n{item}",
        "Read the Python below and give its output, nothing else.\n{item}",
        "Python. Output?\n{item}",
        "Tell me exactly what this prints, no explanation:\n{item}",
        "Run this in your head and reply with what it prints only:\n{item}",
        "Hey, what will this snippet print? Just the output please.\n{item}",
        "Predict the output of the following program. Output only.\n{item}",
        "{item}\nWhat is printed? Only the output.",
        "```python\n{item}\n```\nWhat is the output? Nothing else please.",
    ),
    zh=(
        "下面的Python代码输出什么？只写输出。\n{item}",
        "写出运行结果，不要解释。\n{item}",
        "这段Python会打印什么？\n{item}",
        "阅读代码，直接给出输出：\n{item}",
        "请问下面代码的输出是什么？只回答输出。\n{item}",
        "Python，输出是？\n{item}",
        "帮我看看这段代码打印什么，只要结果：\n{item}",
        "预测程序的输出，不要写别的。\n{item}",
        "{item}\n打印的是什么？只写结果。",
        "```python\n{item}\n```\n运行后输出什么？直接回答。",
    ),
    form="none",
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    draws = (_expression, _string, _loop, _list, _function, _branch, _dictionary)
    while True:
        for draw in draws:
            code, printed = draw(rng)
            if printed != []:
                yield from WORDINGS.ask(rng, KIND, code, _check(printed), 24, item=code)


def _check(printed: object) -> Check:
    if isinstance(printed, bool):
        return Label(str(printed), (str(not printed),))
    if isinstance(printed, int | float):
        return Number(printed)
    if isinstance(printed, list):
        return Listed(tuple(str(item) for item in printed))
    if len(str(printed)) == 1:
        return Exact((str(printed), f"the output is {printed}"))
    return Verbatim(str(printed), 40)


def _expression(rng: random.Random) -> tuple[str, object]:
    a, b, c = rng.randint(2, 30), rng.randint(2, 9), rng.randint(2, 12)
    return rng.choice((
        (f"print({a} + {b} * {c})", a + b * c),
        (f"print({a} // {b})", a // b),
        (f"print({a} % {b})", a % b),
        (f"print({b} ** {c % 3 + 2})", b ** (c % 3 + 2)),
        (f"x = {a}\nx += {b}\nprint(x * 2)", (a + b) * 2),
        (f"a, b = {a}, {c}\na, b = b, a\nprint(a - b)", c - a),
        (f"print({a} > {c} and {b} < {c})", a > c and b < c),
        (f"print({a} == {b} * {c})", a == b * c),
        (f"print(max({a}, {b}, {c}) - min({a}, {b}, {c}))", max(a, b, c) - min(a, b, c)),
    ))  # fmt: skip


def _string(rng: random.Random) -> tuple[str, object]:
    word, n = rng.choice(NOUNS)[0], rng.randint(1, 3)
    letter, other = rng.choice(word), rng.choice("aeinrst")
    return rng.choice((
        (f'print(len("{word}"))', len(word)),
        (f'print("{word}".upper())', word.upper()),
        (f'print("{word}"[{n}])', word[n]),
        (f'print("{word}"[-{n}])', word[-n]),
        (f'print("{word}"[:{n + 1}])', word[: n + 1]),
        (f's = "{word}"\nprint(s[::-1])', word[::-1]),
        (f'print("{word[:3]}" * {n + 1})', word[:3] * (n + 1)),
        (f'print("{word}".count("{letter}"))', word.count(letter)),
        (f'print("{word}".replace("{letter}", "*"))', word.replace(letter, "*")),
        (f'print("{other}" in "{word}")', other in word),
        (f'n = {n}\nprint(f"{word} {{n + 1}}")', f"{word} {n + 1}"),
    ))  # fmt: skip


def _loop(rng: random.Random) -> tuple[str, object]:
    a, b, c = rng.randint(3, 9), rng.randint(2, 5), rng.randint(1, 20)
    steps, x = 0, c * 4
    while x > b:
        x //= 2
        steps += 1
    return rng.choice((
        (f"t = 0\nfor i in range({a}):\n    t += i\nprint(t)", sum(range(a))),
        (f"t = {c}\nfor i in range({b}):\n    t += {a}\nprint(t)", c + a * b),
        (f"p = 1\nfor i in range(1, {b + 1}):\n    p *= i\nprint(p)", _product(b)),
        (f"x = {c * 4}\nn = 0\nwhile x > {b}:\n    x //= 2\n    n += 1\nprint(n)", steps),
        (f"print(sum(range({b}, {a + b})))", sum(range(b, a + b))),
        (f"print(sum(i * i for i in range({a})))", sum(i * i for i in range(a))),
    ))  # fmt: skip


def _product(n: int) -> int:
    return 1 if n == 0 else n * _product(n - 1)


def _list(rng: random.Random) -> tuple[str, object]:
    items, n = rng.sample(range(1, 40), rng.choice((3, 4, 5))), rng.randint(0, 2)
    return rng.choice((
        (f"a = {items}\nprint(a[{n}])", items[n]),
        (f"a = {items}\nprint(a[-1])", items[-1]),
        (f"print(len({items}))", len(items)),
        (f"print(sorted({items}))", sorted(items)),
        (f"a = {items}\nprint(a[1:3])", items[1:3]),
        (f"a = {items}\na.append({n})\nprint(sum(a))", sum(items) + n),
        (f"print([x * 2 for x in {items}])", [x * 2 for x in items]),
        (f"print([x for x in {items} if x > 15])", [x for x in items if x > 15]),
        (f"a = {items}\nb = a\nb[0] = 0\nprint(a[0])", 0),
        (f"print(max({items}))", max(items)),
    ))  # fmt: skip


def _function(rng: random.Random) -> tuple[str, object]:
    a, b, c = rng.randint(2, 12), rng.randint(2, 9), rng.randint(2, 7)
    return rng.choice((
        (f"def f(x):\n    return x * {a} + {b}\nprint(f({c}))", c * a + b),
        (f"def f(x, y={b}):\n    return x - y\nprint(f({a}))", a - b),
        (f"f = lambda x: x * x\nprint(f({a}) + f({b}))", a * a + b * b),
        (f"def f(n):\n    return 1 if n == 0 else n * f(n - 1)\nprint(f({c}))", _product(c)),
        (f"def f(x):\n    return x + {b}\nprint(f(f({a})))", a + 2 * b),
    ))  # fmt: skip


def _branch(rng: random.Random) -> tuple[str, object]:
    a, b = rng.randint(1, 40), rng.randint(1, 40)
    x, y = (pair[0] for pair in rng.sample(NOUNS, 2))
    return rng.choice((
        (f'x = {a}\nif x > {b}:\n    print("{x}")\nelse:\n    print("{y}")', x if a > b else y),
        (f'print("{x}" if {a} % 2 == 0 else "{y}")', x if a % 2 == 0 else y),
        (f'x = {a}\nprint("{x}" if {b} < x else "{y}")', x if b < a else y),
    ))  # fmt: skip


def _dictionary(rng: random.Random) -> tuple[str, object]:
    (x, _), (y, _) = rng.sample(NOUNS, 2)
    a, b = rng.randint(1, 50), rng.randint(1, 50)
    start = f'd = {{"{x}": {a}, "{y}": {b}}}\n'
    return rng.choice((
        (f'{start}print(d["{y}"])', b),
        (f'{start}d["{x}"] += {b}\nprint(d["{x}"])', a + b),
        (f"{start}print(len(d))", 2),
        (f'{start}print(d.get("none", {a + b}))', a + b),
        (f"{start}print(sum(d.values()))", a + b),
    ))  # fmt: skip
