r"""Trains, exports and measures the model that finds English person names.

    python -m hybridge.pipeline.train_names --prompts FOLDER --labelled lines.jsonl \
        --apart prompts.jsonl --out names.onnx

`--prompts`: recorded outcomes, of which only the prompts are read, and of those only from sources
with a licence for training. `--labelled`: `{text, spans}` lines, of which half of the templates
teach and the others measure. `--apart`: prompts that are never trained on, to count alarms. Needs
the extra `export` and `faker`. Writes the model and its card.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import faker
import numpy as np
import onnxruntime as ort
import torch
from torch import Tensor, nn

from hybridge.pipeline.name_model import BEGINS, GOES_ON, OUTSIDE, Tagger, export
from hybridge.pipeline.name_texts import Marked, Names, Prompts, labelled, made, refilled
from hybridge.pipeline.outcomes import LICENCES
from hybridge.privacy.words import ROWS, TRAITS, words

IGNORED = -100
LONGEST = 160
"""Words of one example."""
PER_BATCH = 4096
"""Words."""
MOST_CHARACTERS = 1000
"""Of one prompt."""
HIDDEN = 0.25
"""Share of words whose own row is left out, so that shape and neighbours have to tell."""
Example = tuple[np.ndarray, np.ndarray]
"""Traits and labels."""


def prompts(folder: Path, apart: set[str], rng: random.Random, most: int) -> list[str]:
    """What people wrote, from sources that may be used, without what is measured on."""
    texts = set()
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["source"] in LICENCES and row["prompt"].strip() not in apart:
                    texts.add(row["prompt"][:MOST_CHARACTERS])
    drawn = sorted(texts)
    rng.shuffle(drawn)
    return drawn[:most]


def example(marked: Marked) -> Example:
    """Words of a text with their labels; unsure ones are ignored."""
    seen = words(marked.text)
    labels = np.full(len(seen.spans), OUTSIDE, dtype=np.int64)
    for number, (start, end) in enumerate(seen.spans):
        name = next((one for one in marked.names if one[0] < end and start < one[1]), None)
        if name is not None:
            first = number == 0 or seen.spans[number - 1][1] <= name[0]
            labels[number] = BEGINS if first else GOES_ON
        elif any(one[0] < end and start < one[1] for one in marked.unsure):
            labels[number] = IGNORED
    traits = np.array(seen.traits, dtype=np.int64).reshape(-1, TRAITS)
    return traits[:LONGEST], labels[:LONGEST]


def batches(examples: Sequence[Example], rng: random.Random) -> Iterator[tuple[Tensor, Tensor]]:
    """Of about as many words each, texts of like length together, in random order."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i][0]) + rng.random() * 12)
    groups: list[list[int]] = [[]]
    for index in order:
        if (len(groups[-1]) + 1) * len(examples[index][0]) > PER_BATCH:
            groups.append([])
        groups[-1].append(index)
    rng.shuffle(groups)
    for group in groups:
        longest = max(len(examples[i][0]) for i in group)
        traits = torch.full((len(group), longest, TRAITS), ROWS - 1)
        labels = torch.full((len(group), longest), IGNORED)
        for row, i in enumerate(group):
            traits[row, : len(examples[i][0])] = torch.from_numpy(examples[i][0])
            labels[row, : len(examples[i][1])] = torch.from_numpy(examples[i][1])
        yield traits, labels


def teach(tagger: Tagger, rounds: Sequence[Sequence[Example]], rng: random.Random) -> None:
    """One pass over each round."""
    optimiser = torch.optim.Adam(tagger.parameters(), lr=3e-3)
    todo = [batch for examples in rounds for batch in batches(examples, rng)]
    steps = len(todo)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, steps, pct_start=0.1)
    loss = nn.CrossEntropyLoss(ignore_index=IGNORED)
    tagger.train()
    for step, (traits, labels) in enumerate(todo):
        hidden = torch.rand(traits.shape[:2]) < HIDDEN
        traits[..., 0] = torch.where(hidden, ROWS - 1, traits[..., 0])
        value = loss(tagger(traits).flatten(0, 1), labels.flatten())
        optimiser.zero_grad(set_to_none=True)
        value.backward()
        optimiser.step()
        plan.step()
        if step % 100 == 0:
            sys.stderr.write(f"{step}/{steps} {value.item():.4f}\n")


