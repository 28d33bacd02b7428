"""How many letters, words, characters, things."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.vocabulary import LONG_WORDS, NOUNS, SENTENCES
from hybridge.pipeline.quiz.wording import Wordings

KIND = "counting"
LETTER = Wordings(
    en=(
        'How many times does the letter "{c}" appear in "{w}"?',
        'How many {c}\'s are in "{w}"?',
        'Count the letter {c} in the word "{w}".',
        "number of {c} in {w}?",
    ),
    zh=(
        "单词“{w}”里有几个字母{c}？",
        "{w}这个词中字母{c}出现了几次？",
        "数一数“{w}”里有多少个{c}。",
    ),
    form="number",
)
LETTERS = Wordings(
    en=(
        "How many letters are in the word {w}?",
        'How long is the word "{w}" in letters?',
        "count the letters: {w}",
    ),
    zh=("单词“{w}”有几个字母？", "{w}一共多少个字母？", "数一下“{w}”的字母个数。"),
    form="number",
)
VOWELS = Wordings(
    en=(
        'How many vowels (a, e, i, o, u) does "{w}" have?',
        "Count the vowels in {w}.",
        "number of vowels in {w}?",
    ),
    zh=(
        "单词“{w}”里有几个元音字母(a,e,i,o,u)？",
        "数一数{w}中的元音字母个数。",
        "{w}有多少个元音字母？",
    ),
    form="number",
)
WORDS = Wordings(
    en=(
        "count the words in this sentence",
        "tell me how many words this sentence has",
        "give the word count",
    ),
    zh=("数一下这个英文句子有几个单词", "统计下面英文句子的单词数", "说出这句英文里有多少个单词"),
    form="number",
)
CHARACTERS = Wordings(
    en=("How many Chinese characters are in “{s}”?",),
    zh=("“{s}”这句话有几个汉字？", "数一下有多少个字：{s}", "“{s}”一共几个字？", "统计字数：{s}"),
    form="number",
)
SIGN = Wordings(
    en=(),
    zh=("“{s}”里“{c}”字出现了几次？", "数一数“{s}”中有几个“{c}”。", "下面有几个“{c}”？{s}"),
    form="number",
)
ITEMS = Wordings(
    en=(
        "count the items in this list",
        "tell me how many things are listed",
        "say how many items there are",
    ),
    zh=("数一数下面列了几样东西", "说出列表里有多少项", "统计下面有几个词"),
    form="number",
)
REPEATED = Wordings(
    en=('How often does "{w}" occur here? {s}', "Count how many times {w} is in this list: {s}"),
    zh=("“{w}”在下面出现了几次？{s}", "数一下列表里有几个{w}：{s}"),
    form="number",
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    while True:
        for draw in (_letter, _letters, _vowels, _words, _characters, _sign, _items, _repeated):
            yield from draw(rng)


def _word(rng: random.Random) -> str:
    return rng.choice(LONG_WORDS) if rng.random() < 0.5 else rng.choice(NOUNS)[0]


def _letter(rng: random.Random) -> Iterator[Question]:
    word = _word(rng)
    letter = rng.choice("aeiorst") if rng.random() < 0.2 else rng.choice(word)
    yield from LETTER.ask(rng, KIND, word, Number(word.count(letter)), c=letter, w=word)


def _letters(rng: random.Random) -> Iterator[Question]:
    word = _word(rng)
    yield from LETTERS.ask(rng, KIND, word, Number(len(word)), w=word)


def _vowels(rng: random.Random) -> Iterator[Question]:
    word = _word(rng)
    count = sum(letter in "aeiou" for letter in word)
    yield from VOWELS.ask(rng, KIND, word, Number(count), w=word)


def _words(rng: random.Random) -> Iterator[Question]:
    said = [english for english, _ in rng.sample(SENTENCES, rng.choice((1, 1, 2)))]
    item = ", and ".join(said)
    check = Number(len(item.split()))
    yield from WORDS.ask(rng, KIND, f"words {said[0]}", check, item=item)


def _characters(rng: random.Random) -> Iterator[Question]:
    first, second = (said for _, said in rng.sample(SENTENCES, 2))
    item = rng.choice((first, first, first[:5], f"{first}，{second}"))
    count = len(item.replace("，", ""))
    yield from CHARACTERS.ask(rng, KIND, f"signs {item}", Number(count), only="zh", s=item)


def _sign(rng: random.Random) -> Iterator[Question]:
    signs = rng.choice(("山水", "红绿", "上下", "天地", "人口", "大小", "日月"))
    item = "".join(rng.choice(signs) for _ in range(rng.randint(4, 12)))
    check = Number(item.count(signs[0]))
    yield from SIGN.ask(rng, KIND, item, check, only="zh", s=item, c=signs[0])


def _items(rng: random.Random) -> Iterator[Question]:
    pairs = rng.sample(NOUNS, rng.choice((3, 5, 7, 9, 11)))
    item = ", ".join(pair[0] for pair in pairs), "、".join(pair[1] for pair in pairs)
    yield from ITEMS.ask(rng, KIND, f"items {item[0]}", Number(len(pairs)), item=item)


def _repeated(rng: random.Random) -> Iterator[Question]:
    pairs = rng.sample(NOUNS, 3)
    drawn = [rng.choice(pairs) for _ in range(rng.choice((4, 6, 9)))]
    said = " ".join(pair[0] for pair in drawn), " ".join(pair[1] for pair in drawn)
    check = Number(drawn.count(pairs[0]))
    yield from REPEATED.ask(rng, KIND, f"repeated {said[0]}", check, w=pairs[0], s=said)
