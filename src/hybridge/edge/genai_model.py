"""A model that ONNX Runtime GenAI has loaded into this process: its words, prompts, generators.

Only worker processes come here: the library holds the interpreter's lock while it computes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridge.edge.genai_grammar import Grammars, Held
from hybridge.edge.genai_wire import Ask, Load
from hybridge.edge.refused import Refused
from hybridge.edge.token_bytes import read_vocabulary

Tokens = NDArray[np.int32]

BATCH_TOKENS = 64
"""Prompt tokens computed between two looks at whether anybody still waits for the answer."""
_NO_SPINNING = {"session.intra_op.allow_spinning": "0", "session.inter_op.allow_spinning": "0"}


class GenaiModel:
    """One loaded model. Everything here blocks."""

    def __init__(self, load: Load) -> None:
        """Raises `ModelError` or `RuntimeError`. It has computed a token by then."""
        genai = import_module("onnxruntime_genai")  # compiled, and without types
        genai.disable_telemetry_events()
        config = genai.Config(load.folder)
        config.overlay(json.dumps(_overlay(load.threads)))
        self._genai = genai
        self._model = genai.Model(config)
        self._tokenizer = genai.Tokenizer(self._model)
        self._start = int(self._tokenizer.bos_token_id)
        self.ends = frozenset(int(token) for token in self._tokenizer.eos_token_ids)
        """Tokens that end an answer."""
        words = Path(load.folder) / "tokenizer.json"
        self.vocabulary = read_vocabulary(words)
        self._grammars = Grammars(words, tuple(map(int, self._tokenizer.eos_token_ids)))
        self.alias = load.alias
        self.context_tokens = load.context_tokens
        self.build = f"onnxruntime-genai-{genai.__version__}"
        self._warm_up()

    def prompt(self, ask: Ask) -> Tokens:
        """The conversation as the model reads it. Raises `Refused` where its template objects."""
        try:
            text = self._tokenizer.apply_chat_template(
                ask.messages, tools=ask.tools, add_generation_prompt=True
            )
        except RuntimeError as error:
            what = f"do not suit the model's chat template: {error}"
            raise Refused("messages", what, code="invalid_value") from error
        tokens: Tokens = self._tokenizer.encode(text)
        begun_twice = len(tokens) > 1 and tokens[0] == tokens[1] == self._start
        return tokens[1:] if begun_twice else tokens  # the template said it, and the tokenizer

    def held(self, ask: Ask) -> Held | None:
        """To the first grammar that can be read. Raises `Refused` where none can."""
        for grammar in ask.grammars:
            if self._grammars.reads(grammar):
                return self._grammars.held(grammar)
        if not ask.grammars:
            return None
        what = "holds a JSON schema that this model cannot be held to"
        raise Refused(ask.held_by, what, code="unsupported_schema")

    def generator(self, length: int) -> Any:
        """A generator for so many tokens in all, which chooses the greatest of the logits.

        Its memory is taken at once, and given back when nobody holds it any more. Raises
        `RuntimeError`.
        """
        params = self._genai.GeneratorParams(self._model)
        params.set_search_options(max_length=length, do_sample=False, batch_size=1, num_beams=1)
        return self._genai.Generator(self._model, params)

    def _warm_up(self) -> None:
        """The first token takes longest: it is had before anybody waits."""
        generator = self.generator(len(_FIRST) + 1)
        generator.append_tokens(_FIRST)
        generator.generate_next_token()


_FIRST = np.array([1], np.int32)


def batches(tokens: Tokens) -> Sequence[Tokens]:
    """A prompt in the pieces in which it is computed."""
    return [tokens[start : start + BATCH_TOKENS] for start in range(0, len(tokens), BATCH_TOKENS)]


def _overlay(threads: int) -> dict[str, Any]:
    """What is set over the model's own configuration: the search's members are set by request."""
    options = {"intra_op_num_threads": threads, "inter_op_num_threads": 1, **_NO_SPINNING}
    plain = {"repetition_penalty": 1.0, "no_repeat_ngram_size": 0, "min_length": 0}
    return {"model": {"decoder": {"session_options": options}}, "search": plain}
