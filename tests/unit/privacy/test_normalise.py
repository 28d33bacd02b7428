"""Both ways out of a disguise are the same, and what vanished is remembered."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hybridge.privacy.normalise import normalise

LETTERS = "ab1０１（：\u200b\u00ad\u3000а①零一二三四五六𝟏😀中" + "".join(
    map(chr, range(0xFF21, 0xFF3B))
)
texts = st.text(LETTERS, max_size=40)


@given(texts)
def test_a_few_and_many_disguises_are_undone_alike(text: str) -> None:
    many = "".join(map(chr, range(0xFF21, 0xFF3B)))
    alone = normalise(f"０\n{text}\n")
    padded = normalise(f"０\n{text}\n{many}")
    assert padded.text.startswith(alone.text)


@given(texts)
def test_what_vanished_is_remembered(text: str) -> None:
    plain = normalise(text)
    for at in range(len(plain.text)):
        start, end = plain.original(at, at + 1)
        assert end == start + 1
    assert len(plain.text) == sum(letter not in "\u200b\u00ad" for letter in text)
