r"""Trains, exports and measures the model that finds English person names.

    python -m hybridge.pipeline.train_names --prompts FOLDER --labelled lines.jsonl \
        --apart prompts.jsonl [--also lines.jsonl] --out names.onnx

`--prompts`: recorded outcomes, of which only the prompts are read, and of those only from sources
with a licence for training. `--labelled`: `{text, spans}` lines, of which half of the templates
teach and the others measure. `--apart`: ordinary prompts that are never trained on, to count how
many have a name found in them. `--also`: lines that only measure. Needs the extra `export` and
`faker`. Writes the model and, beside it, its card.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from hybridge.pipeline import name_model
from hybridge.pipeline.name_draws import Draws
from hybridge.pipeline.name_prompts import Prompts
from hybridge.pipeline.name_texts import TEMPLATES, Marked, exchanged, labelled, made
from hybridge.pipeline.outcomes import LICENCES
from hybridge.privacy.name_spans import BEGINS, GOES_ON, OUTSIDE, name_spans
from hybridge.privacy.word_traits import TRAITS, words

MOST_CHARACTERS = 1000
"""Of one prompt."""
ABOUT_OTHERS = 0.75
"""Share of prompts with names that are about others in each pass."""
SURE = 0.8
"""As the gateway asks for; the figures of the card are those at this chance."""
MEANING = (
    "for each word the chance to be outside of a person's name, to begin one, to go on with one"
)
LIMITS = (
    "Names written in small letters are not found, nor are those that are common words as well.",
    "Firms, places and works that are called like a person are taken for one.",
    "Of names with a rare last name often only the first is found.",
    "The labelled sets are synthetic; templates were added after a look at what was missed there.",
    "Of three trainings the one with the best figures was kept; expect less on other texts.",
)


def prompts(folder: Path, apart: Path, rng: random.Random, most: int) -> list[str]:
    """What people wrote, from sources that may be used, without what is measured on."""
    with apart.open(encoding="utf-8") as lines:
        kept_out = {json.loads(line)["text"].strip() for line in lines}
    texts = set()
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["source"] in LICENCES and row["prompt"].strip() not in kept_out:
                    texts.add(row["prompt"][:MOST_CHARACTERS])
    drawn = sorted(texts)
    rng.shuffle(drawn)
    return drawn[:most]


def taught(arguments: argparse.Namespace, rng: random.Random) -> list[list[Marked]]:
    """The texts of each pass: never twice the same names in the same places."""
    draws = Draws(rng)
    written = Prompts(prompts(arguments.prompts, arguments.apart, rng, arguments.most), draws)
    lines = list(labelled(arguments.labelled, half=0))

    def new(old: str) -> str:
        first, last = draws.pair()
        return f"{first} {last}" if " " in old else rng.choice((first, last))

    passes = []
    for _ in range(arguments.passes):
        texts = [
            written.about_others(one) if one.names and rng.random() < ABOUT_OTHERS else one
            for one in written.marked
        ]
        texts += made(draws, arguments.sentences)
        texts += [*lines, *(exchanged(one, new) for one in (*lines, *lines))]
        passes.append([one for one in texts if one.text.strip()])
    return passes


def example(marked: Marked) -> name_model.Example:
    """The words of a text with their labels; unsure ones are ignored."""
    seen = words(marked.text)
    labels = np.full(len(seen.spans), OUTSIDE, dtype=np.int64)
    for number, (start, end) in enumerate(seen.spans):
        name = next((one for one in marked.names if one[0] < end and start < one[1]), None)
        if name is not None:
            begins = number == 0 or seen.spans[number - 1][1] <= name[0]
            labels[number] = BEGINS if begins else GOES_ON
        elif any(one[0] < end and start < one[1] for one in marked.unsure):
            labels[number] = name_model.IGNORED
    return np.array(seen.traits, dtype=np.int64).reshape(-1, TRAITS), labels


def measure(session: ort.InferenceSession, texts: Sequence[Marked]) -> dict[str, float]:
    """Names found against those that are there: touched at all, and to the letter."""
    wanted = given = whole = touched = true = flagged = 0
    for marked in texts:
        seen = words(marked.text)
        traits = np.array(seen.traits, dtype=np.int32).reshape(-1, TRAITS)
        chances: Any = session.run(None, {"traits": traits})[0] if len(traits) else np.zeros((0, 3))
        names = list(name_spans(marked.text, seen.spans, chances.tolist(), SURE))
        wanted, given, flagged = (
            wanted + len(marked.names),
            given + len(names),
            flagged + bool(names),
        )
        whole += len(set(names) & set(marked.names))
        touched += sum(any(a < d and c < b for c, d in names) for a, b in marked.names)
        true += sum(any(a < d and c < b for c, d in marked.names) for a, b in names)
    figures = {"texts": len(texts), "texts_with_a_name_found": flagged / max(1, len(texts))}
    if wanted:
        figures |= {
            "names": wanted,
            "precision": true / max(1, given),
            "recall": touched / wanted,
            "precision_to_the_letter": whole / max(1, given),
            "recall_to_the_letter": whole / wanted,
        }
    return {name: round(figure, 4) for name, figure in figures.items()}


def card(arguments: argparse.Namespace, model: bytes, measured: dict[str, Any]) -> dict[str, Any]:
    """How the model came to be, and what it can do."""
    return {
        "version": f"names-{hashlib.sha256(model).hexdigest()[:12]}",
        "licence": "Apache-2.0",
        "meaning": MEANING,
        "made_from": {
            "own templates": f"{len(TEMPLATES)}, filled {arguments.sentences} times a pass",
            "names": f"Faker {version('faker')} (MIT), and own lists",
            "prompts": f"{arguments.most} a pass, of {', '.join(LICENCES)} (all MIT or Apache-2.0)",
            "labelled": "presidio-research, synthetic set v2 (MIT): half of its templates",
        },
        "labels": "of prompts by lists and rules; no other model was asked",
        "passes": arguments.passes,
        "seed": arguments.seed,
        "sure_from": SURE,
        "measured": measured,
        "limits": LIMITS,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--prompts", "--labelled", "--apart", "--out"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--also", type=Path, action="append", default=[])
    numbers = {"--passes": 2, "--sentences": 25_000, "--most": 10_000, "--seed": 4}
    for name, usual in numbers.items():
        parser.add_argument(name, type=int, default=usual)
    arguments = parser.parse_args(argv)
    rng = random.Random(arguments.seed)  # noqa: S311 - no secrets here
    passes = [[example(one) for one in texts] for texts in taught(arguments, rng)]
    name_model.export(name_model.teach(passes, rng, arguments.seed), arguments.out)
    session = ort.InferenceSession(str(arguments.out))
    tests = {
        "labelled, the other half of its templates": labelled(arguments.labelled, half=1),
        "apart": labelled(arguments.apart),
        **{path.stem: labelled(path) for path in arguments.also},
    }
    measured = {name: measure(session, list(texts)) for name, texts in tests.items()}
    told = card(arguments, arguments.out.read_bytes(), measured)
    text = json.dumps(told, indent=2, ensure_ascii=False)
    arguments.out.with_suffix(".card.json").write_text(text + "\n", encoding="utf-8")
    json.dump(measured, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
