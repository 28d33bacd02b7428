"""One version of a model: which files it is made of, and what is known of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import msgspec
from msgspec import Struct

from hybridge.core.errors import ModelError
from hybridge.modelstore.digest import sha256 as digest_of

Kind = Literal["gguf", "onnx", "genai"]
Progress = Callable[[int, int | None], None]
"""Told the bytes that are done and the bytes there will be."""
ID_DIGITS = 12
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ENDINGS = (".gguf", ".json", ".lock")
_MARKS: tuple[tuple[Kind, str], ...] = (
    ("gguf", "*.gguf"),
    ("genai", "genai_config.json"),
    ("onnx", "*.onnx"),
)
"""What a folder of each kind holds; the first that fits counts."""


class ModelFile(Struct, frozen=True):
    """One file of a version."""

    path: str
    """Below the version's folder, with `/` between its parts."""
    size_bytes: int
    sha256: str
    """In lower-case hex."""


class Manifest(Struct, frozen=True, omit_defaults=True):
    """What a version is. It lies beside the files, and is written when they are all there."""

    name: str
    version: str
    """The beginning of a digest over its files: other files have another one."""
    kind: Kind
    files: tuple[ModelFile, ...]
    made_at: datetime
    source: str = ""
    """What was pushed."""
    note: str = ""
    metrics: Mapping[str, Any] = {}
    """What was measured of it, such as accuracy and size before and after."""
    parent: str | None = None
    """The version that was active when it was pushed."""

    @property
    def size_bytes(self) -> int:
        """Of all its files."""
        return sum(file.size_bytes for file in self.files)


def check_name(name: str) -> None:
    """Raises `ModelError` for what cannot be the name of a model in a store."""
    if not _NAME.fullmatch(name) or name.endswith(_ENDINGS):
        raise ModelError(
            f"{name!r} is no name for a model: letters, digits, `.`, `_` and `-`, at most 64, "
            f"the first one a letter or digit, and no ending like {', '.join(_ENDINGS)}"
        )


def describe(
    name: str, source: Path, made_at: datetime, progress: Progress, **known: Any
) -> Manifest:
    """The manifest of a file or folder; reads all of it. `known` are its further fields.

    Raises `ModelError` for what is no model, or cannot be read.
    """
    check_name(name)
    kind = kind_of(source)
    try:
        files = tuple(_read(source, progress))
    except OSError as error:
        raise ModelError(f"{error.filename} cannot be read: {error.strerror}") from error
    version = version_of(files)
    return Manifest(name, version, kind, files, made_at, source=str(source), **known)


def sources(source: Path) -> dict[str, Path]:
    """The files of a file or folder by their path in a version; hidden ones are left out.

    A file by itself has the same name always, for whatever it is called it is the same version.
    """
    if source.is_file():
        return {f"model{source.suffix}": source}
    found = {
        path.relative_to(source).as_posix(): path
        for path in sorted(source.rglob("*"))
        if path.is_file()
    }
    return {name: path for name, path in found.items() if not _hidden(name)}


def kind_of(source: Path) -> Kind:
    """Raises `ModelError` for what is no model that is known here."""
    if source.is_file() and source.suffix == ".gguf":
        return "gguf"
    if source.is_dir():
        for kind, mark in _MARKS:
            if any(source.glob(mark)):
                return kind
    if not source.exists():
        raise ModelError(f"there is no {source}")
    raise ModelError(
        f"{source} is no model: give a .gguf file, or a folder with a .gguf file, with .onnx files "
        "and their tokenizer, or with genai_config.json"
    )


def version_of(files: Iterable[ModelFile]) -> str:
    """The same for the same files under the same names, whenever and wherever."""
    lines = sorted(f"{file.path}\t{file.size_bytes}\t{file.sha256}\n" for file in files)
    return sha256("".join(lines).encode()).hexdigest()[:ID_DIGITS]


def decode(raw: bytes, where: str) -> Manifest:
    """A manifest that somebody else may have written. Raises `ModelError`.

    Its files lie below its folder, and its version is theirs: nobody passes other files off as it.
    """
    try:
        manifest = msgspec.json.decode(raw, type=Manifest)
    except msgspec.DecodeError as error:
        raise ModelError(f"{where} is no manifest: {error}") from error
    for file in manifest.files:
        parts = PurePosixPath(file.path).parts
        if not parts or file.path.startswith("/") or ".." in parts or "\\" in file.path:
            raise ModelError(f"{where} names a file outside of its folder: {file.path!r}")
    if version_of(manifest.files) != manifest.version:
        raise ModelError(f"{where} lists other files than those of version {manifest.version}")
    return manifest


def encode(manifest: Manifest) -> bytes:
    """As it is written, for people too."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2)


def _read(source: Path, progress: Progress) -> Iterator[ModelFile]:
    paths = sources(source)
    total, done = sum(path.stat().st_size for path in paths.values()), 0
    for name, path in paths.items():
        with path.open("rb") as file:
            digest = digest_of(file)
        size = path.stat().st_size
        done += size
        progress(done, total)
        yield ModelFile(name, size, digest)


def _hidden(name: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(name).parts)
