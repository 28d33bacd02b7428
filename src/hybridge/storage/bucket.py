"""A bucket as a place for models: anything that speaks S3 (extra `s3`)."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hybridge.core.errors import ConfigError, ModelError
from hybridge.modelstore.place import NEW, Conflict, Entry, Sink, Stamped, Told, Unreachable

PART_BYTES = 8 << 20
"""Of a large file, sent and fetched at once (S3 wants 5 MiB or more)."""
READ_TIMEOUT_S = 30.0
"""How long a server may be silent in the middle of something."""
RETRIES = 2
LEASE_S = 120.0
"""How long a lock holds that nobody gives back: its process was killed."""
LOCK_WAIT_S = 30.0
_LOCK_LOOK_S = 0.2
_LOCK = ".lock"


class Bucket(Struct, frozen=True):
    """Where it is, and who asks."""

    name: str
    prefix: str
    options: Mapping[str, str]
    """obstore's `S3Config`: endpoint, region, keys. What is not there it takes from the environment
    (`AWS_…`) or from the machine's own role."""
    connect_timeout_s: float

    @property
    def address(self) -> str:
        """As it is configured."""
        return f"s3://{self.name}" + (f"/{self.prefix}" if self.prefix else "")


class _Lease(Struct, frozen=True):
    owner: str
    until: datetime


class BucketPlace:
    """Implements `Place`. Small files are written under a condition that the server checks."""

    def __init__(self, bucket: Bucket, now: Callable[[], datetime]) -> None:
        """Asks nobody yet. Raises `ConfigError` without the extra."""
        try:
            import obstore
            from obstore.store import S3Store
        except ImportError as error:
            raise ConfigError(
                f'models.store: {bucket.address} needs an extra: pip install "hybridge[s3]"'
            ) from error
        self.address = bucket.address
        self._now = now
        self._obstore: Any = obstore
        options: Any = dict(bucket.options)
        self._endpoint = options.get("endpoint", "")
        self._store: Any = S3Store(
            bucket.name,
            prefix=bucket.prefix or None,
            config=options,
            client_options={
                "connect_timeout": timedelta(seconds=bucket.connect_timeout_s),
                "read_timeout": timedelta(seconds=READ_TIMEOUT_S),
                "timeout": timedelta(days=1),  # of a whole file; silence ends it sooner
                "allow_http": self._endpoint.startswith("http://"),
            },
            retry_config={
                "max_retries": RETRIES,
                "retry_timeout": timedelta(seconds=RETRIES * READ_TIMEOUT_S),
            },
        )

    def read(self, key: str) -> Stamped | None:
        with self._explained():
            try:
                found = self._store.get(key)
                return Stamped(bytes(found.bytes()), found.meta["e_tag"] or "")
            except FileNotFoundError as error:
                self._check_bucket(error)
                return None

    def write(self, key: str, data: bytes, *, expecting: str | None = None) -> None:
        mode: Any = "overwrite"
        if expecting is not None:
            mode = "create" if expecting == NEW else {"e_tag": expecting}
        exceptions = self._obstore.exceptions
        with self._explained():
            try:
                self._store.put(key, data, mode=mode)
            except (exceptions.AlreadyExistsError, exceptions.PreconditionError) as error:
                what = f"{self.address}/{key} was changed by somebody else; try again"
                raise Conflict(what) from error

    def entries(self, folder: str) -> Sequence[Entry]:
        with self._explained():
            found = [meta for page in self._store.list(folder or None) for meta in page]
        entries = (Entry(one["path"], one["size"], one["last_modified"]) for one in found)
        return sorted(
            (entry for entry in entries if not entry.key.endswith(_LOCK)), key=lambda one: one.key
        )

    def send(self, key: str, file: Path, told: Told) -> None:
        with self._explained():
            self._store.put(key, _blocks(file, told), chunk_size=PART_BYTES)

    def fetch(self, key: str, into: Sink, told: Told) -> None:
        with self._explained():
            for block in self._store.get(key).stream(min_chunk_size=1 << 20):
                into.write(bytes(block))
                told(len(block))

    def delete(self, keys: Iterable[str]) -> None:
        with self._explained():
            for key in keys:  # not in bulk, which some servers do not know
                with suppress(FileNotFoundError):
                    self._store.delete(key)

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """By a small file that only one can make; one that is too old is taken over."""
        key, owner = f"{name}{_LOCK}", f"{os.uname().nodename} {os.getpid()} {secrets.token_hex(4)}"
        until_s = time.monotonic() + LOCK_WAIT_S
        while not self._take(key, owner):
            if time.monotonic() > until_s:
                raise ModelError(f"{self.address}/{key} is held by somebody else; try again later")
            time.sleep(_LOCK_LOOK_S)
        try:
            yield
        finally:
            with suppress(ModelError):  # it ends by itself
                self._give_back(key, owner)

    def _take(self, key: str, owner: str) -> bool:
        found = self.read(key)
        if found is not None and _lease(found).until > self._now():
            return False
        lease = _Lease(owner, self._now() + timedelta(seconds=LEASE_S))
        try:
            stamp = NEW if found is None else found.stamp
            self.write(key, msgspec.json.encode(lease), expecting=stamp)
        except Conflict:
            return False  # somebody else was quicker
        return True

    def _give_back(self, key: str, owner: str) -> None:
        found = self.read(key)
        if found is not None and _lease(found).owner == owner:
            self.delete([key])

    @contextmanager
    def _explained(self) -> Iterator[None]:
        exceptions = self._obstore.exceptions
        try:
            yield
        except FileNotFoundError as error:
            self._check_bucket(error)
            raise ModelError(f"{self.address} lacks a file: {_first_line(error)}") from error
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
            what = f"{self.address} refused the credentials: {_first_line(error)}"
            raise ModelError(f"{what}; look at models.s3 and at what the keys may do") from error
        except (exceptions.BaseError, OSError) as error:
            where = f" at {self._endpoint}" if self._endpoint else ""
            what = f"{self.address}{where} cannot be reached: {_first_line(error)}"
            raise Unreachable(what) from error

    def _check_bucket(self, error: FileNotFoundError) -> None:
        """S3 says by a code of its own that the whole bucket is not there."""
        if "<Code>NoSuchBucket</Code>" in str(error):
            raise ModelError(f"{self.address}: there is no such bucket; make it first") from error


def _blocks(file: Path, told: Told) -> Iterator[bytes]:
    with file.open("rb") as source:
        while block := source.read(1 << 20):
            yield block
            told(len(block))


def _lease(found: Stamped) -> _Lease:
    try:
        return msgspec.json.decode(found.data, type=_Lease)
    except msgspec.DecodeError:
        return _Lease("", datetime.min.replace(tzinfo=UTC))  # nobody's


def _first_line(error: Exception) -> str:
    """Without what the library adds for its own makers."""
    return next(iter(str(error).splitlines()), type(error).__name__)
