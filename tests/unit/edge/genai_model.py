"""Models of ONNX Runtime GenAI for tests: a tiny one that is always there, and a real one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.llamacpp import spec_of
from hybridge.edge.ortgenai import OrtGenai

TINY = Path(__file__).parents[2] / "tiny_genai" / "model"
"""It knows a few answers by heart; `make.py` beside it says which."""
STORY = "Tell me a very long story about a dragon."
REAL = Path(os.environ.get("HYBRIDGE_GENAI_MODEL", "nowhere"))
"""A folder with real weights, for whoever has one."""


async def loaded(folder: Path = TINY, version: str = "v1", **given: Any) -> OrtGenai:
    backoff_s = given.pop("backoff_s", 0.01)
    row = EdgeBackendConfig(
        **{
            "name": "local",
            "engine": "ortgenai",
            "model": "tiny",
            "context_tokens": 512,
            "slots": 1,
            **given,
        }
    )
    spec = spec_of(row, features=frozenset(), version=version)
    return await OrtGenai.load(spec, folder, row, threads=1, backoff_s=backoff_s)
