"""Credentials that our own rules need not know, through betterleaks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extras import needed

from hybridge.edge.secret_rules import SecretRules
from hybridge.privacy.finding import Level
from hybridge.privacy.layers import layered
from hybridge.privacy.scan import detect

needed("betterleaks", "secrets")

TOKEN = "ghp_" + "aB3dEfGh1JkLmN0pQrStUvWxYz2A4bC6dE8f"
KEY = "\n".join(
    ("-----BEGIN RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA1c7" * 6, "-----END RSA PRIVATE KEY-----")
)


@pytest.fixture(scope="module")
def rules() -> SecretRules:
    return SecretRules.load()


def values(rules: SecretRules, text: str) -> list[str]:
    return [text[one.start : one.end] for one in rules(text, ())]


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "我的令牌是 {} 请保密",
        "😀 token = '{}'",
        "line\r\n中文\n  key: {}\n",
        "\0{}",
        "one\x1f{}\x1fanother",
        "\ud800 {}",
        "{} and again {}",
    ],
)
def test_a_secret_is_found_where_it_stands(rules: SecretRules, around: str) -> None:
    text = around.replace("{}", TOKEN)
    assert values(rules, text) == [TOKEN] * around.count("{}")
    assert {(one.type, one.level) for one in rules(text, ())} == {("SECRET", Level.HIGH)}


def test_a_secret_of_several_lines_is_whole(rules: SecretRules) -> None:
    assert values(rules, f"here:\n{KEY}\nthanks") == [KEY]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Where do I get an API key?",
        "密码忘了怎么办？",
        "token: none",
        "commit 425c8d99d19bdd0b6cc60d5d32cbe54014c2b54b",
    ],
)
def test_talk_about_secrets_is_none(rules: SecretRules, text: str) -> None:
    assert values(rules, text) == []


@settings(deadline=None, max_examples=50)
@given(st.text("ab =:'\"\n\x1f\0\ud800é😀{", max_size=40), st.text("\n\r\x1f 中", max_size=10))
def test_whatever_stands_around_findings_lie_in_the_text_apart(
    rules: SecretRules, before: str, after: str
) -> None:
    text = f"{before} {TOKEN} {after}{TOKEN}"
    found = layered(detect, [rules])(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


def test_several_threads_may_ask_at_once(rules: SecretRules) -> None:
    texts = [f"number {number} {TOKEN}" for number in range(64)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda text: values(rules, text), texts)) == [[TOKEN]] * 64
