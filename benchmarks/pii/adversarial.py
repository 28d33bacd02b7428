"""Texts made to be slow: what a pattern begins with, over and over, alone and mixed."""

from __future__ import annotations

import random
from collections.abc import Iterator

SIZE = 100_000
"""Characters."""

MORSELS = (
    *(
        "1",
        "1 ",
        "1-",
        "1.",
        "12 34 ",
        "(1",
        "((((",
        "+1 ",
        "1\n",
        "9 1 ",
        "010-",
        "021 ",
        "123-45-",
    ),
    *("13800138000 ", "4111 1111 1111 1111 ", "110105194912310021 ", "415-555-2671 ", "1 2 3 "),
    *("256 512 1024 ", "010-6234567", "400-", "电话 1234567 ", "tel 1 ", "phone 123 456 "),
    *(
        "订单13800138000",
        "卡号1",
        "身份证1",
        "ssn 123456789 ",
        "123-45-6789 ",
        "1X",
        "1O",
        "l",
        "1-O-",
    ),
    *(
        "a@a@",
        "a@a.",
        "a@",
        "@",
        "a@b.io ",
        "é@",
        "é@é.",
        "a@a。",
        "邮箱a b c@ ",
        "email @ a.",
        "a-b-@",
    ),
    *("[at]", "a [at] ", "a at ", "a at b dot ", "a at b.", "a#b.c.", "a @ ", "#"),
    *("%41", "%41a", "&#65;", "&#x41;", "&#", "\\u0041", "\\u0041a", "\\u"),
    *("QUJD", "QUJDREVGR0hJ ", "aA1", "abcdef01", "313338303031 ", "Aa1+/=", "0x"),
    *("key=", "key:a1", "password=a1b2c3d4 ", 'token"', "密码是", "sk-", "sk-a ", "eyJ-", "eyJa."),
    *("eyJaaaaaaaaaaa.", "SG.", "xoxb-", "AKIA", "-----BEGIN ", "-----BEGIN RSA ", "-----"),
    *(
        "1.1.1.1 ",
        "1.1.1.1.",
        "10.0.0.1 ",
        "1:1:",
        "::",
        "a:",
        "2001:db8:",
        "fe80::1 ",
        "user 1.1.1.1 ",
    ),
    *("GB82 ", "GB82 WEST ", "DE89", "A1A1 ", "91350100", "91A", "91350100M000100Y43 ", "税号9"),
    *(
        "京A",
        "京",
        "京A1",
        "京A12345",
        "京A-1-",
        "护照",
        "护照E12345678",
        "passport 1",
        "E12345678 ",
    ),
    *("微信", "微信a", "QQ", "qq12345 ", "QQ：", "DOB", "生日：", "born on ", "DOB 1/1/2000 "),
    *(
        "字",
        "字号",
        "市",
        "市区",
        "市区路",
        "路1号",
        "1号",
        "区路1号",
        "北京市海淀区中关村大街27号",
    ),
    *(
        "1 Main ",
        "1 Main Street, ",
        "1 Aa Aa Aa Aa ",
        "12 A",
        "12 N. ",
        "王",
        "王先生",
        "我叫王",
        "姓名：王五，",
    ),
    *("name: ", "my name is Aa ", "Aa ", "Aa Bb ", "Mr. Aa Bb ", "Dear Aa ", "name name "),
    *(
        "一",
        "一 ",
        "一-",
        "零",
        "１ ",
        "①",
        "\u200b",
        "1\u200b",
        "\u00ad",
        "é",
        "😀",
        "𝟏",
        "\x1f",
        "1\x1f",
    ),
    *(" ", "\n", '"', '{"a":"', "\\", "/", "_", "=", "，", "。"),
)


def texts(mixed: int, seed: int = 7) -> Iterator[tuple[str, str]]:
    """Each morsel repeated, then so many mixtures of two to six; with a name for each."""
    draw = random.Random(seed)
    for morsel in MORSELS:
        yield _repeated(morsel)
    for _ in range(mixed):
        yield _repeated("".join(draw.choices(MORSELS, k=draw.randint(2, 6))))


def _repeated(morsel: str) -> tuple[str, str]:
    return morsel, (morsel * (SIZE // len(morsel) + 1))[:SIZE]
