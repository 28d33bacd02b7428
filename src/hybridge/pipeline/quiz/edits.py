"""Small changes to a word or a sentence."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from hybridge.pipeline.quiz.checks import Check, Holds, Verbatim
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.vocabulary import LONG_WORDS, NOUNS, SENTENCES
from hybridge.pipeline.quiz.wording import Wordings

KIND = "edits"
REVERSE = Wordings(
    en=(
        "reverse the letters of this word",
        "spell this word backwards",
        "write the word in reverse",
    ),
    zh=("把这个英文单词倒过来写", "将单词的字母顺序反转", "倒着拼写这个单词"),
)
BACKWARDS = Wordings(
    en=(),
    zh=("把这句话倒过来写", "将下面的字逐字反转", "从后往前写出这些字"),
)
CASES = {
    "upper": Wordings(
        en=(
            "convert this to upper case",
            "put the text in capital letters",
            "make everything uppercase",
        ),
        zh=("把英文全部改成大写", "转换为大写字母", "将下面的英文变成大写"),
    ),
    "lower": Wordings(
        en=("convert this to lower case", "make all letters small", "make the text lowercase"),
        zh=("把英文全部改成小写", "转换为小写字母", "将下面的英文变成小写"),
    ),
    "title": Wordings(
        en=("capitalize the first letter of every word", "start each word with a capital letter"),
        zh=("把每个英文单词的首字母改成大写", "将每个单词首字母大写"),
    ),
}
NTH = Wordings(
    en=(
        "give me the {nth} word of this sentence",
        "pick out word number {n} of the text",
        "tell me the {nth} word",
    ),
    zh=("说出这个英文句子的第{n}个单词", "取出下面英文的第{n}个单词", "找出句中第{n}个单词"),
    form="word",
)
SIGN = Wordings(
    en=(),
    zh=("说出这句话的第{n}个字", "取出下面句子的第{n}个字", "找出第{n}个字"),
    form="text",
)
NO_VOWELS = Wordings(
    en=(
        "remove all vowels from this word",
        "delete the vowels (a, e, i, o, u)",
        "drop every vowel",
    ),
    zh=("去掉单词里所有的元音字母", "删除元音字母(a,e,i,o,u)", "把元音字母都去掉"),
)
REPLACE = Wordings(
    en=("replace every {a} with {b}", "swap each letter {a} for {b}", "change all {a}'s to {b}"),
    zh=("把字母{a}都换成{b}", "将所有的{a}替换为{b}", "用{b}代替每一个{a}"),
)
SWAP = Wordings(
    en=('replace "{a}" with "{b}" in this sentence', "put {b} where it says {a}"),
    zh=("把句中的“{a}”换成“{b}”", "将“{a}”替换为“{b}”"),
)
ENDS = Wordings(
    en=("write only the first {n} letters of the word", "keep just the first {n} letters"),
    zh=("只写出单词的前{n}个字母", "保留前{n}个字母"),
)
JOIN = Wordings(
    en=(
        "join these words with hyphens",
        "connect the words with - and no spaces",
        "turn this into a slug with hyphens",
    ),
    zh=("用连字符(-)连接这些英文单词", "把单词之间的空格换成-", "用-把下面的单词连起来"),
)
INITIALS = Wordings(
    en=("take the first letter of each word and join them", "make an acronym of the first letters"),
    zh=("取每个英文单词的首字母连在一起", "用首字母组成缩写"),
)
COMMON = ("the", "a", "word", "is", "of", "in", "to", "this", "i", "it")
"""What an answer around the word may hold as well."""
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_TOPICS = {said.casefold(): english for english, zh in SENTENCES for said in (english, zh)}


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    draws = (
        _reverse,
        _case,
        _backwards,
        _case,
        _case,
        _nth,
        _sign,
        _no_vowels,
        _replace,
        _swap,
        _ends,
    )
    while True:
        for draw in (*draws, _join, _initials):
            yield from draw(rng)


def _word(rng: random.Random) -> str:
    return rng.choice(LONG_WORDS) if rng.random() < 0.3 else rng.choice(NOUNS)[0]


def _some(rng: random.Random, count: int) -> str:
    return " ".join(pair[0] for pair in rng.sample(NOUNS, count))


def _asked(
    rng: random.Random, wordings: Wordings, item: str, check: Check, **fields: Any
) -> Iterator[Question]:
    # a sentence is the same item in both languages and in every case of its letters
    topic = _TOPICS.get(item.casefold(), item.casefold())
    yield from wordings.ask(
        rng, KIND, topic, check, 32, only=None if wordings.en else "zh", item=item, **fields
    )


def _reverse(rng: random.Random) -> Iterator[Question]:
    word = _word(rng)
    yield from _asked(rng, REVERSE, word, Holds((word[::-1],)))


def _backwards(rng: random.Random) -> Iterator[Question]:
    said = (
        rng.choice(SENTENCES)[1]
        if rng.random() < 0.3
        else rng.choice(NOUNS)[1] + rng.choice(NOUNS)[1]
    )
    yield from _asked(rng, BACKWARDS, said, Holds((said[::-1],)))


def _case(rng: random.Random) -> Iterator[Question]:
    case = rng.choice(tuple(CASES))
    said = rng.choice((_word(rng), _some(rng, 2), rng.choice(SENTENCES)[0]))
    said = said if case == "upper" else said.lower() if case == "title" else said.upper()
    if case == "lower" and rng.random() < 0.3:
        said = "".join(rng.choice((sign.upper(), sign.lower())) for sign in said)
    yield from _asked(rng, CASES[case], said, Verbatim(getattr(said, case)()))


def _nth(rng: random.Random) -> Iterator[Question]:
    said = rng.choice(SENTENCES)[0]
    words = said.split()
    n = rng.choice([place for place, word in enumerate(words[:6]) if word.lower() not in COMMON])
    others = tuple(
        sorted({word for word in words if word.lower() not in COMMON and word != words[n]})
    )
    check = Holds((words[n],), others)
    yield from _asked(rng, NTH, said, check, n=n + 1, nth=ORDINALS[n])


def _sign(rng: random.Random) -> Iterator[Question]:
    said = rng.choice(SENTENCES)[1]
    n = rng.choice([place for place, sign in enumerate(said[:8]) if said.count(sign) == 1])
    check = Holds(
        (said[n],),
        tuple(sorted({sign for sign in said if sign not in "这第个字是的句话一" + said[n]})),
    )
    yield from _asked(rng, SIGN, said, check, n=n + 1)


def _no_vowels(rng: random.Random) -> Iterator[Question]:
    word = _word(rng)
    yield from _asked(rng, NO_VOWELS, word, Holds(("".join(c for c in word if c not in "aeiou"),)))


def _replace(rng: random.Random) -> Iterator[Question]:
    word = _word(rng)
    a = rng.choice(word)
    b = rng.choice([sign for sign in "aeioktxz*" if sign != a])
    yield from _asked(rng, REPLACE, word, Verbatim(word.replace(a, b)), a=a, b=b)


def _swap(rng: random.Random) -> Iterator[Question]:
    english, chinese = rng.choice(SENTENCES)
    old, new = (
        rng.choice([word for word in english.split()[1:] if len(word) > 3]),
        rng.choice(NOUNS),
    )
    done = " ".join(new[0] if word == old else word for word in english.split())
    yield from SWAP.ask(
        rng,
        KIND,
        english,
        Holds((done,), times=2),
        32,
        only="en",
        item=english,
        a=old,
        b=new[0],
    )
    at = rng.randrange(len(chinese) - 1)
    old = chinese[at : at + 2]
    yield from SWAP.ask(
        rng, KIND, english, Holds((chinese.replace(old, new[1]),), times=2), 32,
        only="zh", item=chinese, a=old, b=new[1],
    )  # fmt: skip


def _ends(rng: random.Random) -> Iterator[Question]:
    word, n = _word(rng), rng.randint(3, 4)
    yield from _asked(rng, ENDS, word, Holds((word[:n],)), n=n)


def _join(rng: random.Random) -> Iterator[Question]:
    said = _some(rng, rng.choice((2, 3, 4)))
    yield from _asked(rng, JOIN, said, Holds((said.replace(" ", "-"),)))


def _initials(rng: random.Random) -> Iterator[Question]:
    said = _some(rng, rng.choice((3, 4, 5)))
    yield from _asked(rng, INITIALS, said, Holds(("".join(word[0] for word in said.split()),)))
