"""How pictures are fetched."""

from __future__ import annotations

from pydantic import Field, field_validator

from hybridge.cloud.pictures.networks import Allowed
from hybridge.core.config import Section


class PicturesConfig(Section):
    """Pictures at an address, fetched for backends that take nothing but the picture itself."""

    allowed: tuple[str, ...] = ()
    """Hosts (`pictures.intranet.example`) and networks (`10.1.0.0/16`) that may be fetched from
    although they are not public, and by http. All others: public ones, by https."""
    picture_mib: int = Field(default=10, ge=1)
    """Size of one picture, in MiB."""
    request_mib: int = Field(default=20, ge=1)
    """Size of all that are fetched for one request, in MiB; one that stands there twice counts
    twice."""
    most: int = Field(default=50, ge=1)
    """How many different addresses one request may name."""
    timeout_s: float = Field(default=10.0, gt=0)
    """Seconds until a picture is there, within the request's own time."""

    @field_validator("allowed")
    @classmethod
    def _readable(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        Allowed.of(entries)
        return entries
