"""What people read holds nobody's data (R33)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hybridge.privacy.finding import Finding
from hybridge.privacy.mask import WITHHELD, masked


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("ValueError: not a number: '13800138000'", "ValueError: not a number: '[PHONE]'"),
        ("身份证 11010519491231002X，邮箱 li.lei@corp.cn", "身份证 [CN_ID]，邮箱 [EMAIL]"),
        ("req-0123456789abcdef01234567 failed", "req-0123456789abcdef01234567 failed"),
        ("2026-11-30 15:41:46,123 INFO listening on http://127.0.0.1:8686", None),
        ("loaded in 3.51 s, 491400064 bytes, sha256 1d961463", None),
        ("", None),
    ],
)
def test_values_are_named_by_their_type(said: str, read: str | None) -> None:
    assert masked(said) == (said if read is None else read)


def test_what_cannot_be_examined_is_withheld() -> None:
    def broken(text: str) -> Sequence[Finding]:
        raise ValueError(text)

    assert masked("13800138000", broken) == WITHHELD
