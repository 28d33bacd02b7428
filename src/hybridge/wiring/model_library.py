"""The store of versions, as the settings name it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hybridge.modelstore.folder import FolderPlace
from hybridge.modelstore.model_library import Library
from hybridge.modelstore.trial import Terms
from hybridge.modelstore.versions import Versions
from hybridge.settings import Settings
from hybridge.storage.bucket import Bucket, BucketPlace

STORE, FETCHED = "store", "fetched"
"""Folders in the model folder: the store where none is configured, and copies out of a bucket."""
_S3 = "s3://"


def model_library(settings: Settings) -> Library:
    """Asks nobody yet. Raises `ConfigError` for a bucket without the extra."""
    models = settings.models
    folder = models.dir or Path("models")
    if models.store is None or not models.store.startswith(_S3):
        shelf = FolderPlace(Path(models.store) if models.store else folder / STORE)
        return Library(Versions(shelf, _now), shelf)
    place = BucketPlace(_bucket(settings, models.store), _now)
    return Library(Versions(place, _now), FolderPlace(folder / FETCHED))


def terms(settings: Settings) -> Terms:
    """What new versions are held to."""
    trial = settings.models.trial
    return Terms(trial.answers, trial.window_s, trial.failures_max, trial.probe_s)


def _bucket(settings: Settings, address: str) -> Bucket:
    models, keys = settings.models, settings.secrets.s3
    name, _, prefix = address.removeprefix(_S3).partition("/")
    options = {"endpoint": models.s3.endpoint, "region": models.s3.region}
    if keys is not None:
        options |= {"access_key_id": keys[0], "secret_access_key": keys[1]}
    given = {option: value for option, value in options.items() if value is not None}
    return Bucket(name, prefix.rstrip("/"), given, models.connect_timeout_s)


def _now() -> datetime:
    return datetime.now(UTC)
