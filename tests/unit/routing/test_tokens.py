"""Characters are counted as if they were looked at one by one; a whole prompt as its parts are."""

from __future__ import annotations

import base64
import random
import re
from itertools import groupby
from math import ceil
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.request import Feature, Message, Request
from hybridge.routing.facts import estimate_prompt_tokens, estimate_tokens, gather
from hybridge.routing.tokens import measure

PIECES = [
    "a", "B", "camelCase", "HTTPServer", " ", "  ", "\n", "\r\n\t", "\x00", "\x1f ", "\x7f", "9", "3.14", "-", "é",
    "ß", "я", "汉", "模型", "かな", "한글", "ㅎ", "，", "Ａｂ", "\xa0", "😀", "\ud83d", "\U00020000", "\uffff", "龘", "x" * 40,
    "Ab1-" * 11, "汉" * 41, " " * 17,
]  # fmt: skip
texts = st.text() | st.lists(st.sampled_from(PIECES)).map("".join)
long_texts = st.builds(str.__mul__, texts, st.sampled_from([1, 50, 900]))


def one_by_one(text: str) -> int:
    """The estimate of a text, written down without a table."""
    tokens = sum(
        3 if ord(c) > 0xFFFE
        else 2 if re.match("[\x7f-\xbfＡ-Ｚａ-ｚ]", c) or rare(c)
        else 0 if c <= " " or re.match("[a-zA-Z]", c)
        else 1
        for c in text
    )  # fmt: skip
    humps = re.findall("(?<![A-Za-z])[A-Za-z]|(?<=[a-z])[A-Z]", text)
    lower, upper = len(re.findall("[a-z]", text)), len(re.findall("[A-Z]", text))
    blanks = ["".join(run) for blank, run in groupby(text, lambda c: c <= " ") if blank]
    gaps = sum(run != " " for run in blanks) + sum(map(len, blanks)) // 16
    blob = sum(len(run) for run in re.findall("[!-~]+", text) if len(run) > 40)
    return tokens + max(len(humps), ceil(lower / 4 + upper / 2.5)) + gaps + ceil(0.5 * blob)


def rare(character: str) -> bool:
    """Of no script that the table knows."""
    known = "\u00c0-\u206f\u2e80-\u303f\u3040-\u318f\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
    return ord(character) > 0x7E and re.match(f"[{known}]", character) is None


@given(long_texts)
def test_a_text_costs_what_its_characters_cost(text: str) -> None:
    assert estimate_tokens(text) == measure(text).tokens == one_by_one(text)


@given(long_texts)
def test_scripts_are_told_apart(text: str) -> None:
    seen = measure(text)
    assert seen.latin == len(re.findall("[A-Za-zＡ-Ｚａ-ｚ]", text))
    assert seen.han == len(re.findall("[\u2e80-\u2fff\u3400-\u9fff\uf900-\ufaff]", text))
    assert seen.kana == len(re.findall("[\u3040-\u30ff\u31f0-\u31ff]", text))
    assert seen.hangul == len(re.findall("[\u1100-\u11ff\u3100-\u318f\uac00-\ud7af]", text))


def test_only_what_is_longer_than_a_word_is_a_blob() -> None:
    random_text = base64.b64encode(random.Random(3).randbytes(60)).decode()
    assert estimate_tokens(random_text) >= 40
    assert estimate_tokens("x" * 41) == ceil(41 / 4) + ceil(41 / 2)
    assert estimate_tokens("x" * 40) == 10


roles = st.sampled_from(["system", "developer", "user", "user", "assistant", "tool"])
messages = st.lists(
    st.builds(Message, roles, texts, images=st.integers(0, 2)), max_size=5
).map(tuple)  # fmt: skip
tools = st.sampled_from([None, [], [{"type": "function"}], "odd", {"name": "说明", "x": object}])
features = st.frozensets(st.sampled_from(Feature))


@given(messages, tools, features)
def test_a_settled_request_is_estimated_as_a_routed_one(
    turns: tuple[Message, ...], told: Any, needs: frozenset[Feature]
) -> None:
    request = Request("r", "cloud", turns, {"tools": told}, features=needs)
    assert estimate_prompt_tokens(request) == gather(request).prompt_tokens
