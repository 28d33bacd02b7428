"""The composition root: builds every part from settings, and takes it down again."""

from hybridge.wiring.contest import contest_of, subject
from hybridge.wiring.house import House, open_house, request_of
from hybridge.wiring.lasting import Secrecy
from hybridge.wiring.local import (
    catalogue_models,
    encoder,
    fetcher,
    hub,
    model_store,
    stored_models,
)
from hybridge.wiring.model_library import model_library
from hybridge.wiring.reload import reloading
from hybridge.wiring.trying import try_ortgenai

__all__ = [
    "House",
    "Secrecy",
    "catalogue_models",
    "contest_of",
    "encoder",
    "fetcher",
    "hub",
    "model_library",
    "model_store",
    "open_house",
    "reloading",
    "request_of",
    "stored_models",
    "subject",
    "try_ortgenai",
]
