"""What routing reads out of a request, in English and Chinese (R1, R6)."""

from __future__ import annotations

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.request import Feature, Message, Request
from hybridge.routing.facts import Facts, estimate_tokens, gather
from hybridge.routing.signs import SIGNS
from hybridge.routing.tasks import TASKS
from hybridge.routing.text import mentions, plain, unquoted


def facts_of(text: str, *before: Message, **more: object) -> Facts:
    messages = (*before, Message("user", text))
    return gather(Request("r", "auto", messages, more.pop("body", {}), **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("Fix the spelling: helo", "correction"),
        ("改正错别字:你号", "correction"),
        ("Please extract the key phrases from this: a", "keywords"),
        ("请从下面的句子中提取关键词:新能源汽车", "keywords"),
        ("Classify the sentiment: fine", "classification"),
        ("這條評論是正面還是負面:很好", "classification"),
        ("What language is this: ciao", "language_detection"),
        ("この文はどの言語?「bonjour」是什么语言", "language_detection"),
        ("Translate into French: cat", "translation"),
        ("把“猫”翻译成法语", "translation"),
        ("次の文を英語に翻訳してください", "translation"),
        ("Good evening!", "greeting"),
        ("안녕하세요", "greeting"),
        ("Summarize this: a b c", "summarise"),
        ("请总结这篇文章", "summarise"),
        ("Extract all dates: 1 May", "extraction"),
        ("Write a poem about rain", "writing"),
        ("写一首关于雨的诗", "writing"),
        ("Write a Python function", "code"),
        ("求x的值:方程2x=4", "math"),
        ("证明根号2是无理数", "reasoning"),
        ("What is rain?", "qa"),
        ("I like rain.", "chat"),
        ("", "chat"),
    ],
)
def test_task(text: str, task: str) -> None:
    assert facts_of(text).task == task


@pytest.mark.parametrize(
    "text",
    [
        "What is the history of machine translation?",
        "机器翻译的发展历史是怎样的",
        "What language should I learn first?",
        "请解释BERT是如何进行文本分类的。",
        "Fix the bug in this function: def f(): pass",
        "Write a poem about the sea and translate it into French",
        "用这些关键词写一段话:秋天、枫叶",
    ],
)
def test_what_only_sounds_like_a_small_task(text: str) -> None:
    small = {"correction", "keywords", "classification", "language_detection", "translation"}
    assert facts_of(text).task not in small


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("prove it by induction", "proof"),
        ("試證明費馬定理", "proof"),
        ("루트2가 무리수임을 증명하세요", "proof"),
        ("√2が無理数であることを証明してください", "proof"),
        ("Explain step-by-step.", "step_by_step"),
        ("请一步一步来", "step_by_step"),
        ("用Python写脚本", "code"),
        ("```\nx = 1\n```", "code"),
        ("who is lying?", "logic"),
        ("Tom has 3 pens and buys 4. How many pens?", "maths"),
        ("小明有三个苹果,又买了5个,一共多少个?", "maths"),
        ("What is rain? Why is it wet?", "multi_part"),
        ("先总结这篇文章,然后写一首诗", "multi_part"),
        ("Is Rome in Spain?", "yes_no_fact"),
        ("罗马在西班牙吗?", "yes_no_fact"),
    ],
)
def test_sign_in_the_text(text: str, sign: str) -> None:
    assert sign in facts_of(text).reasoning


@pytest.mark.parametrize(
    "text",
    ["Good morning!", "Translate: the proof is in the pudding", "请开具收入证明", "云计算是什么",
     "你能帮我吗?", "把“请证明费马定理”翻译成英文", "What is the capital of France?"],
)  # fmt: skip
def test_no_sign(text: str) -> None:
    assert facts_of(text).reasoning == ()


@pytest.mark.parametrize(
    ("feature", "sign"),
    [(Feature.TOOLS, "tools"), (Feature.REASONING, "reasoning_effort"), (Feature.IMAGES, "images"),
     (Feature.JSON_SCHEMA, "json_schema")],
)  # fmt: skip
def test_sign_in_the_request(feature: Feature, sign: str) -> None:
    assert facts_of("hi", features=frozenset({feature})).reasoning == (sign,)
    assert facts_of("hi", features=frozenset({Feature.JSON, Feature.LOGPROBS})).reasoning == ()


def test_long_history_is_a_sign() -> None:
    turn = (Message("user", "tell me more"), Message("assistant", "well"))
    assert "long_history" in facts_of("ok", *turn * 5).reasoning
    assert "long_history" in facts_of("ok", Message("assistant", "word " * 1000)).reasoning
    assert facts_of("ok", *turn).reasoning == ()


def test_a_small_task_may_stand_in_the_system_text() -> None:
    system = Message("system", "Translate what the user writes into French.")
    assert facts_of("What a lovely day", system).task == "translation"
    assert "proof" in facts_of("Prove that 2 is prime", system).reasoning
    long = Message("system", "Translate what the user writes into French. " + "Be kind. " * 80)
    assert facts_of("What a lovely day", long).task != "translation"


