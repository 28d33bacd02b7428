"""GGUF files through llama.cpp's own quantiser, a program called `llama-quantize`."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

from hybridge.core.errors import ConfigError, ModelError
from hybridge.pipeline.destination import workshop

PROGRAM = "llama-quantize"
USUAL = "Q4_K_M"
_TENSOR = re.compile(r"^\[\s*(\d+)/\s*(\d+)\]")
_FALLBACK = re.compile(r"(\d+) of \d+ tensor\(s\) required fallback")
_REASON = re.compile(r"(?:llama|gguf|ggml)_\w+: (.*(?:fail|error|invalid).*)")
_LAST = 6
"""So many lines may hold the reason of a failure."""


class Quantised(Struct, frozen=True):
    """What was written."""

    out: str
    type: str
    before_bytes: int
    after_bytes: int
    fallbacks: int
    """Tensors that got another type, most often a larger one: their rows are no multiple of the
    numbers that a block of the wanted type holds (256 for the K types)."""


def program() -> str:
    """Where it is. Raises `ConfigError` that says how to get it."""
    if (found := shutil.which(PROGRAM)) is None:
        raise ConfigError(
            f"GGUF files are quantised by llama.cpp's own program, and there is no {PROGRAM} on "
            "the PATH: llama.cpp's releases carry it (also `brew install llama.cpp`, or "
            f"`cmake --build build --target {PROGRAM}` in its source). Models that are quantised "
            "already are fetched by `hybridge models pull`."
        )
    return found


def quantise(
    source: Path,
    out: Path,
    kind: str = USUAL,
    *,
    again: bool = False,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> Quantised:
    """Writes `out`, or nothing. `again`: weights may be quantised already, which loses twice.

    Raises `ConfigError`, and `ModelError` with the program's last words.
    """
    if out.exists():
        raise ConfigError(f"{out} is there already: name a new file, or take it away first")
    if _magic(source) != b"GGUF":
        raise ModelError(f"{source} is no GGUF file")
    tool = program()
    with workshop(out) as work:
        made = work / "made.gguf"
        options = ["--allow-requantize"] if again else []
        fallbacks = _run([tool, *options, str(source), str(made), kind], advance)
        if not made.is_file():
            raise ModelError(f"{PROGRAM} said that all went well, and wrote nothing")
        sizes = source.stat().st_size, made.stat().st_size
        done = Quantised(str(out), kind, *sizes, fallbacks)
        shutil.move(made, out)
    return done


def _magic(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def _run(command: list[str], advance: Callable[[int, int], None]) -> int:
    """Its lines are progress while they come, and the reason where it fails; how many tensors got
    another type."""
    last: deque[str] = deque(maxlen=_LAST)
    with subprocess.Popen(  # noqa: S603 - the program that was asked for, and files
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None  # noqa: S101 - it was asked for
        fallbacks = 0
        for line in process.stdout:
            last.append(line.strip())
            if found := _TENSOR.match(line.strip()):
                advance(int(found[1]), int(found[2]))
            if found := _FALLBACK.search(line):
                fallbacks = int(found[1])
    if process.returncode != 0:
        said = _reason(last)
        raise ModelError(f"{PROGRAM} ended with {process.returncode}: {said}{_way_out(said)}")
    return fallbacks


def _reason(last: Iterable[str]) -> str:
    """What the program says of its failure, without banner, progress and the functions' names; all
    of its last words where it says nothing that is known."""
    lines = [line for line in last if line]
    told = [found[1] for line in lines if (found := _REASON.search(line))]
    return "; ".join(told or lines)


def _way_out(said: str) -> str:
    if "requantiz" in said:
        return ". Its weights are quantised already: start from F16, or add --requantize"
    if "invalid ftype" in said:
        return f". {PROGRAM} --help lists the types"
    return ""
