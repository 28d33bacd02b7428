"""Puts questions with known answers to a local model, and keeps what it said, and how surely.

    python -m hybridge.pipeline.ask --model FILE.gguf --name qwen2.5-0.5b --out answers.jsonl

Through llama.cpp, at temperature 0 unless told otherwise. A second sample is taken with

    … --temperature 0.7 --seed 1 --keys keys.txt --out second.jsonl

where `keys.txt` names the questions that are to be asked. A line each: which question, the answer,
its tokens' log-probabilities and those of the second best tokens, why it ended, and whether it is
right. What the file holds already is not asked again, so a run that was cut goes on where it
stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from hybridge.pipeline.quiz.every import questions
from hybridge.pipeline.quiz.question import Question

BLOCK = 24
"""Questions that begin alike are asked in a row, so many of them: the engine keeps their head."""
CONTEXT_TOKENS = 768
"""Of each slot; the longest question with its answer has 300."""
_MANY = 3
"""Tokens whose probabilities are asked for at each place."""


def engine(model: Path, *, threads: int, slots: int) -> Any:
    """llama.cpp in this process."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx = CONTEXT_TOKENS * slots
    params.n_parallel = slots
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.verbosity = -1
    params.ui = False
    params.use_jinja = True
    return xllamacpp.Server(params)


def ask(
    server: Any, question: Question, *, temperature: float = 0, seed: int = 0
) -> dict[str, Any]:
    """One answer, as a line of the file. Raises `ValueError` where the engine refuses."""
    reply = server.handle_chat_completions(
        {
            "messages": [{"role": "user", "content": question.text}],
            "temperature": temperature,
            "seed": seed,
            "max_tokens": question.max_tokens,
            "logprobs": True,
            "top_logprobs": _MANY,
        }
    )
    if "choices" not in reply:
        raise ValueError(f"{question.key}: {reply}")
    choice = reply["choices"][0]
    text = choice["message"]["content"] or ""
    tokens = (choice.get("logprobs") or {}).get("content") or []
    return {
        "key": question.key,
        "answer": text,
        "logprobs": [round(token["logprob"], 3) for token in tokens],
        "second": [_second(token) for token in tokens],
        "finish_reason": choice["finish_reason"],
        "right": question.accepts(text),
    }


def in_order(every: Sequence[Question], seed: int = 5) -> list[Question]:
    """Blocks of questions that begin alike, in random order: a part of it is a sample."""
    ranked = sorted(every, key=lambda question: question.text)
    blocks = [ranked[start : start + BLOCK] for start in range(0, len(ranked), BLOCK)]
    random.Random(seed).shuffle(blocks)  # noqa: S311 - no secret
    return [question for block in blocks for question in block]


def answered(out: Path) -> set[str]:
    """Keys that a file holds; a last line that was cut is taken off it."""
    if not out.exists():
        return set()
    lines = out.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        out.write_bytes(b"".join(lines[:-1]))
        lines.pop()
    return {json.loads(line)["key"] for line in lines}


def run(
    asked: Callable[[Question], dict[str, Any]],
    wanted: Sequence[Question],
    out: Path,
    *,
    slots: int,
) -> Iterator[bool]:
    """Asks and writes; says of each whether it was right."""
    with out.open("a", encoding="utf-8") as file, ThreadPoolExecutor(slots) as threads:
        for line in threads.map(asked, wanted):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
            yield line["right"]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--name", required=True, help="how the model is called, for the bar")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keys", type=Path, help="only the questions that it names")
    arguments = parser.parse_args()
    known, named = answered(arguments.out), _named(arguments.keys)
    wanted = [q for q in in_order(questions()) if named is None or q.key in named]
    wanted = [question for question in wanted if question.key not in known]
    server, right = engine(arguments.model, threads=arguments.threads, slots=arguments.slots), 0
    asked = partial(ask, server, temperature=arguments.temperature, seed=arguments.seed)
    with _bar(arguments.name, len(wanted)) as advance:
        for number, was in enumerate(run(asked, wanted, arguments.out, slots=arguments.slots), 1):
            right += was
            advance(f"{right / number:.0%} right")
    os._exit(0)  # the engine's own threads outlive an ordinary end


def _named(keys: Path | None) -> set[str] | None:
    return None if keys is None else set(keys.read_text("utf-8").split())


@contextmanager
def _bar(what: str, total: int) -> Iterator[Callable[[str], None]]:
    """Counts questions on standard error; what it gives takes a few words beside the count."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total, told="")
        yield lambda told: bar.update(task, advance=1, told=told)


def _second(token: dict[str, Any]) -> float:
    """The log-probability of the likeliest token that was not taken; -20 where none is told."""
    others = [o["logprob"] for o in token.get("top_logprobs", ()) if o["token"] != token["token"]]
    return round(max(others, default=-20.0), 3)


if __name__ == "__main__":
    main()
