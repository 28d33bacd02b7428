"""Ways to ask for the same thing: terse, polite and chatty, each naming the form that is wanted."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from hybridge.pipeline.quiz.checks import Check, Label
from hybridge.pipeline.quiz.question import Language, Question

YES = (
    Label("yes", ("no", "not", "isn't", "false"), ("true",)),
    Label("是", ("不", "否", "没", "错"), ("对", "能", "可以", "正确", "大于", "yes")),
)
NO = (
    Label("no", ("yes", "true"), ("is not", "isn't", "false", "does not")),
    Label(
        "不是",
        ("是", "对", "能", "可以", "大于", "yes"),
        ("否", "不能", "不可", "不大于", "不一定", "不会", "不匹配", "不对", "没有", "错", "no"),
    ),
)
"""What says yes and no, in English and in Chinese."""

LANGUAGES: tuple[Language, Language] = ("en", "zh")

FORMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "number": (
        (
            "Just the number.",
            "Answer with the number only.",
            "Give only the final number.",
            "Reply with one number, no explanation.",
            "Number only, please.",
        ),
        (
            "只回答数字。",
            "只写数字。",
            "直接给出数字，不要解释。",
            "只要一个数字。",
            "请只回复一个数字。",
        ),
    ),
    "fraction": (
        ("Just the fraction, in lowest terms.", "Only the fraction, in lowest terms."),
        ("只写最简分数。", "用最简分数回答，不要写别的。"),
    ),
    "text": (
        (
            "Only the result.",
            "Answer with the result only.",
            "Just the result, no explanation.",
            "Reply with nothing else.",
            "Only give me the answer.",
        ),
        ("只写结果。", "只回答结果。", "直接给出结果，不要解释。", "只要结果。", "不要写别的。"),
    ),
    "word": (
        (
            "Answer in one word.",
            "One word only.",
            "Just the word, nothing else.",
            "Reply with a single word.",
        ),
        ("只回答这个词。", "只写一个词。", "直接给出答案，不要解释。", "只要答案。"),
    ),
    "name": (
        (
            "Just the name.",
            "Answer with the name only.",
            "Only the name, please.",
            "One name only.",
        ),
        ("只回答名字。", "只写名字。", "直接说名字。", "只要名字，不要解释。"),
    ),
    "list": (
        (
            "Separate them with commas.",
            "Only the list, with commas.",
            "Answer with a comma-separated list only.",
            "Commas between them, nothing else.",
        ),
        (
            "用逗号隔开。",
            "只写结果，用逗号分隔。",
            "只给出用逗号隔开的列表。",
            "用逗号分隔，不要解释。",
        ),
    ),
    "yesno": (
        ("Yes or no?", "Answer yes or no.", "Just yes or no.", "Reply with yes or no only."),
        ("只回答“是”或“不是”。", "回答是或不是。", "请只说是或者不是。", "是还是不是？"),
    ),
    "json": (
        (
            "JSON only.",
            "Reply with JSON only.",
            "Output only the JSON.",
            "Return just JSON, no comments.",
        ),
        ("只输出 JSON。", "只返回 JSON。", "只写 JSON，不要解释。", "直接给出 JSON。"),
    ),
    "none": (("",), ("",)),
}
"""What is wanted of the answer, by name, in English and in Chinese."""

FRAMES: tuple[tuple[str, ...], tuple[str, ...]] = (
    (
        "{Task}. {form}\n{item}",
        "{Task}. {form} {item}",
        "{form} {Task}: {item}",
        "Please {task}. {form}\n\n{item}",
        "Could you {task}? {form}\n{item}",
        "Task: {task}. {form}\nInput: {item}\nOutput:",
        "Hi there, can you {task} for me? {form} {item}",
        "I need you to {task}. {form}\n{item}",
        "Quick one: {task}. {form} {item}",
        "{item}\n{Task}. {form}",
        "{item}\n\nPlease {task}. {form}",
        "Here it is: {item}\n{Task}, please. {form}",
    ),
    (
        "{task}。{form}\n{item}",
        "{task}：{item}\n{form}",
        "{form}{task}：{item}",
        "请{task}。{form}\n\n{item}",
        "帮我{task}，谢谢。{form}\n{item}",
        "任务：{task}。{form}\n输入：{item}\n输出：",
        "你好，能{task}吗？{form}{item}",
        "麻烦你{task}。{form}\n{item}",
        "我想{task}，{form}{item}",
        "{item}\n{task}。{form}",
        "{item}\n\n请{task}。{form}",
        "内容是：{item}\n帮忙{task}，{form}",
    ),
)
"""Around a task in the imperative, by language; most put the task first and the item last."""


class Wordings(Struct, frozen=True):
    """Several ways to say one task. Without an item they are whole questions, and so is each that
    holds `{item}` itself; the others go into a frame."""

    en: tuple[str, ...]
    zh: tuple[str, ...]
    form: str = "text"

    def ask(
        self,
        rng: random.Random,
        kind: str,
        topic: str,
        check: Check | tuple[Check, Check],
        max_tokens: int = 24,
        form: str = "",
        only: Language | None = None,
        **fields: Any,
    ) -> Iterator[Question]:
        """The question in each language, or in one. A pair is the English and the Chinese side."""
        for side, language in enumerate(LANGUAGES):
            if only in {None, language}:
                mine = {name: _side(value, side) for name, value in fields.items()}
                said = rng.choice(FORMS[form or self.form][side])
                text = _put(rng, rng.choice((self.en, self.zh)[side]), side, said, mine)
                yield Question(text, language, kind, topic, _side(check, side), max_tokens)


def _side(value: Any, side: int) -> Any:
    return value[side] if isinstance(value, tuple) else value


def _put(rng: random.Random, wording: str, side: int, form: str, fields: Mapping[str, Any]) -> str:
    if "item" in fields and "{item}" not in wording:
        task = wording.format(**fields)
        frame = rng.choice(FRAMES[side])
        capital = task[0].upper() + task[1:]
        if "\n" in fields["item"]:
            frame = frame.replace(" {item}", "\n{item}").replace("：{item}", "：\n{item}")
        said = frame.format(task=task, Task=capital, form=form, item=fields["item"])
    elif "{form}" in wording:
        said = wording.format(form=form, **fields)
    else:
        space, said = ("", " ")[side == 0], wording.format(**fields)
        closed = said.endswith(tuple(".?!。？！"))
        first = rng.random() < 0.5
        said = f"{form}{space}{said}" if first else f"{said}{space if closed else chr(10)}{form}"
    return said.strip().replace(" \n", "\n")
