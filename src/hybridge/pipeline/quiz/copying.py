"""The light tasks of every day: repeat, pick out, put round, fill in a pattern."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import Holds, Verbatim
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.vocabulary import GOODS, NAMES, NOUNS, SENTENCES
from hybridge.pipeline.quiz.wording import Wordings

KIND = "copying"
REPEAT = Wordings(
    en=("repeat this sentence exactly", "copy this text", "say this again word for word"),
    zh=("原样重复这句话", "照抄下面的文字", "一字不差地再说一遍"),
)
FIRST = Wordings(
    en=("give the first word of this sentence", "tell me the word this sentence starts with"),
    zh=("写出这个英文句子的第一个单词", "说出英文句子开头的单词"),
    form="word",
)
LAST = Wordings(
    en=("give the last word of this sentence", "tell me which word the sentence ends with"),
    zh=("写出这个英文句子的最后一个单词", "说出英文句子末尾的单词"),
    form="word",
)
WRAP = Wordings(
    en=("put {name} around this text", "wrap the text in {name}", "add {name} before and after it"),
    zh=("用{name}把文字括起来", "在文字两边加上{name}", "给下面的文字加{name}"),
)
SIGNS: tuple[tuple[tuple[str, str], str, str], ...] = (
    (("square brackets [ ]", "方括号[ ]"), "[", "]"),
    (("double asterisks **", "两个星号**"), "**", "**"),
    (("curly braces { }", "花括号{ }"), "{", "}"),
    (("angle brackets < >", "尖括号< >"), "<", ">"),
)
TEMPLATE = Wordings(
    en=(
        "Fill in the template with name {n} and item {w}: Dear NAME, your ITEM is ready. {form}",
        "Write this with NAME = {n} and ITEM = {w}. {form}\nDear NAME, your ITEM is ready.",
        "Replace NAME by {n} and ITEM by {w}. {form}\nDear NAME, your ITEM is ready.",
    ),
    zh=(
        "用姓名{n}和物品{w}填写模板：亲爱的【姓名】，您的【物品】准备好了。{form}",
        "把【姓名】换成{n}，【物品】换成{w}。{form}\n亲爱的【姓名】，您的【物品】准备好了。",
        "姓名={n}，物品={w}，填入：亲爱的【姓名】，您的【物品】准备好了。{form}",
    ),
)
NUMBER_IN = Wordings(
    en=(
        "find the number in this text",
        "pick out the only number",
        "tell me which number is mentioned",
    ),
    zh=("找出文中的数字", "写出这段话里唯一的数字", "说出提到的是哪个数字"),
    form="number",
)
BOTH = Wordings(
    en=(
        "Join {a} and {b} with a {sign} between them, no spaces. {form}",
        "Write {a}, then {sign}, then {b}, all in one. {form}",
    ),
    zh=(
        "把{a}和{b}用{sign}连起来，不留空格。{form}",
        "依次写出{a}、{sign}、{b}，中间不加空格。{form}",
    ),
)


_SMALL = ("The", "I", "It", "This")


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    while True:
        for draw in (_repeat, _end, _wrap, _template, _number, _both):
            yield from draw(rng)


def _repeat(rng: random.Random) -> Iterator[Question]:
    pair = rng.choice(SENTENCES)
    checks = Verbatim(pair[0]), Verbatim(pair[1])
    yield from REPEAT.ask(rng, KIND, pair[0], checks, 32, item=pair)


def _end(rng: random.Random) -> Iterator[Question]:
    # "The first word is …" would hold a first word such as "The"
    said = rng.choice([said for said, _ in SENTENCES if said.split()[0] not in _SMALL])
    words = said.split()
    wordings, right, far = rng.choice(((FIRST, words[0], words[-1]), (LAST, words[-1], words[0])))
    # the far end in the answer is the sentence said back
    check = Holds((right,), (far,), 2)
    yield from wordings.ask(rng, KIND, said, check, item=said)


def _wrap(rng: random.Random) -> Iterator[Question]:
    name, left, right = rng.choice(SIGNS)
    pair = rng.choice(NOUNS)
    checks = tuple(Verbatim(f"{left}{said}{right}") for said in pair)
    yield from WRAP.ask(rng, KIND, f"wrap {pair[0]}", (checks[0], checks[1]), item=pair, name=name)


def _template(rng: random.Random) -> Iterator[Question]:
    name, thing = rng.choice(NAMES), rng.choice(GOODS)
    checks = (
        Verbatim(f"Dear {name[0]}, your {thing[0]} is ready"),
        Verbatim(f"亲爱的{name[1]}，您的{thing[1]}准备好了"),
    )
    yield from TEMPLATE.ask(rng, KIND, f"{name[0]} {thing[0]}", checks, 32, n=name, w=thing)


def _number(rng: random.Random) -> Iterator[Question]:
    name, thing, n = rng.choice(NAMES), rng.choice(GOODS), rng.randint(11, 9999)
    item = rng.choice((
        (f"{name[0]} saw {n} people near the {thing[0]}", f"{name[1]}在{thing[1]}旁边看到{n}个人"),
        (f"The {thing[0]} has the number {n}, says {name[0]}", f"{name[1]}说{thing[1]}的编号是{n}"),
        (f"{name[0]} dreamt of {n} birds and a {thing[0]}", f"{name[1]}梦见{n}只鸟和{thing[1]}"),
    ))  # fmt: skip
    yield from NUMBER_IN.ask(rng, KIND, item[0], Holds((str(n),), (name[0], name[1]), 1), item=item)


def _both(rng: random.Random) -> Iterator[Question]:
    a, b, sign = *rng.sample(NOUNS, 2), rng.choice("_-+/")
    checks = Verbatim(f"{a[0]}{sign}{b[0]}"), Verbatim(f"{a[1]}{sign}{b[1]}")
    yield from BOTH.ask(rng, KIND, f"{a[0]} {b[0]}", checks, a=a, b=b, sign=sign)
