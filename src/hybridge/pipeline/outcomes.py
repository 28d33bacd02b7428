"""Recorded outcomes of models on prompts: what the scorer's head is trained and measured on.

Two kinds. `*.jsonl.gz` of public pairs: one line per prompt and pair, `{prompt, source,
weak_model, strong_model, weak_score 0-1, strong_score 0-1}`. The outcome set of our own
(`hybridge.pipeline.outcome_set`): what small local models answered to questions with known answers.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hybridge.pipeline import outcome_set
from hybridge.pipeline.outcome_set import OutcomeSet

LICENCES = {
    "routellm_mmlu": "Apache-2.0",
    "routellm_gsm8k": "Apache-2.0",
    "routellm_mtbench": "Apache-2.0",
    "zeroeval": "Apache-2.0",
    "mmlu_pro": "Apache-2.0",
    "llmrouter_ulab": "MIT",
    "gsm8k_openai": "MIT",
    "eqbench": "MIT",
    "own_en": "Apache-2.0",
    "own_zh": "Apache-2.0",
}
"""Sources that a shipped head may be trained on. Anything else is refused for training."""

OWN = ("own_en", "own_zh")
"""The outcome set of our own, by language."""
SMALL_MODELS = frozenset(
    {
        "qwen2.5-0.5b",
        "qwen2.5-1.5b",
        "stablelm-2-zephyr-1_6b",
        "gemma-2-2b-it",
        "phi-2-psy",
        "Qwen2.5-3B-Instruct",
        "Phi-3.5-mini-instruct",
        "Phi-3-mini-4k-instruct",
    }
)
"""Weak models of 0.5 to 4 billion parameters: those an edge really runs. The probability is
calibrated on them; the larger ones only teach which prompts are harder than others."""

TEST, CALIBRATION, TRAINING = (0, 1), (2,), tuple(range(3, 10))
"""Folds."""
SPLITS = (TEST, CALIBRATION, TRAINING)


@dataclass(frozen=True, slots=True)
class Row:
    """One outcome."""

    key: str
    """Of the prompt: see `key_of`."""
    group: str
    """Near-duplicates over all sources share it."""
    fold: int
    source: str
    weak: str
    """The weak model, without its owner."""
    language: str
    fails: float
    """1 - weak_score."""
    strong: float
    """The strong model's score; 1 in our own outcomes, whose answers are known."""

    @property
    def gain(self) -> float:
        """How much better the strong model did, -1 to 1."""
        return self.strong - (1.0 - self.fails)


def key_of(prompt: str) -> str:
    """First 16 hex digits of the SHA-1 of the stripped prompt."""
    return hashlib.sha1(prompt.strip().encode(), usedforsecurity=False).hexdigest()[:16]


def read(
    folder: Path, groups: Path, own: Path | None = None, *, training: bool = True
) -> tuple[list[Row], dict[str, str]]:
    """All rows, and each prompt by its key. A prompt without a group is a `KeyError`.

    Raises `SystemExit` when a source has no known licence and the rows are meant for training.
    """
    with gzip.open(groups, "rt", newline="") as file:
        split = {r["key"]: (r["group"], int(r["fold"])) for r in csv.DictReader(file)}
    rows, prompts = [], {}
    for line in _lines(sorted(folder.glob("*.jsonl.gz"))):
        key = key_of(line["prompt"])
        rows.append(_public(line, key, *split[key]))
        prompts[key] = line["prompt"]
    if own is not None:
        known = outcome_set.read(own)
        rows += _own(known)
        prompts |= {question.key: question.text for question in known.questions.values()}
    if training:
        check_licences(rows)
    return rows, prompts


def check_licences(rows: Iterable[Row]) -> None:
    """Raises `SystemExit` when a source is not in `LICENCES`."""
    unknown = {row.source for row in rows} - LICENCES.keys()
    if unknown:
        raise SystemExit(f"no licence for training: {', '.join(sorted(unknown))}")


def check_leakage(rows: Iterable[Row]) -> None:
    """Raises `SystemExit` when a group of near-duplicates, or a prompt, lies in two splits."""
    split = {fold: number for number, folds in enumerate(SPLITS) for fold in folds}
    seen: dict[str, int] = {}
    for row in rows:
        for name in (f"group {row.group}", f"prompt {row.key}"):
            if seen.setdefault(name, split[row.fold]) != split[row.fold]:
                raise SystemExit(f"leak: {name} lies in two splits")


def in_folds(rows: Iterable[Row], folds: Sequence[int]) -> list[Row]:
    """The rows of these folds."""
    return [row for row in rows if row.fold in folds]


def _lines(paths: Iterable[Path]) -> Iterator[Mapping[str, str]]:
    for path in paths:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)


def _public(line: Mapping[str, str], key: str, group: str, fold: int) -> Row:
    weak, strong = 1.0 - float(line["weak_score"]), float(line["strong_score"])
    model, language = line["weak_model"].rpartition("/")[2], line.get("lang", "")
    return Row(key, group, fold, line["source"], model, language, weak, strong)


def _own(known: OutcomeSet) -> Iterator[Row]:
    """First answers only. Questions about one thing share a group and a fold, in both languages."""
    for model, replies in known.replies.items():
        if "@" in model:
            continue
        for reply in replies:
            asked = known.questions[reply.key]
            group, source = f"own/{asked.kind}/{asked.topic}", f"own_{asked.language}"
            fails = 0.0 if reply.right else 1.0
            yield Row(asked.key, group, asked.fold, source, model, asked.language, fails, 1.0)
