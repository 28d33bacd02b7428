"""Short questions with known answers, in English and Chinese: what confidence is fitted on.

They are what a small model is asked in real life: sums, sentiment, intents, extraction, spelling,
translation, dates, yes or no, plain facts. Written for this project.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from hybridge.pipeline import question_rows as rows

Language = Literal["en", "zh"]
SUMS = 30
"""Sums in each language."""
EXTRACTIONS = 8
"""Texts to find something in, of each sort."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question, and how its answer is told right from wrong."""

    text: str
    language: Language
    kind: str
    right: tuple[str, ...]
    """Any of these must be in the answer. Of a `sum`, the last number must be the first of them;
    a `yes_no` must begin with one."""
    wrong: tuple[str, ...] = ()
    """None of these may be there in the same way."""

    def accepts(self, answer: str) -> bool:
        """Whether the answer is right."""
        said = answer.casefold()
        if self.kind == "sum":
            numbers = re.findall(r"-?\d+", said.replace(",", ""))
            return bool(numbers) and numbers[-1] == self.right[0]
        if self.kind == "yes_no":
            said = said.lstrip(" \n\"'*“‘")
            return said.startswith(self.right) and not said.startswith(self.wrong)
        return any(_holds(said, part) for part in self.right) and not any(
            _holds(said, part) for part in self.wrong
        )


def questions(seed: int = 7) -> list[Question]:
    """All questions in random order; the same ones for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    every = [*_sums(rng), *_capitals(), *_labels(), *_rewritten(), *_extractions(rng), *_known()]
    rng.shuffle(every)
    return every


def _holds(said: str, part: str) -> bool:
    """Whether `part` is there as a word or number of its own."""
    return bool(re.search(rf"(?<![0-9a-z]){re.escape(part.casefold())}(?![0-9a-z])", said))


def _sums(rng: random.Random) -> Iterator[Question]:
    for _ in range(SUMS):
        sign = rng.choice("+-*")
        highest = 12 if sign == "*" else 60
        a, b = rng.randint(2, highest), rng.randint(2, highest)
        result = str({"+": a + b, "-": a - b, "*": a * b}[sign])
        what = f"{a} {sign} {b}"
        yield Question(f"What is {what}? Answer with the number only.", "en", "sum", (result,))
        yield Question(f"{what} 等于多少？只回答数字。", "zh", "sum", (result,))


def _capitals() -> Iterator[Question]:
    for row in rows.CAPITALS.strip().replace("\n", "|").split("|"):
        country, capital, country_zh, capital_zh = row.split()
        en = f"What is the capital of {country}? Answer with the name only."
        yield Question(en, "en", "capital", (capital,))
        yield Question(f"{country_zh}的首都是哪里？只回答城市名。", "zh", "capital", (capital_zh,))


def _labels() -> Iterator[Question]:
    for label, texts in rows.OPINIONS_EN.items():
        ask = "Is this review positive or negative? Answer with one word. Review: "
        other = tuple(rows.OPINIONS_EN.keys() - {label})
        yield from (Question(ask + text, "en", "sentiment", (label,), other) for text in texts)
    for label, texts in rows.OPINIONS_ZH.items():
        ask = "这条评论是正面还是负面？只回答“正面”或“负面”。评论："
        other = tuple(rows.OPINIONS_ZH.keys() - {label})
        yield from (Question(ask + text, "zh", "sentiment", (label,), other) for text in texts)
    for text, label in rows.INTENTS_EN:
        labels = "refund, order_status, complaint or greeting"
        ask = f"Classify as {labels}. Answer with the label only: "
        yield Question(ask + text, "en", "intent", (label,), _others(rows.INTENTS_EN, label))
    for text, label in rows.INTENTS_ZH:
        ask = "将用户意图分类为：查天气、订机票、播放音乐、闹钟。只回答类别。用户："
        yield Question(ask + text, "zh", "intent", (label,), _others(rows.INTENTS_ZH, label))


def _others(intents: Iterable[tuple[str, str]], label: str) -> tuple[str, ...]:
    return tuple(sorted({other for _, other in intents} - {label}))


def _rewritten() -> Iterator[Question]:
    for text, right in rows.SPELLING_EN:
        ask = "Correct the mistakes and output only the corrected sentence: "
        yield Question(ask + text, "en", "spelling", tuple(right.split("|")))
    for text, right in rows.SPELLING_ZH:
        yield Question(f"改正错别字，只输出结果：{text}", "zh", "spelling", (right,))
    for en, zh in rows.WORDS:
        yield Question(f"Translate to Chinese: {en}", "en", "translation", tuple(zh.split("|")))
        yield Question(f"翻译成英文：{zh.split('|')[0]}", "zh", "translation", (en,))


def _extractions(rng: random.Random) -> Iterator[Question]:
    names = ("anna", "tom", "maria", "john", "wei", "lucy", "omar", "nina")
    for name in names[:EXTRACTIONS]:
        day, room = rng.randint(10, 28), rng.randint(101, 420)
        address = f"{name}{day}@example.com"
        yield Question(
            f"Extract the e-mail address, answer with it only: Write to {address} by Friday.",
            "en",
            "extraction",
            (address,),
            ("write to",),
        )
        yield Question(
            "Which day is the meeting? Answer with the date only: "
            f"We meet on March {day} in {room}.",
            "en",
            "extraction",
            (f"March {day}",),
            (str(room),),
        )
        yield Question(
            f"从句子中提取日期，只回答日期：会议定于3月{day}日在{room}室举行。",
            "zh",
            "extraction",
            (f"3月{day}日",),
            (str(room),),
        )
        yield Question(
            f"从句子中提取房间号，只回答数字：会议定于3月{day}日在{room}室举行。",
            "zh",
            "extraction",
            (str(room),),
            (str(day),),
        )


def _known() -> Iterator[Question]:
    for text, right in rows.YES_NO_EN:
        other = "no" if right == "yes" else "yes"
        yield Question(f"{text} Answer yes or no.", "en", "yes_no", (right,), (other,))
    for text, right in rows.YES_NO_ZH:
        yes, no = ("是",), ("不", "否")
        told = (yes, no) if right == "是" else (no, yes)
        yield Question(f"{text}只回答“是”或“不是”。", "zh", "yes_no", *told)
    for text, right in rows.FACTS_EN:
        yield Question(text, "en", "fact", tuple(right.split("|")))
    for text, right in rows.FACTS_ZH:
        yield Question(text, "zh", "fact", tuple(right.split("|")))
