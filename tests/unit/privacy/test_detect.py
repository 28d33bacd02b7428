"""What the detectors find, in Chinese and English, whatever stands around it (R30)."""

from __future__ import annotations

import base64
import re
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.privacy.finding import TYPES, Level
from hybridge.privacy.scan import PIECE, detect

ID = "11010519491231002X"  # the example of GB 11643 itself


def found(text: str) -> list[tuple[str, str]]:
    """Type and value of everything that is acted on."""
    return [(f.type, text[f.start : f.end]) for f in detect(text) if f.level >= Level.MEDIUM]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        (f"身份证号{ID}请保密", "CN_ID", ID),
        (f"身份证号{ID.lower()}请保密", "CN_ID", ID.lower()),
        (f"{ID}", "CN_ID", ID),
        ("旧身份证110105491231002还能用吗", "CN_ID", "110105491231002"),
        ("手机13800138000找我", "PHONE", "13800138000"),
        ("请致电010-62345678咨询", "PHONE", "010-62345678"),
        ("reach me at +44 20 7946 0958", "PHONE", "+44 20 7946 0958"),
        ("my phone: (415) 555-2671", "PHONE", "(415) 555-2671"),
        ("卡号4111111111111111已冻结", "BANK_CARD", "4111111111111111"),
        ("amex 378282246310005", "BANK_CARD", "378282246310005"),
        ("pay to DE89 3704 0044 0532 0130 00 today", "IBAN", "DE89 3704 0044 0532 0130 00"),
        ("写信到zhang.wei@corp.cn吧", "EMAIL", "zhang.wei@corp.cn"),
        ("mail: jane (at) acme dot com", "EMAIL", "jane (at) acme dot com"),
        ("护照E12345678丢了", "PASSPORT", "E12345678"),
        ("统一社会信用代码91350100M000100Y43", "USCC", "91350100M000100Y43"),
        ("车牌京A12345违章", "PLATE", "京A12345"),
        ("新能源粤BD12345", "PLATE", "粤BD12345"),
        ("My SSN is 536-22-1234.", "US_SSN", "536-22-1234"),
        ("住在北京市海淀区中关村大街27号3单元", "ADDRESS", "住在北京市海淀区中关村大街27号3单元"),
        ("I live at 742 Evergreen Terrace, Springfield", "ADDRESS", None),
        ("我叫王建华，今年三十岁", "PERSON", "王建华"),
        ("My name is Ellen Ripley.", "PERSON", "Ellen Ripley"),
        ("出生日期：1988年3月2日", "DOB", "1988年3月2日"),
        ("加我微信wei_zhang88", "ACCOUNT", "wei_zhang88"),
        ("QQ:123456789", "ACCOUNT", "123456789"),
        ("login from 185.199.108.153 by root", "IP", "185.199.108.153"),
        ("client 2a00:1450:4001:81b::200e", "IP", "2a00:1450:4001:81b::200e"),
        ("key AKIAIOSFODNN7QWERTYU leaked", "SECRET", "AKIAIOSFODNN7QWERTYU"),
        ("数据库密码：Tr0ub4dor&3x", "SECRET", "Tr0ub4dor&3x"),
    ],
)
def test_it_is_found_where_it_stands(text: str, kind: str, value: str | None) -> None:
    hits = found(text)
    assert kind in [hit for hit, _ in hits]
    assert value is None or (kind, value) in hits


@pytest.mark.parametrize(
    "text",
    [
        "Request id 123e4567-e89b-12d3-a456-426614174000 failed",
        "Convert 1700000000 to a date",
        "git revert 425c8d99d19bdd0b6cc60d5d32cbe54014c2b54b",
        "Ping 192.168.1.1, DNS 8.8.8.8, docs use 203.0.113.5",
        "ISBN 978-7-111-40701-0 这本书怎么样",
        "The number 4111111111111112 has sixteen digits",
        "pip install torch==2.5.1+cu121",
        "REFRIGERATOR INFLAMMABLE",
        "2026年12月1日到2027年11月30日共多少天",
        "What is 45166915640 divided by 410?",
        "订单编号20261130123456789什么时候发货",
        "京A牌照和京B牌照有什么区别？",
        "李白的静夜思表达了什么感情？王先生怎么看？",
        "write to noreply@corp.com or user@example.com",
        "git clone git@github.com:octocat/Hello-World.git",
        "API_KEY = process.env.API_KEY",
        "Dr. Watson and Mr. Sherlock Holmes meet",
        "name: Build And Test\non: push",
        "手机号脱敏后显示138****2848",
        "身份证号前6位是地区码，之后8位是生日",
        "The population was 1,448,470,052; x = 3.14159265358979",
        "客服热线400-820-8820",
    ],
)
def test_ordinary_text_is_let_go(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "disguised",
    [
        "１３８００１３８０００",
        "138-0013-8000",
        "138 0013 8000",
        "138\u200b0013\u200b8000",
        "1\u00ad3\u00ad8\u00ad00138000",
        "138\u30000013\u30008000",
        "138–0013–8000",
        "1 3 8 0 0 1 3 8 0 0 0",
        "138\n00138000",
        "一三八零零一三八零零零",
        "壹叁捌零零壹叁捌零零零",
        "幺三八洞洞幺三八洞洞洞",
        "①③⑧⓪⓪①③⑧⓪⓪⓪",
        "١٣٨٠٠١٣٨٠٠٠",
        "+86 138 0013 8000",
        "008613800138000",
        base64.b64encode("电话13800138000".encode()).decode(),
        b"13800138000".hex(),
        quote("电话13800138000"),
        "".join(f"&#{ord(c)};" for c in "13800138000"),
        "".join(f"\\u{ord(c):04x}" for c in "13800138000"),
    ],
)
def test_a_disguise_does_not_help(disguised: str) -> None:
    text = f"我的手机号是{disguised}，谢谢"
    assert found(text) == [("PHONE", disguised)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("手机l39l2345O78，谢谢", "l39l2345O78"),
        ("sent as %E7%94%B5%E8%AF%9D13800138000 there", "%E7%94%B5%E8%AF%9D13800138000"),
        (r"log: \u7535\u8bdd13800138000", r"\u7535\u8bdd13800138000"),
    ],
)
def test_half_a_disguise_does_not_help(text: str, value: str) -> None:
    assert found(text) == [("PHONE", value)]


