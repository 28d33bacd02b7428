"""Asks a local model questions with known answers, and keeps what it said with its probabilities.

    python -m hybridge.pipeline.ask --model FILE.gguf --name qwen2.5-0.5b --out answers.jsonl

One thread, temperature 0. A line each: the question, the answer, its tokens' log-probabilities,
why it ended, and whether it is right. `hybridge.pipeline.confidence` fits on such files.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from hybridge.pipeline.questions import Question, questions

MAX_TOKENS = 48
"""Enough for every question, with room to ramble."""


def engine(model: Path) -> Any:
    """llama.cpp with one slot on one thread."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx = 1024
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.verbosity = -1
    params.ui = False
    params.use_jinja = True
    return xllamacpp.Server(params)


def ask(server: Any, question: Question) -> dict[str, Any]:
    """One answer, as a line of the file."""
    reply = server.handle_chat_completions(
        {
            "messages": [{"role": "user", "content": question.text}],
            "temperature": 0,
            "max_tokens": MAX_TOKENS,
            "logprobs": True,
            "top_logprobs": 1,
        }
    )
    choice = reply["choices"][0]
    text = choice["message"]["content"] or ""
    tokens = (choice.get("logprobs") or {}).get("content") or []
    return {
        "language": question.language,
        "kind": question.kind,
        "question": question.text,
        "answer": text,
        "logprobs": [round(token["logprob"], 4) for token in tokens],
        "finish_reason": choice["finish_reason"],
        "right": question.accepts(text),
    }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--name", required=True, help="how the model is called in the file")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    server, every, right = engine(arguments.model), questions(), 0
    with arguments.out.open("w", encoding="utf-8") as out:
        for number, question in enumerate(every, start=1):
            line = {"model": arguments.name, **ask(server, question)}
            right += line["right"]
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
            sys.stderr.write(f"\r{number}/{len(every)}, {right} right")
    sys.stderr.write("\n")
    sys.stderr.flush()
    os._exit(0)  # the engine's own threads outlive an ordinary end


if __name__ == "__main__":
    main()
