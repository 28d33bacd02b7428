"""A gateway for the SDKs of this environment. The gateway itself runs in another one.

`HYBRIDGE_PYTHON` names the interpreter that has the gateway; without it, the one of `.venv`.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE

import pytest
from openai import OpenAI

# Importing LiteLLM would fetch its price table from the network; it ships one.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

HERE = Path(__file__).parent
MAIN = HERE.parents[1] / ".venv" / "bin" / "python"
LOCAL = "qwen2.5-0.5b"

_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63"
    "fccfc0500f0004850180ae41a2b80000000049454e44ae426082"
)
"""One pixel."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """Where a started gateway is, and keys for it."""

    url: str
    key: str
    limited: list[str]
    """Each is good for one request in a minute; `pop` one."""

    @property
    def v1(self) -> str:
        """The base URL of OpenAI's clients; Anthropic's take `url`."""
        return f"{self.url}/v1"


def pytest_configure(config: pytest.Config) -> None:
    """What LangChain, LlamaIndex and LiteLLM leave open in this process is not the gateway's.

    They keep clients of their own and close none of them; the garbage collector tells of it
    whenever it comes by, so in any test, and after the last one.
    """
    config.addinivalue_line("filterwarnings", "ignore:unclosed:ResourceWarning")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """For the whole session, which `one_loop` needs."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
async def one_loop(anyio_backend: str) -> AsyncIterator[None]:
    """One event loop for all tests: LangChain and LlamaIndex keep connections between calls."""
    yield  # noqa: PT022 - the loop ends with this fixture, so it must not end at once


@pytest.fixture(scope="session")
def gateway() -> Iterator[Gateway]:
    """A gateway between a scripted edge and a scripted cloud, `gpt`."""
    with _scene() as gateway:
        yield gateway


@pytest.fixture
def client(gateway: Gateway) -> Iterator[OpenAI]:
    """OpenAI's client; retries would hide errors."""
    with OpenAI(base_url=gateway.v1, api_key=gateway.key, max_retries=0) as client:
        yield client


@pytest.fixture(scope="session")
def local_gateway() -> Iterator[Gateway]:
    """A gateway with a real model of this device, `local`: the smallest that can call tools.

    It is fetched in CI, and elsewhere when somebody has asked for it.
    """
    listed = subprocess.run(
        [_python(), "-m", "hybridge", "models", "list", "--json"], stdout=PIPE, check=True
    )
    paths = {row["name"]: row["path"] for row in json.loads(listed.stdout)}
    if paths[LOCAL] is None and not os.environ.get("CI"):
        pytest.skip(f"no weights here: `hybridge models pull {LOCAL}` fetches 490 MB")
    subprocess.run([_python(), "-m", "hybridge", "models", "pull", LOCAL], check=True)
    with _scene("--local", LOCAL) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def open_gateway() -> Iterator[Gateway]:
    """A gateway whose backends answer whatever they are asked."""
    with _scene("--open") as gateway:
        yield gateway


@pytest.fixture(scope="session")
def early_gateway() -> Iterator[Gateway]:
    """A gateway that begins a stream before there is anything to tell."""
    with _scene(HYBRIDGE_SERVER__EARLY_HEADERS_S="0.2", HYBRIDGE_SERVER__KEEPALIVE_S="0.2") as it:
        yield it


@pytest.fixture(scope="session")
def busy() -> Callable[[], str]:
    """Names a backend that is rate-limited, and that no other test has asked yet."""
    numbers = itertools.count()
    return lambda: f"busy-{next(numbers)}"


@pytest.fixture
def png() -> bytes:
    """A picture."""
    return _PNG


@contextmanager
def _scene(*arguments: str, **variables: str) -> Iterator[Gateway]:
    command = [_python(), str(HERE / "scene.py"), *arguments]
    process = subprocess.Popen(
        command, stdin=PIPE, stdout=PIPE, text=True, env={**os.environ, **variables}
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        first = process.stdout.readline()
        if not first:
            pytest.exit(f"no gateway: {' '.join(command)} ended with {process.wait()}", 1)
        yield Gateway(**json.loads(first))
    finally:
        process.stdin.close()
        ended = process.wait(60)
        process.stdout.close()
    assert ended == 0, "the gateway's log holds a traceback; it is in the captured output"


def _python() -> str:
    """The interpreter that has the gateway."""
    return os.environ.get("HYBRIDGE_PYTHON") or (str(MAIN) if MAIN.exists() else sys.executable)
