r"""The shipped encoder's vectors of prompts: what `hybridge.pipeline.train --embeddings` reads.

    python -m hybridge.pipeline.embed OUTCOMES [FOLDER ...] --out embeddings.npz

Folders of recorded outcomes, and our own questions. Writes `keys` (as `outcomes.key_of` makes them)
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

from hybridge.edge.encoder import Encoder
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


def write(texts: Mapping[str, str], out: Path, *, threads: int) -> None:
    """Encodes every text alone, as the gateway would."""
    encoder = Encoder.shipped(threads=threads)
    try:
        rows = np.zeros((len(texts), encoder.dimensions), np.float16)
        for place, text in enumerate(texts.values()):
            rows[place] = encoder.encode(text)
            if place % SHOWN == 0:
                sys.stderr.write(f"\r{place} of {len(texts)} ")
    finally:
        encoder.close()
    sys.stderr.write("\n")
    np.savez(out, keys=np.array(list(texts)), x=rows)


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args(argv)
    write(prompts(arguments.folders), arguments.out, threads=arguments.threads)


if __name__ == "__main__":
    main()