def test_a_wrong_check_digit_needs_a_name() -> None:
    wrong = ID[:-1] + "1"
    assert found(f"号码段{wrong[:17]}") == []
    assert found(wrong) == []
    assert found(f"身份证号{wrong}") == [("CN_ID", wrong)]


def test_weak_signs_count_in_company() -> None:
    assert found("Dear Sarah Connor, thank you.") == []
    assert found("Dear Sarah Connor, call 415-555-2671.") == [
        ("PERSON", "Sarah Connor"),
        ("PHONE", "415-555-2671"),
    ]


def test_two_numbers_side_by_side_are_two() -> None:
    assert found("13800138000 13900139000") == [("PHONE", "13800138000"), ("PHONE", "13900139000")]


def test_findings_never_hold_the_value() -> None:
    assert all("13800138000" not in repr(finding) for finding in detect("手机13800138000"))


@pytest.mark.parametrize("before", [0, 1, PIECE - 1030, PIECE - 515, PIECE - 6, PIECE, 3 * PIECE])
def test_long_texts_have_no_seams(before: int) -> None:
    text = "字" * before + "手机13800138000" + "字" * PIECE
    assert found(text) == [("PHONE", "13800138000")]


def chinese_id(area: str, birthday: str, order: int) -> str:
    body = f"{area}{birthday}{order:03d}"
    total = sum(int(d) * 2 ** (17 - i) for i, d in enumerate(body))
    return body + "10X98765432"[total % 11]


ids = st.builds(
    chinese_id,
    st.sampled_from(["110105", "310115", "440305", "650104"]),
    st.dates().filter(lambda d: 1900 <= d.year <= 2030).map(lambda d: d.strftime("%Y%m%d")),
    st.integers(0, 999),
)
around = st.text(alphabet="你好，。的在 请保密\n", max_size=20)


@given(around, ids, around)
def test_any_valid_id_is_found_at_its_place(before: str, number: str, after: str) -> None:
    text = f"{before}{number}{after}"
    assert ("CN_ID", number) in found(text)


@given(st.text(max_size=300))
def test_any_text_can_be_looked_at(text: str) -> None:
    findings = detect(text)
    assert all(finding.type in TYPES for finding in findings)
    assert all(0 <= f.start < f.end <= len(text) for f in findings)
    assert all(a.end <= b.start for a, b in pairwise(findings))


hidden = st.sampled_from(["\u200b", "\u2060", "\ufeff", "\u00ad", ""])


@given(st.lists(hidden, min_size=18, max_size=18), around)
def test_offsets_hold_whatever_is_invisible(between: list[str], before: str) -> None:
    written = "".join(letter + gap for letter, gap in zip(ID, between, strict=True))
    values = [value for kind, value in found(f"{before}{written}。") if kind == "CN_ID"]
    assert [re.sub("[^0-9X]", "", value) for value in values] == [ID]


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcdefghijklmnopqrstuvwxyz012345",
        "sk-abcdefghijklmnopqrstuvwxyzabcdefghij",
        "ghp_abcdefghijklmnopqrstuvwxyzabcdefghij",
        "glpat-abcdefghijklmnopqrstuv",
        "hf_abcdefghijklmnopqrstuvwxyzabcdef",
    ],
)
def test_an_issued_key_is_known_by_its_prefix_whatever_it_is_made_of(key: str) -> None:
    (finding,) = detect(f"use {key} please")
    assert (finding.type, finding.start, finding.end) == ("SECRET", 4, 4 + len(key))


@pytest.mark.parametrize(
    ("said", "accounts"),
    [
        ("my wechat is zhang_wei88", ["zhang_wei88"]),
        ("wechat id: limingabc", ["limingabc"]),
        ("加微信zhangwei_88聊", ["zhangwei_88"]),
        ("微信号abcdefgh", ["abcdefgh"]),
        ("QQ 123456789", ["123456789"]),
        ("Explain the WeChat ecosystem", []),
        ("用微信 openapi 做登录", []),
        ("lznlvx ANSWER", []),
    ],
)
def test_an_account_is_called_so_or_looks_like_one(said: str, accounts: list[str]) -> None:
    assert [said[one.start : one.end] for one in detect(said)] == accounts


@pytest.mark.parametrize(
    ("said", "days"),
    [
        ("My name is Robert Taylor and I was bron on 1984-03-12; hello", ["1984-03-12"]),
        ("我叫王小明，1990年1月2日出身", ["1990年1月2日"]),
        ("My name is John Smith, meet me on 2026-12-01", []),
        ("The treaty of 1984-03-12 was signed", []),
    ],
)
def test_a_day_long_past_belongs_to_the_name_before_it(said: str, days: list[str]) -> None:
    found = [said[one.start : one.end] for one in detect(said) if one.type == "DOB"]
    assert found == days
