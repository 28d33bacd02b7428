"""R5: what is visibly wrong with an answer, and what only looks so, in English and Chinese."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hybridge.core.request import Feature, Message, Request
from hybridge.execution.form import flaw
from hybridge.execution.wanted import Wanted

LONG = (
    "The matter has many sides: some birds have wings that carry them far, others use theirs to "
    "swim, and a few have all but lost them; which of these one has in mind depends on the place, "
    "on the season, and on what the question was meant to find out in the first place."
)


def wanted(text: str, *features: Feature, max_tokens: int | None = None) -> Wanted:
    request = Request("r", "auto", (Message("user", text),), {}, max_tokens=max_tokens)
    return Wanted.of(replace(request, features=frozenset(features)))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("What is 23 + 19? Answer with the number only.", "number"),
        ("How many continents are there?", "number"),
        ("23 + 19 等于多少？只回答数字。", "number"),
        ("Is a whale a fish? Answer yes or no.", "label"),
        ("Is this review positive or negative? I love it", "label"),
        ("这条评论是正面还是负面？只回答“正面”或“负面”。", "label"),
        ("只回答是或否：北京是中国的首都吗？", "label"),
        ("Return a JSON object with keys name and age for: Maria is 34.", "json"),
        ("提取姓名和年龄，用JSON格式返回：小明今年八岁。", "json"),
        ("Write a Python function that parses JSON.", "text"),
        ("写一个返回JSON的Python函数", "text"),
        ("How much do you love me?", "text"),
        ("Tell me about the number theory of primes.", "text"),
        ("解释一下什么是标签传播", "text"),
    ],
)
def test_the_form_is_read_from_the_words(text: str, form: str) -> None:
    assert wanted(text).form == form


@pytest.mark.parametrize(
    ("feature", "form"),
    [(Feature.JSON, "json"), (Feature.JSON_SCHEMA, "json"), (Feature.TOOLS, "tool_call")],
)
def test_a_feature_says_more_than_words(feature: Feature, form: str) -> None:
    assert wanted("How many continents are there?", feature).form == form


@pytest.mark.parametrize(
    ("asked", "answer", "what"),
    [
        ("Tell me a story.", " \n", "empty"),
        ("What is the capital of Chile?", "I’m sorry, but I can't help with that.", "refusal"),
        ("智利的首都是哪里？", "抱歉，作为一个人工智能语言模型，我无法回答。", "refusal"),
        ("Who won in 1950?", "As an AI, I have no access to that.", "refusal"),
        ("Who won in 1950?", "Hard to say. Perhaps Uruguay.", "hedging"),
        ("谁赢了1950年的比赛？", "这个我不太清楚，可能是乌拉圭。", "hedging"),
        ("Say hello.", "Hello! " * 12, "repetition"),
        ("早上好怎么说", "早上好看！\n\n" * 10, "repetition"),
        ("一年有多少个月", "你知道吗" + "－" * 60, "repetition"),
        ("How many continents are there?", "There are some.", "no number"),
        ("Is it good? Answer with one word.", LONG, "no label"),
        ("意大利的首都是哪里？只回答城市名。", "意大利的首都是哪里？只回答城市名。", "echo"),
        ("Classify the text as A or B: hello", "Classify the text as A or B: hello", "echo"),
        (
            "铁是金属吗",
            "This is a classic example of a logical fallacy in the text.",
            "wrong language",
        ),
        ("Is iron a metal", "铁是一种常见的金属，用途很广泛。", "wrong language"),
    ],
)
def test_flaws(asked: str, answer: str, what: str) -> None:
    assert flaw(answer, finish_reason="stop", wanted=wanted(asked)) == what


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Translate to English: 我不知道他在哪里。", "I don't know where he is."),
        ("Write an apology to a customer.", "I'm sorry for the delay of your parcel."),
        ("写一封道歉信", "对不起，让您久等了。"),
        ("How many legs has a spider?", "Eight."),
        ("How many months has a year?", "A dozen."),
        ("一年有几个月？只回答数字", "十二"),
        ("Translate to Chinese: iron is a metal", "铁是一种金属，这是大家都知道的。"),
        ("把下面的话翻译成英文：铁是金属", "Iron is a metal, as everybody in this room knows."),
        ("5 乘 8 等于多少？", "40"),
        (
            "写一个排序函数",
            "```python\ndef sort(rows): return sorted(rows, key=len, reverse=True)\n```",
        ),
        ("Draw a line.", "Here it is:\n" + "-" * 80),
        ("Can penguins fly? Answer yes or no.", f"No, they cannot. {LONG}"),
        ("3 * 11 = ?", "3 * 11 = 33"),
        ("def f(x):", "def f(x):\n    return x"),
        ("给我三个例子", "1. 苹果\n2. 香蕉\n3. 橘子"),
    ],
)
def test_what_only_looks_like_a_flaw(asked: str, answer: str) -> None:
    assert flaw(answer, finish_reason="stop", wanted=wanted(asked)) is None


def test_an_answer_cut_off_is_flawed_unless_the_caller_set_the_limit() -> None:
    text = "Once upon a time there was"
    assert flaw(text, finish_reason="length", wanted=wanted("A story.")) == "cut off"
    assert flaw(text, finish_reason="length", wanted=wanted("A story.", max_tokens=6)) is None


@pytest.mark.parametrize(
    ("answer", "bare", "spoken"),
    [
        ('{"name": "Maria", "age": 34}', True, True),
        ('```json\n{"name": "Maria"}\n```', False, True),
        ('Here it is: {"name": "Maria"} as you asked.', False, True),
        ("名字是 Maria，年龄 34。", False, False),
        ('{"name": "Maria", "age": 3', False, False),
    ],
)
def test_json_must_stand_alone_only_where_a_program_reads_it(
    answer: str, bare: bool, spoken: bool
) -> None:
    by_feature = wanted("Who?", Feature.JSON)
    by_words = wanted("Return JSON for: Maria is 34")
    assert (flaw(answer, finish_reason="stop", wanted=by_feature) is None) is bare
    assert (flaw(answer, finish_reason="stop", wanted=by_words) is None) is spoken


def test_an_answer_of_tool_calls_has_no_text() -> None:
    assert flaw("", finish_reason="tool_calls", wanted=wanted("Weather?", Feature.TOOLS)) is None


def test_a_beginning_is_judged_only_by_what_cannot_mend() -> None:
    number, prose = wanted("How many continents are there?"), wanted("Tell me.")
    assert flaw("", finish_reason=None, wanted=prose) is None
    assert flaw("There are", finish_reason=None, wanted=number) is None
    assert flaw("I'm sorry, but", finish_reason=None, wanted=prose) == "refusal"


@pytest.mark.parametrize(
    ("text", "brief", "script"),
    [
        ("What is 2 + 2? Just the number.", True, "en"),
        ("What is 2 + 2?", False, "en"),
        ("只回答数字：2加2等于几？", True, "zh"),
        ("把 hello world 翻译成中文，直接给出结果。", True, "zh"),
    ],
)
def test_a_request_tells_whether_it_wants_only_the_result(
    text: str, brief: bool, script: str
) -> None:
    wanted = Wanted.of(Request("", "auto", (Message("user", text),), body={}))
    assert (wanted.brief, wanted.script) == (brief, script)
    assert set("2") <= wanted.words or "hello" in wanted.words


def test_json_that_is_only_read_is_not_asked_for() -> None:
    text = '以下JSON里“name”的值是什么？{"name": "Paul"}'
    assert Wanted.of(Request("", "auto", (Message("user", text),), body={})).form == "text"
