r"""An encoder's vectors of prompts: what `hybridge.pipeline.train --embeddings` reads.

    python -m hybridge.pipeline.embed OUTCOMES [FOLDER ...] --out embeddings.npz \
        --encoder src/hybridge/edge/assets/scorer

Folders of recorded outcomes, and our own questions. The encoder: `encoder.onnx` and
`tokenizer.json`. Writes `keys` (as `outcomes.key_of` makes them)
and `x`, half floats of shape `(prompts, 384)`. About three minutes of one core for 50,000 prompts.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from hybridge.pipeline.both_ends import MOST_TOKENS, read
from hybridge.pipeline.graph_runner import GraphRunner, load_tokenizer
from hybridge.pipeline.outcomes import key_of
from hybridge.pipeline.quiz.every import questions

SHOWN = 500
"""Progress is shown every so many prompts."""


def prompts(folders: Sequence[Path]) -> dict[str, str]:
    """Each once, by its key, whatever its source's licence: vectors alone train nothing."""
    found = {question.key: question.text for question in questions()}
    for path in (path for folder in folders for path in sorted(folder.glob("*.jsonl.gz"))):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                found.setdefault(key_of(row["prompt"]), row["prompt"])
    return found


def write(texts: Mapping[str, str], encoder: Path, out: Path) -> None:
    """Encodes every text alone, as the gateway would. Raises `ModelError`."""
    tokenizer = load_tokenizer(encoder / "tokenizer.json")
    runner = GraphRunner(encoder / "encoder.onnx", tokenizer, most=MOST_TOKENS)
    rows = []
    for place, text in enumerate(texts.values()):
        (vector,) = runner.raw(read(tokenizer, [text]))
        rows.append((vector / np.linalg.norm(vector)).astype(np.float16))
        if place % SHOWN == 0:
            sys.stderr.write(f"\r{place} of {len(texts)} ")
    sys.stderr.write("\n")
    np.savez(out, keys=np.array(list(texts)), x=np.stack(rows))


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    for name in ("--encoder", "--out"):
        parser.add_argument(name, type=Path, required=True)
    arguments = parser.parse_args(argv)
    write(prompts(arguments.folders), arguments.encoder, arguments.out)


if __name__ == "__main__":
    main()
