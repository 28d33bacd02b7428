"""Data moved from one form into another: JSON, CSV, Markdown, key=value."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from hybridge.pipeline.quiz.checks import Exact, Holds, JsonIs, Listed, Matches, Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.vocabulary import GOODS, NAMES, NOUNS
from hybridge.pipeline.quiz.wording import Wordings

KIND = "formats"
TO_JSON = Wordings(
    en=(
        "write these fields as a JSON object",
        "convert this to JSON",
        "turn the fields into a JSON object with the same keys",
        "make a JSON object of this",
    ),
    zh=(
        "把这些字段写成JSON对象",
        "转换成JSON，键名不变",
        "将下面的字段变成JSON对象",
        "用同样的键生成JSON",
    ),
    form="json",
)
CSV = Wordings(
    en=(
        "convert this CSV row to a JSON object, using the header as keys",
        "turn the CSV (header and one row) into one JSON object",
        "make a JSON object out of this CSV",
    ),
    zh=(
        "把这行CSV按表头转换成JSON对象",
        "将CSV（表头和一行）变成一个JSON对象",
        "用表头作键，把CSV写成JSON对象",
    ),
    form="json",
)
ARRAY = Wordings(
    en=(
        "write these as a JSON array of strings",
        "turn the list into a JSON array",
        "make a JSON array of the words",
    ),
    zh=("把这些词写成JSON字符串数组", "将列表转换成JSON数组", "用这些词生成JSON数组"),
    form="json",
)
VALUE = Wordings(
    en=(
        'give the value of "{k}" in this JSON',
        "read the JSON and tell me {k}",
        "what is {k}? JSON: {item} {form}",
        "look up the key {k}",
    ),
    zh=(
        "给出这个JSON里“{k}”的值",
        "读JSON，告诉我{k}是什么",
        "{k}的值是？JSON：{item} {form}",
        "查出键{k}的值",
    ),
)
KEYS = Wordings(
    en=("list the keys of this JSON object", "name all keys in the JSON"),
    zh=("列出这个JSON对象的所有键", "写出JSON中的键名"),
    form="list",
)
COMMAS = Wordings(
    en=(
        "turn this Markdown list into one line with commas",
        "write the bullet points as a comma-separated list",
        "join the bullets with commas",
    ),
    zh=(
        "把这个Markdown列表改写成一行，用逗号分隔",
        "将各项目用逗号连成一行",
        "把要点写成逗号分隔的列表",
    ),
    form="list",
)
BULLETS = Wordings(
    en=(
        "make a Markdown bullet list of these, each line starting with '- '",
        "write these as bullets, one per line, with '- ' in front",
    ),
    zh=("把这些写成Markdown列表，每行以“- ”开头", "每项一行，前面加“- ”"),
)
PAIRS = Wordings(
    en=(
        "write this JSON as key=value pairs joined by &",
        "turn the object into a query string (a=1&b=2)",
    ),
    zh=("把JSON写成用&连接的key=value", "将这个对象转换为查询字符串(a=1&b=2)"),
)
LENGTH = Wordings(
    en=("count the elements of this JSON array", "say how many items the array has"),
    zh=("数一数这个JSON数组有几个元素", "说出数组的长度"),
    form="number",
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    draws = (_to_json, _csv, _array, _value, _commas, _value, _keys, _bullets, _pairs, _length)
    while True:
        for draw in draws:
            yield from draw(rng)


def _record(rng: random.Random, size: int) -> dict[str, Any]:
    everything: dict[str, Any] = {
        "name": rng.choice(NAMES)[0],
        "age": rng.randint(18, 80),
        "city": rng.choice(("Rome", "Oslo", "Lima", "Paris", "Cairo")),
        "id": rng.randint(100, 9999),
        "item": rng.choice(GOODS)[0],
        "price": rng.randint(5, 99) + rng.choice((0.25, 0.5, 0.75)),
        "active": rng.random() < 0.5,
        "color": rng.choice(("red", "blue", "green", "black")),
        "size": rng.choice(("S", "M", "L")),
    }
    return {key: everything[key] for key in rng.sample(sorted(everything), size)}


def _shown(value: Any) -> str:
    return json.dumps(value) if not isinstance(value, str) else value


def _to_json(rng: random.Random) -> Iterator[Question]:
    record = _record(rng, rng.choice((2, 3, 4)))
    joint, sign = rng.choice(((", ", "="), ("\n", ": "), ("; ", ": ")))
    item = joint.join(f"{key}{sign}{_shown(value)}" for key, value in record.items())
    yield from TO_JSON.ask(rng, KIND, item, JsonIs(_loose(record)), 64, item=item)


def _loose(record: dict[str, Any]) -> dict[str, Any]:
    """Values as text: a number or a truth value may be said as one or as a string."""
    return {key: _shown(value) for key, value in record.items()}


def _csv(rng: random.Random) -> Iterator[Question]:
    record = {key: value for key, value in _record(rng, 4).items() if key != "active"}
    item = f"{','.join(record)}\n{','.join(map(_shown, record.values()))}"
    yield from CSV.ask(rng, KIND, item, JsonIs(_loose(record)), 64, item=item)


def _array(rng: random.Random) -> Iterator[Question]:
    words = _words(rng)
    checks = JsonIs([word[0] for word in words]), JsonIs([word[1] for word in words])
    yield from ARRAY.ask(rng, KIND, f"array {words}", checks, 48, item=_joined(words))


def _words(rng: random.Random) -> list[tuple[str, str]]:
    return rng.sample(NOUNS, rng.choice((2, 3, 4, 5)))


def _joined(words: list[tuple[str, str]]) -> tuple[str, str]:
    return ", ".join(word[0] for word in words), "、".join(word[1] for word in words)


def _value(rng: random.Random) -> Iterator[Question]:
    record = _record(rng, rng.choice((3, 4)))
    key = rng.choice([each for each in record if each != "active"])
    if rng.random() < 0.5:
        record = {"status": "ok", "data": record}
    value, item = record.get("data", record)[key], json.dumps(record)
    check = Number(value) if isinstance(value, int | float) else Holds((value,), times=2)
    yield from VALUE.ask(rng, KIND, item, check, item=item, k=key)


def _keys(rng: random.Random) -> Iterator[Question]:
    record = _record(rng, rng.choice((2, 3, 4)))
    item = json.dumps(record)
    yield from KEYS.ask(rng, KIND, item, Listed(tuple(record), ordered=False), item=item)


def _commas(rng: random.Random) -> Iterator[Question]:
    words = _words(rng)
    mark = rng.choice("-*")
    item = tuple("\n".join(f"{mark} {word[side]}" for word in words) for side in (0, 1))
    checks = Listed(tuple(word[0] for word in words)), Listed(tuple(word[1] for word in words))
    yield from COMMAS.ask(rng, KIND, f"bullets {words}", checks, 32, item=item)


def _bullets(rng: random.Random) -> Iterator[Question]:
    words = _words(rng)
    checks = tuple(
        Matches(
            r"(?:[^\n]{0,50}[:：]\n+)?(?:```\w*\n)?"
            + r" *\n+".join(f"- {word[side]}" for word in words)
            + r"(?:\n```)?"
        )
        for side in (0, 1)
    )
    yield from BULLETS.ask(
        rng, KIND, f"to {words}", (checks[0], checks[1]), 40, item=_joined(words)
    )


def _pairs(rng: random.Random) -> Iterator[Question]:
    record = {
        key: value for key, value in _record(rng, 3).items() if key not in {"active", "price"}
    }
    said, item = "&".join(f"{key}={value}" for key, value in record.items()), json.dumps(record)
    yield from PAIRS.ask(rng, KIND, item, Exact((said, f"?{said}")), 32, item=item)


def _length(rng: random.Random) -> Iterator[Question]:
    values = [
        rng.choice((rng.randint(0, 99), rng.choice(NOUNS)[0])) for _ in range(rng.randint(3, 9))
    ]
    item = json.dumps(values)
    yield from LENGTH.ask(rng, KIND, item, Number(len(values)), item=item)
