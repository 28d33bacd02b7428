"""The bytes behind tokens."""

from __future__ import annotations

import json

import pytest
from tests.unit.edge.genai_model import TINY
from tokenizers import Tokenizer

from hybridge.core.errors import ModelError
from hybridge.edge.token_bytes import read_vocabulary


@pytest.mark.parametrize("text", ["Hello there", "你好，世界。🙂 naïve", "\n\t\0 x"])
def test_a_text_s_tokens_hold_its_bytes(text):
    path = TINY / "tokenizer.json"
    vocabulary, tokenizer = read_vocabulary(path), Tokenizer.from_file(str(path))
    tokens = tokenizer.encode(text, add_special_tokens=False).ids
    assert b"".join(map(vocabulary.text, tokens)) == text.encode()


def test_marks_are_no_text_but_have_a_name():
    vocabulary = read_vocabulary(TINY / "tokenizer.json")
    assert vocabulary.text(2) == b""
    assert vocabulary.shown(2) == b"<|im_end|>"
    assert vocabulary.text(1_000_000) == b""


def test_pieces_of_sentencepiece_are_read_too(tmp_path):
    vocab = {"▁Hi": 0, "<0xE4>": 1, "好": 2}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"model": {"vocab": vocab}, "decoder": {"type": "Sequence"}}))
    vocabulary = read_vocabulary(path)
    assert [vocabulary.text(n) for n in range(3)] == [b" Hi", b"\xe4", "好".encode()]


@pytest.mark.parametrize("content", ["{", '{"model": {"vocab": [["a", 0.5]]}}', None])
def test_a_file_of_another_kind_is_named(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        read_vocabulary(path)
