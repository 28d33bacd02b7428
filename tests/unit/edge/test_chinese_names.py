"""Chinese names without a title or a label, through argus-redact."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extras import needed

from hybridge.edge.chinese_names import ChineseNames
from hybridge.edge.readable_text import SIZE, pieces
from hybridge.privacy.finding import Level
from hybridge.privacy.layers import layered
from hybridge.privacy.scan import detect

needed("argus_redact", "names")


@pytest.fixture(scope="module")
def names() -> ChineseNames:
    return ChineseNames.load()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("请联系张伟，电话13800138000", "张伟"),
        ("name,phone\n谢华,13800138000\n樊文,13900139000", "樊文"),
        ("学生毛海燕的家长电话是13800138000", "毛海燕"),
        ("\U0001f600😀 请联系张伟，电话13800138000", "张伟"),
    ],
)
def test_a_bare_name_is_found(names: ChineseNames, text: str, name: str) -> None:
    found = list(names(text, detect(text)))
    assert name in [text[one.start : one.end] for one in found]
    assert {(one.type, one.level) for one in found} == {("PERSON", Level.LOW)}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Please call me tomorrow.",
        "写一首关于春天的诗",
        "什么是无人机？高温对电池有什么影响？",
        "把这段聊天记录总结一下：\n客服电话13800138000",
        "发票抬头：某某贸易有限公司，电话13800138000",
        "人民币伍万元整，手机13800138000",
    ],
)
def test_words_that_look_like_names_are_left_alone(names: ChineseNames, text: str) -> None:
    assert not list(names(text, detect(text)))


@settings(deadline=None)
@given(st.text("张伟请联系13800电话，\x1f\n\0\ud800😀A王", max_size=60) | st.text(max_size=60))
def test_whatever_the_text_findings_lie_in_it_apart(names: ChineseNames, text: str) -> None:
    found = layered(detect, [names])(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


def test_a_long_text_is_read_like_short_ones(names: ChineseNames) -> None:
    sentence = "请联系张伟，电话13800138000。今天的会议改到下午三点，地点不变。"
    text = sentence * 400
    assert len(text) > 3 * SIZE
    found = [text[one.start : one.end] for one in names(text, detect(text))]
    assert found == ["张伟"] * 400


@given(st.integers(0, 3 * SIZE + 5))
def test_each_character_belongs_to_one_piece(length: int) -> None:
    text = "".join(chr(0x4E00 + index % 2000) for index in range(length))
    spoken = "".join(piece.text[piece.first : piece.last] for piece in pieces(text))
    assert spoken == text
