"""Telling weights apart: the whole digest where trust depends on it, a quick one for records."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import BinaryIO

BLOCK = 1 << 20
"""Bytes read at once."""
SAMPLES = 64
SAMPLE_BYTES = 1 << 16
FINGERPRINT_DIGITS = 12


def sha256(file: BinaryIO) -> str:
    """Of the whole file, in lower-case hex. Half a gigabyte takes about a second."""
    file.seek(0)
    digest = hashlib.sha256()
    while block := file.read(BLOCK):
        digest.update(block)
    return digest.hexdigest()


def fingerprint(path: Path) -> str:
    """A version for weights that nobody pinned: of their size and of samples spread evenly.

    Milliseconds for any size. Other weights have another one; somebody who forges weights could
    keep it, so nothing may be trusted for it. Raises `OSError`.
    """
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for index in range(SAMPLES):
            file.seek(max(0, size - SAMPLE_BYTES) * index // (SAMPLES - 1))
            digest.update(file.read(SAMPLE_BYTES))
    return digest.hexdigest()[:FINGERPRINT_DIGITS]
