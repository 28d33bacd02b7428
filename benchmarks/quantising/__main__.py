"""Exports and quantises an encoder by the two commands, and measures what came out.

    python -m benchmarks.quantising --model FOLDER [--check]

`FOLDER` holds all-MiniLM-L6-v2 in Hugging Face's layout. Needs the extra `export`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from hybridge.edge.encoder import MEANING
from hybridge.pipeline.graph_runner import GraphRunner, cosines
from hybridge.pipeline.texts import read

RESULTS = Path(__file__).parents[1] / "results" / "quantising.json"
VARIANTS = {
    "dynamic, int4 tables": ("--mode", "dynamic", "--embeddings", "int4"),
    "dynamic, int8 tables": ("--mode", "dynamic", "--embeddings", "int8"),
    "static, int4 tables": ("--mode", "static", "--embeddings", "int4"),
}
USUAL = "dynamic, int4 tables"
AS_SHIPPED = "dynamic, int8 tables"
"""How the gateway's own encoder was quantised."""
TOKENS = (16, 64, 128)
ROUNDS = 40
SHIPPED_COSINE = 0.999
"""Mean cosine, at least, between the shipped encoder and the same one made anew."""


def command(*arguments: str) -> dict:
    """One `hybridge models` command; what it prints as JSON. Ends here where it fails."""
    line = [sys.executable, "-m", "hybridge", "models", *arguments, "--json"]
    done = subprocess.run(line, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def latencies(runners: dict[str, GraphRunner]) -> dict[str, dict[int, float]]:
    """Median milliseconds on one thread; all take turns, so that a slow moment hits each."""
    rng, found = np.random.default_rng(0), {name: {} for name in runners}
    for tokens in TOKENS:
        taken = {name: [] for name in runners}
        for round_ in range(ROUNDS + 3):
            ids = [rng.integers(1000, 20000, tokens).tolist()]
            for name, runner in runners.items():
                began = time.perf_counter()
                runner.raw(ids)
                if round_ >= 3:
                    taken[name].append((time.perf_counter() - began) * 1e3)
        for name, times in taken.items():
            found[name][tokens] = round(statistics.median(times), 2)
    return found


def measure(model: str, folder: Path) -> dict:
    """Both commands for each variant, and the latencies."""
    exported = command("export", model, "--out", str(folder / "fp32"))
    places, rows = {"FP32": folder / "fp32"}, {}
    for number, (name, options) in enumerate(VARIANTS.items()):
        places[name] = folder / str(number)
        source = str(folder / "fp32")
        rows[name] = command("quantize", source, "--out", str(places[name]), *options)
    runners = {
        name: GraphRunner.of(place / "model.onnx", place / "tokenizer.json")
        for name, place in places.items()
    }
    texts = [line.text for line in read()]
    shipped = GraphRunner.of(MEANING / "encoder.onnx", MEANING / "tokenizer.json").rows(texts)
    alike = cosines(shipped, runners[AS_SHIPPED].rows(texts))
    return {
        "export": exported,
        "quantize": rows,
        "latency_ms": latencies(runners),
        "shipped_cosine": round(float(alike.mean()), 4),
    }


def table(measured: dict) -> str:
    """As Markdown."""
    times = measured["latency_ms"]
    head = " | ".join(f"{tokens} tokens" for tokens in TOKENS)
    lines = [f"| | MB | of FP32 | en | zh | cosine | {head} |", "|---" * (6 + len(TOKENS)) + "|"]
    first = next(iter(measured["quantize"].values()))
    fp32 = first["verdict"]["languages"]
    lines.append(
        f"| FP32 | {first['fp32_bytes'] / 1e6:.1f} | 1 | {fp32['en']['fp32']:.1f} % | "
        f"{fp32['zh']['fp32']:.1f} % | 1 | "
        + " | ".join(f"{times['FP32'][tokens]:.1f} ms" for tokens in TOKENS)
        + " |"
    )
    for name, row in measured["quantize"].items():
        by = row["verdict"]["languages"]
        faster = " | ".join(
            f"{times[name][tokens]:.1f} ms ({times['FP32'][tokens] / times[name][tokens]:.1f} x)"
            for tokens in TOKENS
        )
        lines.append(
            f"| {name} | {row['int8_bytes'] / 1e6:.1f} | {row['ratio']:.3f} | "
            f"{by['en']['int8']:.1f} % | {by['zh']['int8']:.1f} % | "
            f"{row['verdict']['all']['cosine']:.4f} | {faster} |"
        )
    return "\n".join(lines)


def missed(measured: dict) -> list[str]:
    """The goals that were not reached."""
    usual, found = measured["quantize"][USUAL], []
    if usual["ratio"] > 0.25:
        found.append(f"the INT8 file is {usual['ratio']:.3f} of FP32, more than a quarter")
    if usual["loss"] > 1:
        found.append(f"{usual['loss']} points lost, more than one")
    if measured["shipped_cosine"] < SHIPPED_COSINE:
        found.append(f"the shipped encoder is not what comes out: {measured['shipped_cosine']}")
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="all-MiniLM-L6-v2: a folder or a hub id")
    parser.add_argument("--check", action="store_true", help="end with 1 when a goal is missed")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        measured = measure(arguments.model, Path(folder))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(measured, indent=2) + "\n")
    print(table(measured))
    print(f"\nthe shipped encoder, made anew: mean cosine {measured['shipped_cosine']}")
    print("\n".join(missed(measured)))
    sys.exit(1 if arguments.check and missed(measured) else 0)


if __name__ == "__main__":
    main()
