"""The shape that every package's own configuration has."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """One frozen section of `hybridge.yaml`. Unknown keys are refused, never ignored."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, protected_namespaces=()
    )
