"""A GGUF model loaded into this process by llama.cpp (xllamacpp), and how it is set up."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from hybridge.core.errors import ModelError
from hybridge.edge.grammar import tried

BATCH_TOKENS = 32
"""Prompt tokens computed between two looks at whether anybody still waits for the answer. Measured
on one core: a small model reads about as many in half a second, and 512 at once are no faster."""
TEMPERATURE, TOP_P = 0.2, 0.9
"""Where a request names none (source: SmolLM2-135M-Instruct's model card). Of 36 small tasks it got
14 right so, 8 and 13 at llama.cpp's own 0.8, 16 at 0; Qwen2.5-Coder-0.5B got 27, 28 and 27."""
_FIRST_WORD = {"prompt": "1", "max_tokens": 1}
"""What is asked of every model as soon as it is loaded. The library says that it is loaded before
its loop runs, and whoever frees it in between waits for ever, the interpreter with him; once
something was answered the loop is known to run."""
_KNOWN_GRAMMARS = 256
"""So many verdicts on grammars are remembered."""
_ROUNDED_TO = 256
"""The engine rounds a context up to a multiple of this many tokens."""
_LONGEST_SOCKET_PATH = 100
"""Systems allow 103 bytes or more for the path of a socket."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a model is loaded with."""

    gguf: Path
    alias: str
    """The model's name in answers."""
    context_tokens: int
    """Of one slot."""
    slots: int
    """Answers computed at once."""
    threads: int
    """Compute threads, all slots together."""


class LlamaServer:
    """One loaded model. Everything here blocks; `chat` may run in as many threads as slots."""

    def __init__(self, server: Any) -> None:
        self._server: Any = server
        self.build = str(self._completion(_FIRST_WORD).get("system_fingerprint"))
        """What the library calls itself in answers."""
        self._readable: dict[str, bool] = {}
        """Grammars that were tried already."""

    @classmethod
    def load(cls, load: Load) -> Self:
        """Reads the weights and warms up. Raises `ModelError` with the file's path."""
        xllamacpp = import_module("xllamacpp")  # compiled, and without types
        # With its folder the socket goes away again: whoever did not connect by then never will.
        with TemporaryDirectory(prefix="hybridge-") as folder:
            try:
                server = xllamacpp.Server(_params(xllamacpp.CommonParams(), load, Path(folder)))
                return cls(server)
            except RuntimeError as error:  # it gives no reason; what can be told was checked before
                raise ModelError(
                    f"{load.gguf} cannot be loaded: the file is broken, its kind of model is not "
                    f"known to this version of llama.cpp, or memory is short ({error})"
                ) from error

    @property
    def address(self) -> str:
        """Where the library believes to be listening."""
        return str(self._server.listening_address)

    def context_tokens(self, load: Load) -> int:
        """What one slot really holds, from the engine itself: it is asked too much, and says so."""
        body = {"prompt": [1] * (2 * load.context_tokens + _ROUNDED_TO), "max_tokens": 1}
        error = self._completion(body).get("error") or {}
        return int(error.get("n_ctx") or load.context_tokens)

    def reads(self, grammar: str) -> bool:
        """Whether the engine can hold an answer to this grammar. Tried once, in some milliseconds.

        Raises `ValueError` or `RuntimeError` where the engine itself complains.
        """
        if (known := self._readable.get(grammar)) is not None:
            return known
        if len(self._readable) >= _KNOWN_GRAMMARS:
            self._readable.clear()
        self._readable[grammar] = found = self._tries(grammar)
        return found

    def _tries(self, grammar: str) -> bool:
        if not grammar.startswith("%llguidance"):
            return True  # of its own kind of grammar the engine says what is wrong
        marked, mark = tried(grammar)
        body = {"prompt": "1", "max_tokens": 1, "temperature": 0, "grammar": marked}
        text = self._completion(body)["choices"][0]["text"]
        return bool(text) and mark.startswith(text)

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        said: list[str] = []
        self._server.handle_completions(json.dumps(body), said.append)
        whole: dict[str, Any] = json.loads(said[0])
        return whole

    def chat(self, body: str, say: Callable[[str], bool]) -> None:
        """Generates for one chat request, JSON in and JSON out.

        `say` gets each piece and stops the generation by returning True. Raises `ValueError` or
        `RuntimeError` for a request that cannot be taken.
        """
        self._server.handle_chat_completions(body, say)

    def close(self) -> None:
        """Frees the weights. No `chat` may be under way."""
        self._server = None


def _params(params: Any, load: Load, folder: Path) -> Any:
    params.model.path = str(load.gguf)
    params.model_alias = {load.alias}
    params.n_parallel = load.slots
    params.n_ctx = load.context_tokens * load.slots
    params.n_batch = params.n_ubatch = max(BATCH_TOKENS, load.slots)
    params.ctx_shift = False  # what does not fit is refused, never cut
    params.cache_ram_mib = 0  # no cache of old prompts beside the slots' own: memory stays flat
    for share in (params.cpuparams, params.cpuparams_batch):
        share.n_threads = load.threads
        share.poll = 0  # threads that spin while they wait starve everyone on a shared core
    params.sampling.temp, params.sampling.top_p = TEMPERATURE, TOP_P
    params.use_jinja = True
    params.verbosity = -1
    _lock_out(params, folder)
    return params


def _lock_out(params: Any, folder: Path) -> None:
    """Nobody but this process may use the server that the library cannot do without.

    It listens on a socket file in a private folder, not on a port, and wants a key that nobody
    knows. Where the folder's path is too long for a socket it stays on loopback, behind the key.
    """
    socket = str(folder / "llama.sock")
    if len(socket.encode()) <= _LONGEST_SOCKET_PATH:
        params.hostnames = [socket]
    params.api_keys = [secrets.token_urlsafe(32)]
    params.n_threads_http = 1
    params.ui = params.endpoint_slots = params.endpoint_props = False
