"""Every kind of value, made up with correct check digits, is found as a whole (R30)."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.privacy.contents import Piece
from hybridge.privacy.examine import examine
from hybridge.privacy.finding import Level
from hybridge.privacy.scan import PIECE, detect

Draw = random.Random


def found(text: str) -> list[tuple[str, str]]:
    """Type and value of everything that is acted on."""
    return [(f.type, text[f.start : f.end]) for f in detect(text) if f.level >= Level.MEDIUM]


def digits(draw: Draw, count: int) -> str:
    return "".join(draw.choices(string.digits, k=count))


def card(draw: Draw, prefix: str, length: int) -> str:
    body = prefix + digits(draw, length - len(prefix) - 1)
    doubled = (int(d) * (2 - i % 2) for i, d in enumerate(reversed(body)))
    return body + str(-sum(d - 9 if d > 9 else d for d in doubled) % 10)


def iban(country: str, account: str) -> str:
    moved = "".join(str(int(letter, 36)) for letter in f"{account}{country}00")
    return f"{country}{98 - int(moved) % 97:02d}{account}"


def social_credit_code(draw: Draw) -> str:
    letters = "0123456789ABCDEFGHJKLMNPQRTUWXY"
    body = f"91{draw.choice('123456')}{digits(draw, 5)}{''.join(draw.choices(letters, k=9))}"
    total = sum(letters.index(letter) * pow(3, i, 31) for i, letter in enumerate(body))
    return body + letters[-total % 31]


VALUES: dict[str, tuple[str, Callable[[Draw], str], str]] = {
    "UnionPay": ("BANK_CARD", lambda d: card(d, "62", 19), "我的银行卡号是{}，请帮忙。"),
    "Visa": ("BANK_CARD", lambda d: card(d, "4", 16), "charge {} please"),
    "Mastercard": ("BANK_CARD", lambda d: card(d, "52", 16), "{}"),
    "Amex": ("BANK_CARD", lambda d: card(d, "37", 15), "my card: {}."),
    "Maestro": ("BANK_CARD", lambda d: card(d, "5018", 12), "block my card {} now"),
    "IBAN, British": ("IBAN", lambda d: iban("GB", "NWBK" + digits(d, 14)), "pay to {}, thanks"),
    "IBAN, German": ("IBAN", lambda d: iban("DE", digits(d, 18)), "请汇款到{}谢谢"),
    "IBAN, small": ("IBAN", lambda d: iban("FR", digits(d, 23)).lower(), "my iban is {}"),
    "USCC": ("USCC", social_credit_code, "税号{}的公司"),
    "mobile": ("PHONE", lambda d: f"1{d.choice('3456789')}{digits(d, 9)}", "请打{}找我"),
    "mobile, spaced": ("PHONE", lambda d: f"139 {digits(d, 4)} {digits(d, 4)}", "手机：{}。"),
    "mobile, +86": ("PHONE", lambda d: f"+86 15{digits(d, 9)}", "call {} today"),
    "landline": ("PHONE", lambda d: f"0755-2{digits(d, 7)}", "座机{}转8"),
    "American": ("PHONE", lambda d: f"415-55{d.randint(2, 9)}-{digits(d, 4)}", "I am at {}."),
    "British": ("PHONE", lambda d: f"020 7946 {digits(d, 4)}", "ring {} after six"),
    "Swiss": ("PHONE", lambda d: f"044 {d.randint(200, 999)} {digits(d, 2)} {digits(d, 2)}", "{}"),
    "French": ("PHONE", lambda d: "06" + "".join(f" {digits(d, 2)}" for _ in "1234"), "au {} !"),
    "local": ("PHONE", lambda d: f"{d.randint(200, 999)} {digits(d, 4)}", "My phone: {}"),
    "passport": ("PASSPORT", lambda d: f"E{digits(d, 8)}", "护照号{}快到期了"),
    "passport, American": ("PASSPORT", lambda d: digits(d, 9), "passport number {} expires"),
    "plate": ("PLATE", lambda d: f"粤B{digits(d, 4)}{d.choice('ABCDEFGH')}", "车牌{}被拍"),
    "plate, electric": ("PLATE", lambda d: f"沪AD{digits(d, 5)}", "我的车是{}"),
    "SSN": (
        "US_SSN",
        lambda d: f"5{digits(d, 2)}-{d.randint(10, 99)}-{d.randint(1000, 9999)}",
        "{}",
    ),
    "e-mail": ("EMAIL", lambda d: f"u{digits(d, 6)}@mail.corp.cn", "发到{}就行"),
    "QQ": ("ACCOUNT", lambda d: f"3{digits(d, 8)}", "加我QQ：{}"),
    "WeChat": ("ACCOUNT", lambda d: f"wx_{digits(d, 7)}", "微信号：{}"),
    "address": ("IP", lambda d: f"91.{d.randint(1, 254)}.{d.randint(1, 254)}.7", "login from {}"),
    "address, v6": ("IP", lambda d: f"2a02:8109:{digits(d, 4)}::1f", "client {} connected"),
    "key": ("SECRET", lambda d: "sk-proj-" + "".join(d.choices(string.ascii_letters, k=40)), "{}"),
    "key, Google": (
        "SECRET",
        lambda d: "AIza" + "".join(d.choices(string.hexdigits, k=35)),
        "k={}",
    ),
    "token": ("SECRET", lambda d: "ghp_" + "".join(d.choices(string.ascii_letters, k=36)), "{}"),
    "bearer": ("SECRET", lambda d: f"a9{digits(d, 3)}fQxYzW7", "Authorization: Bearer {}"),
    "password": ("SECRET", lambda d: f"Zq{d.randint(10, 99)}xW9tRk", "密码是{}，别告诉别人"),
    "birthday": ("DOB", lambda d: f"{d.randint(1, 12)}/{d.randint(1, 28)}/1984", "born on {}."),
}


@pytest.mark.parametrize("name", VALUES)
@given(seed=st.integers(0, 10**6))
def test_every_kind_is_found_as_a_whole(name: str, seed: int) -> None:
    kind, make, around = VALUES[name]
    value = make(Draw(seed))
    assert (kind, value) in found(around.format(value))


ENCODINGS: dict[str, Callable[[str], str]] = {
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "percent": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "URL": quote,
    "entities": lambda text: "".join(f"&#x{ord(letter):x};" for letter in text),
    "escapes": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("secret", ["身份证 11010519491231002X", "联系人电话：\n13800138000"])
def test_one_layer_of_encoding_does_not_help(encoding: str, secret: str) -> None:
    token = ENCODINGS[encoding](secret)
    (kind, value) = found(f"decode {token} please")[0]
    assert kind in ("CN_ID", "PHONE")
    assert value in token
    assert len(value) > len(token) // 2


def test_a_second_layer_is_not_looked_into() -> None:
    once = base64.b64encode(b"call +1 415-555-2671 now").decode()
    assert found(once) != []
    assert found(base64.b64encode(once.encode()).decode()) == []


@pytest.mark.parametrize(
    "text",
    [
        "Look at openai.com or meet me at noon in room 404.",
        "phone me on 2026-12-01 at 10:30",
        "8 9 10 11 12 13 14 15 16 17 18 19 20",
        "sizes: 256 512 1024 2048 4096 8192",
        "1834 2291 7710 9921 1450 2210 3301 4410",
        "see https://corp.com/a%20b/c%20d?x=1&y=%E4%BD%A0%E5%A5%BD",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "ring 400-820-8820 or 1-800-555-0199 for support",
        "中山路12号线的终点站在哪里",
        "the token is short-lived; rotate secrets often",
        "Call me Ishmael. Some years ago, never mind how long precisely",
    ],
)
def test_what_only_looks_like_it_is_let_go(text: str) -> None:
    assert found(text) == []


def test_two_cards_in_one_row_are_two() -> None:
    draw = Draw(3)
    cards = [card(draw, "4", 16) for _ in range(2)]
    grouped = [" ".join(number[i : i + 4] for i in range(0, 16, 4)) for number in cards]
    assert found("\n".join(grouped)) == [("BANK_CARD", number) for number in grouped]


def test_a_crowded_request_names_every_string_that_is_covered() -> None:
    pieces = [Piece(f"messages[{i}]", "13800138000, " * 800) for i in range(3)]
    examined = examine(pieces, detect)
    assert {finding.place for finding in examined.findings} == {p.place for p in pieces}
    assert all(f.end <= len(pieces[0].text) for f in examined.findings)
    assert len(pieces[0].text) * 3 > PIECE
