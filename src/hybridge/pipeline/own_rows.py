"""The operator's own comparisons in a file: JSON lines with a prompt and how both models did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from hybridge.core.errors import ConfigError

SCORES = (("edge_score", "cloud_score"), ("weak_score", "strong_score"))
MODELS = (("edge_model", "cloud_model"), ("weak_model", "strong_model"))


class OwnRow(Struct, frozen=True):
    """One prompt that both models answered."""

    prompt: str
    gain: float
    """How much better the cloud's answer was, -1 to 1."""
    models: tuple[str, str]
    """Edge and cloud by name, empty where the row does not say."""

    @property
    def failed(self) -> float:
        """By how much the edge's answer was not good enough, 0-1."""
        return max(0.0, self.gain)


def rows(lines: Iterable[str], name: str) -> list[OwnRow]:
    """Reads them all. Raises `ConfigError` that names file, line and field."""
    return [_row(line, f"{name}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def of_pair(found: Iterable[OwnRow], edge: str | None, cloud: str | None) -> list[OwnRow]:
    """Those of one pair of models. Raises `ConfigError` where more than one is left."""
    wanted = [
        row for row in found if edge in (None, row.models[0]) and cloud in (None, row.models[1])
    ]
    pairs = sorted({row.models for row in wanted})
    if len(pairs) > 1:
        named = "; ".join(f"{one} and {other}" for one, other in pairs[:5])
        raise ConfigError(
            f"there are comparisons of {len(pairs)} pairs of models ({named}): an adapter is for "
            "one, choose it with --edge and --cloud"
        )
    if not wanted:
        raise ConfigError("there are no comparisons of these models")
    return wanted


def _row(line: str, place: str) -> OwnRow:
    try:
        row = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ConfigError(f"{place}: no JSON object: {error}") from error
    prompt = row.get("prompt")
    if not isinstance(prompt, str):
        raise ConfigError(f"{place}: prompt: a string is needed")
    return OwnRow(prompt, _gain(row, place), _models(row))


def _gain(row: Mapping[str, Any], place: str) -> float:
    for names in SCORES:
        if names[0] in row or names[1] in row:
            edge, cloud = _shares(row, names, place)
            return cloud - edge
    agreed = row.get("agreed")
    if not isinstance(agreed, bool):
        raise ConfigError(
            f"{place}: either agreed (true or false), or edge_score and cloud_score (0 to 1) are "
            "needed"
        )
    return 0.0 if agreed else 1.0


def _shares(row: Mapping[str, Any], names: tuple[str, str], place: str) -> Iterator[float]:
    for name in names:
        value = row.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ConfigError(f"{place}: {name}: a number from 0 to 1 is needed")
        yield float(value)


def _models(row: Mapping[str, Any]) -> tuple[str, str]:
    for edge, cloud in MODELS:
        if edge in row or cloud in row:
            return str(row.get(edge, "")), str(row.get(cloud, ""))
    return "", ""
