"""Presidio, patterns only, in an environment of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.overhead.environments import programs
from benchmarks.pii.corpus import Sample, Span
from benchmarks.pii.figures import Timed
from benchmarks.pii.ours import LANGUAGES
from benchmarks.pii.speed import Times, kilobytes

REQUIREMENTS = ("presidio-analyzer==2.2.359",)
_SCRIPT = Path(__file__).with_name("serve_presidio.py")
_TYPES = {
    "EMAIL_ADDRESS": "EMAIL",
    "PHONE_NUMBER": "PHONE",
    "CREDIT_CARD": "BANK_CARD",
    "IBAN_CODE": "IBAN",
    "IP_ADDRESS": "IP",
    "US_PASSPORT": "PASSPORT",
    "DATE_TIME": None,
    "URL": None,
}
"""Its names for our types; dates and addresses of pages are not held against it."""


def look(texts: Sequence[str]) -> list[list[Span]]:
    """The findings in each text."""
    return [
        [
            Span(start, end, kind)
            for name, start, end in answer["found"]
            if (kind := _TYPES.get(name, name)) is not None
        ]
        for answer in _answers(texts)
    ]


def timed(ordinary: Sequence[Sample]) -> Timed:
    """Ordinary prompts by the kilobyte, each once."""
    kilobyte = {}
    for language in LANGUAGES:
        answers = _answers(kilobytes(ordinary, language))
        kilobyte[language] = Times([answer["took_ms"] for answer in answers])
    return Timed(kilobyte)


def _answers(texts: Sequence[str]) -> list[Any]:
    python = programs("presidio", REQUIREMENTS) / "python"
    asked = "".join(f"{json.dumps(text)}\n" for text in texts)
    ran = subprocess.run(
        [str(python), str(_SCRIPT)], input=asked, capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        raise RuntimeError(f"Presidio failed: {ran.stderr[-2000:]}")
    return msgspec.json.Decoder().decode_lines(ran.stdout)
