"""The composition root: builds every part from settings, and takes it down again."""

from hybridge.wiring.house import House, open_house, request_of
from hybridge.wiring.lasting import Secrecy
from hybridge.wiring.local import catalogue_models, fetcher, model_store
from hybridge.wiring.reload import reloading

__all__ = [
    "House",
    "Secrecy",
    "catalogue_models",
    "fetcher",
    "model_store",
    "open_house",
    "reloading",
    "request_of",
]
