"""Prompts of a given size and language, a different one for every call."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ENGLISH = (
    "Explain how the release notes relate to the incident of last week.",
    "Which of these three suppliers should we keep, and what speaks against the other two?",
    "The meeting moved to Thursday, so the draft has to be ready by noon.",
    "Compare the revenue of both quarters and name the largest change.",
    "Our customers write that the second step of the form is hard to understand.",
    "Write a short answer that thanks them and says what happens next.",
    "The train was late, the hall was full and nobody had a key.",
    "List what is still missing before the new warehouse can open in spring.",
)
CHINESE = (
    "请说明这份发布说明和上周的事故有什么关系。",
    "这三家供应商里应该保留哪一家，另外两家的问题是什么？",
    "会议改到星期四，所以草稿必须在中午之前准备好。",
    "比较两个季度的收入，并指出变化最大的一项。",
    "客户反映表单的第二步很难理解。",
    "写一段简短的回复，表示感谢并说明接下来的安排。",
    "火车晚点了，大厅里挤满了人，谁也没有钥匙。",
    "列出新仓库春天开业之前还缺少什么。",
)
SENTENCES = {"en": ENGLISH, "zh": CHINESE, "mixed": ENGLISH + CHINESE}

Measure = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Size:
    """How long a prompt is."""

    title: str
    least: int
    measure: Measure


def sizes(tokens: Measure) -> tuple[Size, ...]:
    """The sizes that are measured; `tokens` counts as the shipped encoder's tokenizer does."""
    counted = tuple(Size(f"{n} tokens", n, tokens) for n in (16, 64, 128, 512))
    return (*counted, Size("4 kB", 4096, lambda text: len(text.encode())))


def prompts(language: str, size: Size, *, seed: int = 7) -> Iterator[str]:
    """Endlessly many prompts of just about `size`, the same ones for the same seed."""
    draw = random.Random(f"{language} {size.title} {seed}")
    while True:
        yield _one(draw, SENTENCES[language], size)


def _one(draw: random.Random, sentences: tuple[str, ...], size: Size) -> str:
    text = draw.choice(sentences)
    while size.measure(text) < size.least:
        text += " " + draw.choice(sentences)
    return _cut(text, size)


def _cut(text: str, size: Size) -> str:
    """The shortest beginning of `text` that is long enough."""
    least, most = 0, len(text)
    while least < most:
        middle = (least + most) // 2
        if size.measure(text[:middle]) < size.least:
            least = middle + 1
        else:
            most = middle
    return text[:most]
