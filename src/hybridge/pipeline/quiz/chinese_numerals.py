"""Numbers in Chinese characters, from and into digits."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import Number, Verbatim
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.wording import Wordings

KIND = "chinese_numerals"
READ = Wordings(
    en=(
        "Write the Chinese number {s} in digits.",
        "What number is {s}?",
        "Convert {s} to Arabic digits.",
        "How much is {s} in digits?",
        "I saw {s} on a sign in China. Which number is it?",
        "{s} as a number?",
        "Please turn the Chinese numeral {s} into digits.",
        "Chinese {s} means which number?",
    ),
    zh=(
        "把{s}写成阿拉伯数字。",
        "{s}用阿拉伯数字怎么写？",
        "{s}是多少？",
        "将中文数字“{s}”转换为阿拉伯数字。",
        "请问{s}写成数字是什么？",
        "用数字表示：{s}",
        "中文数字{s}等于几？",
        "帮我把{s}转成数字，谢谢。",
    ),
    form="number",
)
WRITE = Wordings(
    en=(
        "Write {n} in Chinese characters (like 三百零五).",
        "How is {n} written in Chinese numerals?",
        "Convert {n} to Chinese characters.",
        "What is {n} in Chinese characters?",
        "Please write {n} as a Chinese number, such as 八十二.",
    ),
    zh=(
        "把{n}写成中文数字。",
        "{n}用汉字怎么写（小写，如三百零五）？",
        "将{n}转换为中文小写数字。",
        "请用中文数字写出{n}。",
        "{n}的中文读法是什么？",
        "数字{n}读作什么？",
        "帮忙把{n}改写成汉字数字。",
    ),
)
DIGITS = "零一二三四五六七八九"


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end: up to a hundred million, the large and those with noughts are the hard ones."""
    while True:
        n = rng.choice((
            rng.randint(11, 99),
                rng.randint(11, 999),
            rng.randint(101, 999),
            rng.randint(1001, 9999),
            rng.randint(1, 9) * 1000 + rng.randint(1, 99),
            rng.randint(1, 999) * 10_000 + rng.randint(0, 9) * 1000,
            rng.randint(10_001, 9_999_999),
        ))  # fmt: skip
        said = chinese(n)
        if rng.random() < 0.55:
            yield from READ.ask(rng, KIND, str(n), Number(n), s=said)
        else:
            yield from WRITE.ask(rng, KIND, str(n), Verbatim(said, 40), 32, n=n)


def chinese(n: int) -> str:
    """`n` below a hundred million as it is read in Chinese."""
    if n >= 10_000:
        high, low = divmod(n, 10_000)
        return f"{chinese(high)}万" + (("零" if low < 1000 else "") + _below(low) if low else "")
    said = _below(n)
    return said[1:] if said.startswith("一十") else said


def _below(n: int) -> str:
    said, gap = "", False
    for size, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = n // size % 10
        if digit:
            said += ("零" if gap and said else "") + DIGITS[digit] + name
        gap = digit == 0
    return said
