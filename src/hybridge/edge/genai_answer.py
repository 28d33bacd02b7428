"""One answer of a loaded model, step by step: a batch of the prompt, or a token."""

from __future__ import annotations

import codecs
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np

from hybridge.edge.genai_model import GenaiModel, Tokens, batches
from hybridge.edge.genai_wire import Ask
from hybridge.edge.sampling import LAST_TOKENS, Logits, Sampler, log_probabilities
from hybridge.edge.stop_text import StopText
from hybridge.edge.telling import NEXT_CHOICE

Say = Callable[[str], None]
_LEAST = -9999.0
"""A log-probability for what is impossible; JSON knows no infinity (source: OpenAI's own)."""


def answer(model: GenaiModel, ask: Ask, say: Say) -> Iterator[None]:
    """Computes one step each time it is asked for the next; `say` gets the pieces in between.

    Raises `Refused`, and `RuntimeError` where the library fails. Closing it ends the work.
    """
    prompt = model.prompt(ask)
    if len(prompt) >= model.context_tokens:
        say(_too_long(len(prompt), model.context_tokens))
        return
    for index in range(ask.choices):
        if index:
            say(NEXT_CHOICE)
        yield from _Choice(model, ask, say, index).steps(prompt)


class _Choice:
    """One of the choices of an answer."""

    def __init__(self, model: GenaiModel, ask: Ask, say: Say, index: int) -> None:
        self._model = model
        self._ask = ask
        self._say = say
        self._held = model.held(ask)
        self._sampler = Sampler(
            temperature=ask.temperature,
            top_k=ask.top_k,
            top_p=ask.top_p,
            min_p=ask.min_p,
            repeat_penalty=ask.repeat_penalty,
            presence_penalty=ask.presence_penalty,
            frequency_penalty=ask.frequency_penalty,
            logit_bias=ask.logit_bias,
            seed=None if ask.seed is None else ask.seed + index,
        )
        self._characters = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = StopText(ask.stop)
        self._written = self._told = 0
        """Characters that the model wrote, and those that were passed on."""
        self._tokens: list[tuple[int, dict[str, Any]]] = []
        """Probabilities not yet told, each with the place where its token's text begins."""
        self._took_ms = {"prompt_ms": 0.0, "predicted_ms": 0.0}
        self._head = {
            "id": f"chatcmpl-{secrets.token_urlsafe(12)}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model.alias,
            "system_fingerprint": model.build,
        }

    def steps(self, prompt: Tokens) -> Iterator[None]:
        length = min(self._model.context_tokens, len(prompt) + self._ask.max_tokens)
        generator = self._model.generator(length)
        for batch in batches(prompt):
            with self._timing("prompt_ms"):
                generator.append_tokens(batch)
            yield
        for token in prompt[-LAST_TOKENS:]:
            self._sampler.saw(int(token))
        self._tell({"role": "assistant", "content": None})
        count, reason = 0, None
        while reason is None:
            with self._timing("predicted_ms"):
                token = self._next(generator)
            if token in self._model.ends:
                reason = "stop"
                break
            count += 1
            self._write(self._characters.decode(self._model.vocabulary.text(token)))
            if self._text.stopped:
                reason = "stop"
            elif generator.is_done():
                reason = "length"
            else:
                yield
        self._finish(reason, len(prompt), count)

    @contextmanager
    def _timing(self, phase: str) -> Iterator[None]:
        """Counts what is computed, not the turns of others in between."""
        started_s = time.perf_counter()
        yield
        self._took_ms[phase] += 1000 * (time.perf_counter() - started_s)

    def _next(self, generator: Any) -> int:
        """Chooses a token. Its logits are read before: afterwards they are gone."""
        wanted, sampler, held = self._ask.logprobs, self._sampler, self._held
        is_plain = sampler.is_plain and held is None
        logits: Logits | None = None
        if wanted is not None or not is_plain:
            logits = np.array(generator.get_logits()[0, -1])
        if logits is not None and not is_plain:
            allowed = None if held is None else held.allowed(len(logits))
            generator.set_logits(sampler.noisy(logits, allowed))
        generator.generate_next_token()
        token = int(generator.get_next_tokens()[0])
        sampler.saw(token)
        if held is not None:
            held.take(token)
        if wanted is not None and logits is not None and token not in self._model.ends:
            self._tokens.append((self._written, self._probability(token, logits, wanted)))
        return token

    def _probability(self, token: int, logits: Logits, alternatives: int) -> dict[str, Any]:
        logs = log_probabilities(logits)
        count = min(alternatives, len(logs))
        best = np.argpartition(logs, len(logs) - count)[len(logs) - count :] if count else ()
        others = sorted(map(int, best), key=lambda other: -logs[other])
        top = [self._shown(other, logs) for other in others]
        return self._shown(token, logs) | {"top_logprobs": top}

    def _shown(self, token: int, logs: Logits) -> dict[str, Any]:
        raw = self._model.vocabulary.shown(token)
        text = raw.decode(errors="replace")
        return {"token": text, "logprob": max(_LEAST, float(logs[token])), "bytes": list(raw)}

    def _write(self, text: str) -> None:
        self._written += len(text)
        self._pass_on(self._text.feed(text))

    def _pass_on(self, text: str) -> None:
        """Tells text with the probabilities of the tokens that it is made of."""
        if not text:
            return
        self._told += len(text)
        told = [entry for place, entry in self._tokens if place < self._told]
        del self._tokens[: len(told)]
        self._tell({"content": text}, logprobs=told)

    def _finish(self, reason: str, prompt: int, count: int) -> None:
        if not self._text.stopped:
            self._pass_on(self._text.close())
        self._tell({}, reason=reason)
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": count,
            "total_tokens": prompt + count,
        }
        timings = {"prompt_n": prompt, "predicted_n": count, **self._took_ms}
        self._send({"choices": [], "usage": usage, "timings": timings})

    def _tell(
        self,
        delta: dict[str, Any],
        *,
        reason: str | None = None,
        logprobs: list[dict[str, Any]] | None = None,
    ) -> None:
        choice: dict[str, Any] = {"index": 0, "delta": delta, "finish_reason": reason}
        if logprobs:
            choice["logprobs"] = {"content": logprobs}
        self._send({"choices": [choice]})

    def _send(self, body: dict[str, Any]) -> None:
        self._say(msgspec.json.encode(self._head | body).decode())


def _too_long(prompt: int, context: int) -> str:
    """As llama.cpp's server says it."""
    error = {
        "code": 400,
        "message": "the request exceeds the available context size",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": prompt,
        "n_ctx": context,
    }
    return msgspec.json.encode({"error": error}).decode()
