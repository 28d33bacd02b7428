"""A whole model from the Hugging Face hub: the files that an export needs, and no others."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hybridge.core.errors import ModelError
from hybridge.edge.hub import Hub

REPOSITORY = re.compile(r"^[\w][\w.-]*/[\w][\w.-]*$")
"""`owner/name`."""
_SMALL = re.compile(
    r"^(1_Pooling/)?[\w.-]+\.(json|txt|model)$"  # configuration, vocabulary, SentencePiece
)
_WEIGHTS = (re.compile(r"^model[\w.-]*\.safetensors$"), re.compile(r"^pytorch_model[\w.-]*\.bin$"))
"""The first kind that there is: it cannot hold code."""
_BLOCK = 1 << 20


class _File(Struct, frozen=True):
    name: str
    size: int
    sha256: str | None
    """Of large files, which the hub tells."""


def fetch_folder(
    hub: Hub,
    repository: str,
    into: Path,
    *,
    revision: str = "main",
    progress: Callable[[int, int | None], None] = lambda _done, _total: None,
) -> str:
    """Fetches the model's files and gives the commit they are of. Raises `ModelError`."""
    listing = hub.read(f"api/models/{repository}/revision/{revision}?blobs=true")
    commit, files = _listed(repository, listing)
    total, before = sum(file.size for file in files), 0
    for file in files:
        place = into / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("wb") as target:
            path = f"{repository}/resolve/{commit}/{file.name}"

            def told(done: int, _size: int | None, here: int = before) -> None:
                progress(here + done, total)

            hub.stream(path, target, told, file.size)
        _check(place, file)
        before += file.size
    return commit


def _listed(repository: str, listing: bytes) -> tuple[str, list[_File]]:
    try:
        told: Any = msgspec.json.decode(listing)
        commit = str(told["sha"])
        every = [
            _File(one["rfilename"], int(one["size"]), (one.get("lfs") or {}).get("sha256"))
            for one in told["siblings"]
        ]
    except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        raise ModelError(f"the hub's list of {repository} is not understood: {error}") from error
    weights = next(
        (found for kind in _WEIGHTS if (found := [f for f in every if kind.match(f.name)])), None
    )
    if weights is None:
        raise ModelError(f"{repository} has no PyTorch weights (model.safetensors)")
    return commit, [*(file for file in every if _SMALL.match(file.name)), *weights]


def _check(place: Path, file: _File) -> None:
    if file.sha256 is None:
        return
    digest = hashlib.sha256()
    with place.open("rb") as opened:
        while block := opened.read(_BLOCK):
            digest.update(block)
    if digest.hexdigest() != file.sha256:
        raise ModelError(f"{file.name} came with another SHA-256 than the hub tells")
