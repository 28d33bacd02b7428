"""Reading the head of a GGUF file."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.errors import ModelError
from hybridge.core.request import Feature
from hybridge.edge.abilities import OF_THE_ENGINE, abilities
from hybridge.edge.gguf import GgufFacts, read_facts, read_template


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def member(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def head(*members: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(members)) + b"".join(members)


ARCHITECTURE = member("general.architecture", 8, text("llama"))
CONTEXT = member("llama.context_length", 4, struct.pack("<I", 8192))
OTHER_CONTEXT = member("clip.context_length", 4, struct.pack("<I", 77))
WORDS = member(
    "tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 3) + text("a") + text("你好") + text("")
)
NUMBERS = member("tokenizer.ggml.scores", 9, struct.pack("<IQ", 6, 2) + struct.pack("<2f", 0.5, 1))
TEMPLATE = member("tokenizer.chat_template", 8, text("x" * 100_000))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (head(ARCHITECTURE, CONTEXT), GgufFacts("llama", 8192)),
        (head(CONTEXT, ARCHITECTURE), GgufFacts("llama", 8192)),
        (
            head(WORDS, NUMBERS, TEMPLATE, OTHER_CONTEXT, ARCHITECTURE, CONTEXT),
            GgufFacts("llama", 8192),
        ),
        (head(ARCHITECTURE, OTHER_CONTEXT), GgufFacts("llama", None)),
        (head(), GgufFacts("", None)),
    ],
)
def test_the_trained_context_is_that_of_the_models_own_architecture(
    tmp_path: Path, content: bytes, expected: GgufFacts
) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content + b"tensors")
    assert read_facts(path) == expected


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.gguf cannot be read: No such file"):
        read_facts(tmp_path / "nowhere.gguf")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 a zip file", b"<html>404</html>"])
def test_another_kind_of_file_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"model\.gguf is not a GGUF model"):
        read_facts(path)


@given(cut=st.integers(4, len(head(WORDS, ARCHITECTURE, CONTEXT)) - 1))
def test_a_file_cut_off_anywhere_in_its_head_is_broken(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "model.gguf"
    path.write_bytes(head(WORDS, ARCHITECTURE, CONTEXT)[:cut])
    with pytest.raises(ModelError, match="broken GGUF"):
        read_facts(path)


@given(rubbish=st.binary(max_size=200))
def test_rubbish_is_never_anything_but_a_model_error(
    tmp_path_factory: pytest.TempPathFactory, rubbish: bytes
) -> None:
    path = tmp_path_factory.mktemp("rubbish") / "model.gguf"
    path.write_bytes(b"GGUF" + rubbish)
    with suppress(ModelError):
        read_facts(path)


def test_the_chat_template_is_found_behind_the_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(head(ARCHITECTURE, CONTEXT, WORDS, NUMBERS, TEMPLATE) + b"tensors")
    assert read_template(path) == "x" * 100_000
    path.write_bytes(head(ARCHITECTURE, WORDS))
    assert read_template(path) == ""
    with pytest.raises(ModelError):
        read_template(tmp_path / "nowhere.gguf")


@pytest.mark.parametrize(
    ("template", "tools"),
    [
        ("{% if tools %}call them in <tool_call></tool_call>{% endif %}", True),
        ("{% for message in messages %}{{ message.content }}{% endfor %}", False),
        ("{% if tools %}[TOOL_CALLS]{% endif %}", False),
    ],
)
def test_what_a_model_can_do_is_read_off_its_template(
    tmp_path: Path, template: str, tools: bool
) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(head(member("tokenizer.chat_template", 8, text(template))))
    assert (Feature.TOOLS in abilities(path)) is tools
    assert abilities(path) >= OF_THE_ENGINE
    assert abilities(tmp_path / "nowhere.gguf") == OF_THE_ENGINE