class Found:
    """The exported model at work, as the gateway uses it."""

    def __init__(self, path: Path) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = ort.InferenceSession(str(path), options)

    def names(self, text: str, threshold: float) -> list[tuple[int, int]]:
        """Spans of names."""
        seen = words(text)
        if not seen.spans:
            return []
        traits = np.array(seen.traits, dtype=np.int32)
        chances = self._session.run(None, {"traits": traits})[0]
        return joined(seen.spans, chances, threshold)


def joined(
    spans: Sequence[tuple[int, int]], chances: np.ndarray, threshold: float
) -> list[tuple[int, int]]:
    """Names out of their words."""
    names: list[tuple[int, int]] = []
    open_name = False
    for (start, end), (outside, begins, goes_on) in zip(spans, chances.tolist(), strict=True):
        if outside > 1 - threshold:
            open_name = False
        elif open_name and goes_on >= begins:
            names[-1] = (names[-1][0], end)
        else:
            names.append((start, end))
            open_name = True
    return names


def measure(found: Found, texts: Sequence[Marked], threshold: float) -> dict[str, float]:
    """Exact and overlapping spans against those that are right."""
    right = touched = true_found = wanted = given = flagged = 0
    for marked in texts:
        names = found.names(marked.text, threshold)
        wanted, given = wanted + len(marked.names), given + len(names)
        flagged += bool(names)
        right += len(set(names) & set(marked.names))
        touched += sum(any(a < d and c < b for c, d in names) for a, b in marked.names)
        true_found += sum(any(a < d and c < b for c, d in marked.names) for a, b in names)
    return {
        "texts": len(texts),
        "names": wanted,
        "precision": round(true_found / max(1, given), 4),
        "recall": round(touched / max(1, wanted), 4),
        "exact_precision": round(right / max(1, given), 4),
        "exact_recall": round(right / max(1, wanted), 4),
        "texts_with_a_name_found": round(flagged / max(1, len(texts)), 4),
    }


def taught(arguments: argparse.Namespace, rng: random.Random) -> list[list[Example]]:
    """What each pass over the data reads: never twice the same names in the same place."""
    with arguments.apart.open(encoding="utf-8") as lines:
        apart = {json.loads(line)["text"].strip() for line in lines}
    texts = prompts(arguments.prompts, apart, rng, arguments.most_prompts)
    marker, names = Prompts(texts, rng), Names(rng)
    marked = [marker.mark(text) for text in texts]
    lines = list(labelled(arguments.labelled, half=0))
    rounds = []
    for _ in range(arguments.passes):
        drawn = [marker.exchanged(one) if one.names and rng.random() < 0.75 else one for one in marked]
        drawn += made(rng, arguments.sentences)
        drawn += [*lines, *(refilled(one, names) for one in lines for _ in range(2))]
        rounds.append([example(one) for one in drawn if one.text.strip()])
    return rounds


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--prompts", "--labelled", "--apart", "--out"):
        parser.add_argument(name, type=Path, required=True)
    for name, usual in (("--passes", 4), ("--sentences", 40_000), ("--most-prompts", 16_000)):
        parser.add_argument(name, type=int, default=usual)
    parser.add_argument("--seed", type=int, default=4)
    arguments = parser.parse_args(argv)
    rng = random.Random(arguments.seed)
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(2)
    began = time.perf_counter()
    rounds = taught(arguments, rng)
    sys.stderr.write(f"{len(rounds[0])} texts a pass, {time.perf_counter() - began:.0f} s\n")
    tagger = Tagger()
    teach(tagger, rounds, rng)
    export(tagger, arguments.out)
    found = Found(arguments.out)
    tests = {"labelled": list(labelled(arguments.labelled, half=1)), "apart": list(labelled(arguments.apart))}
    for threshold in (0.5, 0.6, 0.7, 0.8, 0.9):
        for name, texts in tests.items():
            print(threshold, name, measure(found, texts, threshold))


if __name__ == "__main__":
    main()
