"""Answers that replicas share, in a store outside of this process (R62)."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hybridge.cache.answers import NO_KEY, Store
from hybridge.cache.config import CacheConfig
from hybridge.cache.identity import Identity, Named
from hybridge.core.request import Clearance, Request
from hybridge.core.response import Completion

PREFIX = "hybridge:answer:1:"
"""The number is raised whenever what lies under the keys changes its form."""
_SEAL_BYTES = 32
_log = logging.getLogger("hybridge.cache")

Version = Callable[[str], str | None]
"""What a backend is now, by its name: its model and weights; None where there is none such."""


class _Kept(Struct, frozen=True, array_like=True):
    completion: Completion
    version: str


_reader = msgspec.msgpack.Decoder(_Kept)


class SharedCache:
    """Implements `cache.answers.Answers` on a `Store`.

    Both what a key is and what lies under it are made with a secret (HMAC-SHA-256): whoever has the
    store alone can neither test which prompts were asked, nor have an answer of their own given.
    The answers themselves can be read there.
    """

    elsewhere = "state.redis_url"

    def __init__(
        self,
        config: CacheConfig,
        store: Store,
        secret: bytes,
        version: Version,
        *,
        named: Named | None = None,
        heard: Callable[[str, str], None] = lambda _call, _outcome: None,
    ) -> None:
        """`named` as in `Identity`; `heard` is told of each value that could not be used."""
        self.identity = Identity(config.scope, named)
        self._ttl_s = config.ttl_s
        self._store = store
        self._secret = secret
        self._version = version
        self._heard = heard
        self._told = False

    def key(self, request: Request) -> str:
        """See `Answers`. Nothing of a request that has to stay leaves the process, no digest."""
        if request.clearance is not Clearance.ANYWHERE:
            return NO_KEY
        return PREFIX + self._mac("key", self.identity.digest(request).encode()).hex()

    async def get(self, key: str) -> Completion | None:
        """See `Answers`. Not found: what another secret, version or model left there, too."""
        value = None if key == NO_KEY else await self._store.get(key)
        if value is None:
            return None
        kept = self._opened(key, value)
        if kept is None:
            self._refuse()
            return None
        current = self._version(kept.completion.model)
        return kept.completion if current is not None and current == kept.version else None

    def put(self, key: str, completion: Completion) -> None:
        """See `Answers`. Token probabilities stay behind: they are larger than all the rest."""
        version = self._version(completion.model)
        if key == NO_KEY or self._ttl_s <= 0 or version is None:
            return
        kept = msgspec.msgpack.encode(_Kept(replace(completion, tokens=()), version))
        self._store.put(key, self._seal(key, kept) + kept, self._ttl_s)

    def _opened(self, key: str, value: bytes) -> _Kept | None:
        seal, kept = value[:_SEAL_BYTES], value[_SEAL_BYTES:]
        if not hmac.compare_digest(seal, self._seal(key, kept)):
            return None
        try:
            return _reader.decode(kept)
        except msgspec.DecodeError:
            return None

    def _seal(self, key: str, kept: bytes) -> bytes:
        """Proves that this very answer was put under this very key by one who has the secret."""
        return self._mac("value", key.encode() + b"\0" + kept)

    def _mac(self, what: str, message: bytes) -> bytes:
        return hmac.digest(self._secret, what.encode() + b"\0" + message, "sha256")

    def _refuse(self) -> None:
        self._heard("get", "unreadable")
        if not self._told:
            self._told = True
            _log.warning("the shared cache holds values that nobody with our secret put there")
