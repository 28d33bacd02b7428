"""A virtual environment per peer, made once and kept."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

ENVIRONMENTS = Path(__file__).parent.parent / ".envs"


def programs(name: str, requirements: Sequence[str]) -> Path:
    """The folder with the programs of an environment that holds `requirements`, made if need be.

    Raises RuntimeError with pip's last words when that fails.
    """
    if not requirements:
        return Path(sys.executable).parent
    wanted = "\n".join([sys.version, *requirements])
    digest = hashlib.sha256(wanted.encode()).hexdigest()[:8]
    folder = ENVIRONMENTS / f"{name}-{digest}"
    complete = folder / "complete"
    if not complete.exists():
        print(f"installing {' '.join(requirements)} into {folder} (once) …", file=sys.stderr)
        _install(folder, requirements)
        complete.touch()
    return folder / "bin"


def _install(folder: Path, requirements: Sequence[str]) -> None:
    ENVIRONMENTS.mkdir(exist_ok=True)
    (ENVIRONMENTS / ".gitignore").write_text("*\n", encoding="utf-8")
    venv.create(folder, with_pip=True, clear=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    ran = subprocess.run([*pip, *requirements], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RuntimeError(f"pip could not install {' '.join(requirements)}: {ran.stderr[-2000:]}")
