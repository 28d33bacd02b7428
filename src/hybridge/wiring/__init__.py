"""The composition root: builds every part from settings, and takes it down again."""

from hybridge.wiring.house import House, open_house, request_of
from hybridge.wiring.local import catalogue_models, fetcher, model_store

__all__ = ["House", "catalogue_models", "fetcher", "model_store", "open_house", "request_of"]
