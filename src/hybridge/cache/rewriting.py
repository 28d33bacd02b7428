"""Rules that bring a text into one wording."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]
"""What is looked for, and what becomes of it."""


def rule(pattern: str, becomes: str | Callable[[re.Match[str]], str]) -> Rule:
    """A rule, compiled."""
    return re.compile(pattern), becomes


def once(rules: Iterable[Rule], text: str) -> str:
    """Every rule, one after the other."""
    for pattern, becomes in rules:
        text = pattern.sub(becomes, text)
    return text


def first(rules: Iterable[Rule], text: str) -> str:
    """The first rule that applies, and no other."""
    for pattern, becomes in rules:
        formed, times = pattern.subn(becomes, text)
        if times:
            return formed
    return text


def until_still(rules: Iterable[Rule], text: str) -> str:
    """All rules, again and again until none of them applies."""
    while (after := once(rules, text)) != text:
        text = after
    return text
