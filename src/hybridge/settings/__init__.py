"""Everything the operator can set: one YAML file, with the environment on top.

The only reader of environment variables and YAML in this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hybridge.settings.document import Document
from hybridge.settings.reading import Reading
from hybridge.settings.settings import Settings

__all__ = ["Settings", "load", "parse"]


def load(path: Path | None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of a file (None: the defaults) under the environment's overrides.

    `environ` is this process's own unless given.
    Raises one `ConfigError` that names everything that is wrong, each with its place.
    """
    return Reading.of(path, environ).settings()


def parse(data: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from data instead of a file; `environ` is this process's own unless given."""
    return Reading(Document("configuration", data), environ).settings()
