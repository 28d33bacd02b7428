"""An adapter in a file: what `hybridge train` writes and `routing.adapter` names."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from hybridge.core.errors import ModelError
from hybridge.learning.accuracy import TaskAccuracy
from hybridge.routing.adaptation import Adaptation, Trial
from hybridge.routing.adapter import Adapter, Prior
from hybridge.routing.calibrating import Calibration
from hybridge.routing.view import SIZE

FORMAT = 2


def written(adaptation: Adaptation) -> bytes:
    """The content of a file; the same for the same adapter."""
    adapter = adaptation.adapter
    if adapter is None:
        raise ValueError("the prior speaks: there is nothing to write")
    told = {
        "format": FORMAT,
        "head": adaptation.head,
        "version": adaptation.version,
        "prior": adapter.prior,
        "calibration": adaptation.calibration,
        "trial": adaptation.trial,
        "tasks": adaptation.tasks,
    }
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        allow_pickle=False,
        views=adapter.views,
        pulls=adapter.pulls,
        curvature=adapter.curvature,
        told=np.frombuffer(msgspec.json.encode(told), np.uint8),
    )
    return buffer.getvalue()


def save(path: Path, adaptation: Adaptation) -> None:
    """In one step: whoever watches the file sees the old one or the new one whole."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(written(adaptation))
    beside.replace(path)


def load(path: Path, head: str) -> Adaptation:
    """Reads one that was made for the head of that version. Raises `ModelError` with the path."""
    try:
        made = _read(path.read_bytes())
    except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path} is not an adapter of this version: {error}") from error
    if made.head != head:
        raise ModelError(
            f"{path} was made for the head {made.head}, and {head} is in force: run "
            "`hybridge train` again, or set `routing.head` to the head it was made for"
        )
    return made


def _read(raw: bytes) -> Adaptation:
    with np.load(io.BytesIO(raw), allow_pickle=False) as data:
        views = np.asarray(data["views"], np.float32)
        pulls = np.asarray(data["pulls"], np.float64)
        curvature = np.asarray(data["curvature"], np.float64)
        told: dict[str, Any] = json.loads(data["told"].tobytes())
    if told["format"] != FORMAT:
        raise ValueError(f"format {told['format']}, where {FORMAT} is known")
    n = len(pulls)
    if views.shape != (n, SIZE) or pulls.shape != (n,) or curvature.shape != (n,):
        raise ValueError(f"arrays of shapes {views.shape}, {pulls.shape} and {curvature.shape}")
    if not all(np.isfinite(array).all() for array in (views, pulls, curvature)):
        raise ValueError("it holds numbers that are not finite")
    if not (curvature > 0).all():
        raise ValueError("it holds labels that say nothing")
    return Adaptation(
        None,
        msgspec.convert(told["trial"], Trial),
        Adapter.of(views, pulls, curvature, msgspec.convert(told["prior"], Prior)),
        msgspec.convert(told["calibration"], Calibration),
        msgspec.convert(told["tasks"], dict[str, TaskAccuracy]),
        str(told["head"]),
        str(told["version"]),
    )
