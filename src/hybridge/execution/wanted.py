"""The form that a request asks its answer to have (R5, R21)."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hybridge.core.request import Feature, Request
from hybridge.execution import asked
from hybridge.execution.phrases import CHINESE, HEDGE, LATIN, SORRY
from hybridge.learning.wordgrams import sketch

Form = Literal["text", "json", "number", "label", "tool_call"]
Language = Literal["en", "zh"]

# With re.ASCII a Latin word beside a Chinese character is a word of its own.
_FLAGS = re.IGNORECASE | re.ASCII
_JSON = re.compile(
    r"\b(return|output|respond|reply|answer|give)\b[^.?!。？！\n]{0,40}\bjson\b"
    r"|(返回|输出|回答|回复|给出|用|以)[^。？！\n]{0,12}json(?!\s*(里|中|数据|对象里|对象中))",
    _FLAGS,
)
_CODE = re.compile(
    r"\b(function|code|script|program|python|java|sql)\b|代码|函数|程序|脚本", _FLAGS
)
_NUMBER = re.compile(
    r"\b(answer|reply|respond|output)\b[^.?!。\n]{0,30}\b(number|integer|digits?)\b"
    r"|\bhow many\b|只(回答|输出|给出)[^。\n]{0,6}(数字|数值|整数)|等于多少",
    _FLAGS,
)
_LABEL = re.compile(
    r"\b(answer|reply|respond|output)\b[^.?!。\n]{0,30}"
    r"\b(yes or no|true or false|one word|single word|label|category)\b"
    r"|\b(positive|negative)\b.{0,20}\bor\b"
    r"|只(回答|输出|回复)[^。\n]{0,10}(是|否|对|错|“|\"|标签|类别|一个词)",
    _FLAGS,
)
_OTHER_LANGUAGE = re.compile(
    r"translat|english|chinese|french|german|spanish|japanese"
    r"|翻译|译[成为文]|英[文语]|中[文语]|法语|德语|日[文语]|外语",
    re.IGNORECASE,
)
_BRIEF = re.compile(
    r"\b(only|just|nothing else|one word|single|no explanation)\b"
    r"|只|直接给出|不要解释|不要写别的|仅",
    _FLAGS,
)
_WORD = re.compile(r"[a-z]+|\d+|[\u4e00-\u9fff]")
_HEAD = re.compile(r"\s*([^?？:：\n]{4,200}[?？:：])")
_LOOKED_AT = 1000
"""Characters at each end of a long turn: instructions stand at its beginning or at its end."""
_WORDS_OF_A_HEAD = 4
_CHARACTERS_OF_A_HEAD = 6


class Wanted(Struct, frozen=True, dict=True):
    """What a request shows of the answer that it wants; nothing of what the right one is."""

    form: Form = "text"
    limited: bool = False
    """The caller set a limit of tokens, so an answer cut off there is what was asked for."""
    bare: bool = False
    """The JSON must stand alone, since a program will read it (`response_format`)."""
    language: Language | None = None
    """The language that the answer should be in, where that is plain."""
    quoting: bool = False
    """The request itself speaks of doubt or apology, so that they are no sign in its answer."""
    head: str | None = None
    """The question or instruction that the request begins with; no answer begins with it."""
    brief: bool = False
    """The request says that it wants nothing but the result."""
    asked: str = ""
    """The last user turn, case folded; of a long one both ends."""
    script: Language = "en"
    """What the request is mostly written in."""

    @property
    def words(self) -> frozenset[str]:
        """Words, numbers and Chinese characters of the request."""
        return frozenset(_WORD.findall(self.asked))

    @cached_property
    def traits(self) -> list[float]:
        """Of `asked`, as `asked.NAMES` lists them."""
        return asked.traits(self.asked)

    @cached_property
    def sketch(self) -> NDArray[np.float32]:
        """Of `asked`, `(wordgrams.SKETCH,)`; 0.1 to 0.6 ms for the first who asks."""
        return sketch(self.asked)

    @classmethod
    def of(cls, request: Request) -> Wanted:
        """Reads it from the request's features, else from the words of its last user turn."""
        whole = request.last_user_text
        text = whole if len(whole) <= 2 * _LOOKED_AT else whole[:_LOOKED_AT] + whole[-_LOOKED_AT:]
        return cls(
            form=_form(request, text),
            limited=request.max_tokens is not None,
            bare=bool(request.features & {Feature.JSON, Feature.JSON_SCHEMA}),
            language=_language(text),
            quoting=bool(HEDGE.search(text) or SORRY.search(text)),
            head=_head(text),
            brief=bool(_BRIEF.search(text)),
            asked=text.casefold(),
            script="zh" if _is_chinese(text) else "en",
        )


def _form(request: Request, text: str) -> Form:
    if request.features & {Feature.JSON, Feature.JSON_SCHEMA}:
        return "json"
    if Feature.TOOLS in request.features:
        return "tool_call"
    if _JSON.search(text) and not _CODE.search(text):
        return "json"
    if _LABEL.search(text):
        return "label"
    return "number" if _NUMBER.search(text) else "text"


def _language(text: str) -> Language | None:
    """Plain when only one script is there and no other language is spoken of."""
    if _OTHER_LANGUAGE.search(text):
        return None
    if _is_chinese(text):
        return "zh"
    return "en" if LATIN.search(text) and not CHINESE.search(text) else None


def _is_chinese(text: str) -> bool:
    return len(CHINESE.findall(text)) > len(LATIN.findall(text))


def _head(text: str) -> str | None:
    """The beginning up to its first question mark or colon, if it is long enough to be told."""
    found = _HEAD.match(text)
    if found is None:
        return None
    head = found[1]
    telling = len(head.split()) >= _WORDS_OF_A_HEAD
    return head if telling or len(CHINESE.findall(head)) >= _CHARACTERS_OF_A_HEAD else None
