"""The gateways that take part, as data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Gateway:
    """One row of `gateways.toml`."""

    name: str
    title: str
    command: tuple[str, ...] = ()
    """Empty: the upstream itself."""
    config: str = ""
    requirements: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    path: str = "/v1/chat/completions"
    every_core: bool = False
    """Not held to the gateway's one core."""


def known() -> dict[str, Gateway]:
    """All rows of `gateways.toml` by name, in its order."""
    rows = tomllib.loads((HERE / "gateways.toml").read_text(encoding="utf-8"))
    return {name: Gateway(name, **_frozen(row)) for name, row in rows.items()}


def _frozen(row: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