@pytest.mark.parametrize(
    ("text", "language"),
    [("hello there", "en"), ("你好世界", "zh"), ("帮我用SQL统计订单并发量", "zh"),
     ("", ""), ("12 + 3", ""),
     ("please explain 量子纠缠 to me 用中文", "mixed"), ("これは日本語の文です", "ja"),
     ("한국어 문장입니다", "ko"),
     ("Привет, мир", "other"), ("café crème", "en"), ("ＨＥＬＬＯ ｗｏｒｌｄ", "en")],
)  # fmt: skip
def test_language(text: str, language: str) -> None:
    assert facts_of(text).language == language


@pytest.mark.parametrize(
    ("text", "follows"),
    [("and why?", True), ("继续", True), ("那第二个呢", True), ("thanks", True),
     ("Translate to French", True),
     ('Translate "cat" into French', False), ("改正错别字:你号", False),
     ("Tell me in detail how the Roman republic became an empire.", False),
     ("请详细说明罗马共和国是怎样变成帝国的", False)],
)  # fmt: skip
def test_short_follow_up(text: str, follows: bool) -> None:
    assert facts_of(text).short_follow_up is follows


def test_chinese_is_as_long_as_it_is() -> None:
    """B38: a 1,500-character Chinese text is no 400 tokens."""
    facts = facts_of("模型" * 750)
    assert 1500 <= facts.tokens <= 1900
    assert facts.prompt_tokens > facts.tokens


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("The quick brown fox jumps over the lazy dog. " * 20, 180),
        (base64.b64encode(random.Random(1).randbytes(3000)).decode(), 2400),
        ("😀" * 100, 100),
        ("        if x:\n                return 12345\n" * 30, 30 * 9),
        ("3.14159265358979" * 10, 150),
    ],
)
def test_estimate_is_never_short(text: str, least: int) -> None:
    """B38: digits, base64, emoji and code cost more than a quarter token per character."""
    assert least <= estimate_tokens(text) <= 3 * least + 50


def test_everything_sent_is_counted() -> None:
    bare = facts_of("hi")
    tools = [{"type": "function", "function": {"name": "f", "description": "说明" * 300}}]
    told = facts_of("hi", body={"tools": tools}, features=frozenset({Feature.TOOLS}))
    assert told.prompt_tokens > bare.prompt_tokens + 600
    seen = facts_of("hi", Message("user", "look", images=2))
    assert seen.prompt_tokens > bare.prompt_tokens + 2000
    with_history = facts_of("hi", Message("system", "汉" * 500))
    assert with_history.prompt_tokens > bare.prompt_tokens + 500
    assert with_history.tokens == bare.tokens


@pytest.mark.parametrize(
    ("text", "keyword", "there"),
    [("帮我用SQL统计", "sql", True), ("帮我用ＳＱＬ统计", "sql", True),
     ("SQL로 작성", "sql", True),
     ("訂單並發量", "并发", True),
     ("a therapist", "api", False), ("the contest", "test", False), ("category", "cat", False),
     ("contest test", "test", True), ("my_api_key", "api", False), ("call the API.", "api", True),
     ("C++, please", "c++", True), ("p\u200by\u200bthon", "python", True)],
)  # fmt: skip
def test_keyword(text: str, keyword: str, there: bool) -> None:
    """B37: found beside Chinese, Japanese and Korean, never inside a Latin word."""
    assert mentions(plain(text), keyword) is there


def test_quotes_are_cut_out() -> None:
    text = plain(
        "Do \"this one\" or “那个” and ```\ncode\n``` <doc>inner</doc> don't 'mind' it\n> said\nend"
    )
    left = unquoted(text)
    for gone in ("this one", "那个", "code", "inner", "mind", "said"):
        assert gone not in left
    assert "don't" in left
    assert left.endswith("end")


@pytest.mark.parametrize(
    "text", ["a" * 10**6, "汉" * 10**6, '"<a>' * 250_000, "write a " * 125_000]
)
def test_a_huge_text_is_measured_whole_but_searched_at_its_ends(text: str) -> None:
    facts = facts_of("Translate this: " + text)
    assert facts.chars > 10**6 - 10
    assert facts.tokens >= facts.chars / 8
    assert len(facts.ask) <= 2100


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    facts = facts_of(text)
    assert facts.task in TASKS
    assert set(facts.reasoning) <= set(SIGNS)
    assert facts.prompt_tokens > facts.tokens >= 0
    assert facts.text == text


@given(st.text(max_size=100), st.text(max_size=100))
def test_more_text_is_never_fewer_tokens(text: str, more: str) -> None:
    assert (
        estimate_tokens(text + "\n" + more) >= max(estimate_tokens(text), estimate_tokens(more)) - 1
    )


def test_lone_surrogates_do_no_harm() -> None:
    assert facts_of("\ud800 hi").tokens > 0
