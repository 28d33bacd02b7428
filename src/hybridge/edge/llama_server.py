"""A GGUF model loaded into this process by llama.cpp (xllamacpp), and how it is set up."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from hybridge.core.errors import ModelError

BATCH_TOKENS = 32
"""Prompt tokens computed between two looks at whether anybody still waits for the answer. Measured
on one core: a small model reads about as many in half a second, and 512 at once are no faster."""
TEMPERATURE, TOP_P = 0.2, 0.9
"""Where a request names none (source: SmolLM2-135M-Instruct's model card). Of 36 small tasks it got
14 right so, 8 and 13 at llama.cpp's own 0.8, 16 at 0; Qwen2.5-Coder-0.5B got 27, 28 and 27."""
_FIRST_WORD = '{"prompt": "1", "max_tokens": 1, "stream": false}'
"""What is asked of every model as soon as it is loaded. The library says that it is loaded before
its loop runs, and whoever frees it in between waits for ever, the interpreter with him; once
something was answered the loop is known to run."""
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

    @classmethod
    def load(cls, load: Load) -> Self:
        """Reads the weights and warms up. Raises `ModelError` with the file's path."""
        xllamacpp = import_module("xllamacpp")  # compiled, and without types
        # With its folder the socket goes away again: whoever did not connect by then never will.
        with TemporaryDirectory(prefix="hybridge-") as folder:
            try:
                server = xllamacpp.Server(_params(xllamacpp.CommonParams(), load, Path(folder)))
                server.handle_completions(_FIRST_WORD, lambda _: False)
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
