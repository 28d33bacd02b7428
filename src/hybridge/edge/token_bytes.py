"""The bytes behind each token of a vocabulary, from a `tokenizer.json` (Hugging Face's format)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from hybridge.core.errors import ModelError

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


class _Added(Struct):
    id: int
    content: str
    special: bool = False


class _Part(Struct):
    type: str = ""
    decoders: list[_Part] = []


class _Model(Struct):
    vocab: dict[str, int]


class _File(Struct):
    model: _Model
    added_tokens: list[_Added] = []
    decoder: _Part | None = None


class Vocabulary:
    """What each token says."""

    def __init__(self, said: Mapping[int, bytes], special: Mapping[int, str]) -> None:
        self._said = said
        self._special = special
        """Tokens that are marks for the model and no part of an answer's text."""

    def text(self, token: int) -> bytes:
        """Its part of an answer's text; empty for a mark."""
        return self._said.get(token, b"")

    def shown(self, token: int) -> bytes:
        """What it is called among the alternatives to another token."""
        mark = self._special.get(token)
        return self._said.get(token, b"") if mark is None else mark.encode()


def read_vocabulary(path: Path) -> Vocabulary:
    """Reads a `tokenizer.json`. Raises `ModelError` where it is missing or of another kind."""
    try:
        file = msgspec.json.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise ModelError(f"{path} is not a tokenizer with a vocabulary: {error}") from error
    kinds = {part.type for part in _parts(file.decoder)}
    read = _of_byte_level if "ByteLevel" in kinds else _of_pieces
    said = {number: read(token) for token, number in file.model.vocab.items()}
    special = {added.id: added.content for added in file.added_tokens if added.special}
    said |= {a.id: b"" if a.special else a.content.encode() for a in file.added_tokens}
    return Vocabulary(said, special)


def _parts(decoder: _Part | None) -> list[_Part]:
    if decoder is None:
        return []
    return [decoder, *(part for inner in decoder.decoders for part in _parts(inner))]


def _of_byte_level(token: str) -> bytes:
    """A character stands for a byte; others stand for themselves."""
    return b"".join(
        bytes((_BYTES[character],)) if character in _BYTES else character.encode()
        for character in token
    )


def _of_pieces(token: str) -> bytes:
    """SentencePiece's: `▁` is a space, `<0x0A>` is a byte."""
    if match := _BYTE.fullmatch(token):
        return bytes((int(match[1], 16),))
    return token.replace("▁", " ").encode()


def _byte_characters() -> dict[str, int]:
    """Source: GPT-2's `bytes_to_unicode`: printable bytes stand for themselves, the others are
    moved behind the first 256 characters."""
    printable = {*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    moved = (byte for byte in range(256) if byte not in printable)
    return {chr(b): b for b in printable} | {chr(256 + n): b for n, b in enumerate(moved)}


_BYTES = _byte_characters()
