"""What a GGUF file says of itself in its head: enough to refuse early what cannot be loaded."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from hybridge.core.errors import ModelError

Read = TypeVar("Read")

_MAGIC = b"GGUF"
_SCALARS = dict(enumerate(("<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?")))
_SCALARS |= {10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
"""Types of values (source: the GGUF specification in ggml's `docs/gguf.md`)."""
_LONGEST_TEXT = 1 << 20


@dataclass(frozen=True, slots=True)
class GgufFacts:
    """A model's own account of itself."""

    architecture: str
    context_tokens: int | None
    """The context it was trained with; None where it does not say."""


def read_facts(path: Path) -> GgufFacts:
    """Reads the head of a GGUF file. Raises `ModelError` where it is missing or is none."""
    return _read(path, _facts)


def read_template(path: Path) -> str:
    """The chat template in a GGUF file, Jinja; empty where it has none. Raises `ModelError`.

    It lies behind the vocabulary, which takes some tenths of a second to read.
    """
    return _read(path, _template)


def _read(path: Path, wanted: Callable[[Iterator[tuple[str, Any]]], Read]) -> Read:
    try:
        with path.open("rb") as file:
            return wanted(_members(file, path))
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    except (struct.error, KeyError, ValueError, OverflowError, RecursionError) as error:
        raise ModelError(f"{path} is a broken GGUF file; fetch it again") from error


def _facts(members: Iterator[tuple[str, Any]]) -> GgufFacts:
    architecture, lengths = "", dict[str, Any]()
    for key, value in members:
        if key == "general.architecture":
            architecture = str(value)
        elif key.endswith(".context_length"):
            lengths[key] = value
        if (length := lengths.get(f"{architecture}.context_length")) is not None:
            return GgufFacts(architecture, int(length))
    return GgufFacts(architecture, None)


def _template(members: Iterator[tuple[str, Any]]) -> str:
    return next((str(value) for key, value in members if key == "tokenizer.chat_template"), "")


def _members(file: BinaryIO, path: Path) -> Iterator[tuple[str, Any]]:
    if file.read(4) != _MAGIC:
        raise ModelError(f"{path} is not a GGUF model")
    _version, _tensors, count = _unpack(file, "<I"), _unpack(file, "<Q"), _unpack(file, "<Q")
    for _ in range(count):
        yield _text(file), _value(file, _unpack(file, "<I"))


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _text(file)
    if kind != _ARRAY:
        return _unpack(file, _SCALARS[kind])
    kind, length = _unpack(file, "<I"), _unpack(file, "<Q")
    for _ in range(length):  # a vocabulary, say; nothing here is interested in one
        _value(file, kind)
    return None


def _text(file: BinaryIO) -> str:
    length = _unpack(file, "<Q")
    return file.read(length).decode() if length < _LONGEST_TEXT else _skipped(file, length)


def _skipped(file: BinaryIO, length: int) -> str:
    """A string too long to matter here; the file may end within it."""
    file.seek(length, 1)
    return ""


def _unpack(file: BinaryIO, form: str) -> Any:
    (value,) = struct.unpack(form, file.read(struct.calcsize(form)))
    return value
