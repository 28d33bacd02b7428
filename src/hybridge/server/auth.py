"""Who is asking."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest

from hybridge.core.errors import Unauthorized

ANONYMOUS = "anonymous"
"""The tenant of a gateway without keys."""
_SCHEME = b"bearer "


class Keys:
    """The API keys, held as digests only."""

    def __init__(self, keys: Mapping[str, str]) -> None:
        """`keys` maps a tenant's name to its key. Empty: everybody is let in as `anonymous`."""
        self._digests = [(tenant, _digest(key.encode())) for tenant, key in keys.items()]

    def tenant(self, headers: Mapping[bytes, bytes]) -> str:
        """The tenant whose key the request bears (`authorization: Bearer …` or `x-api-key`).

        Every key is compared, in constant time, so that the time taken tells nothing. Raises
        `Unauthorized`, whose message never repeats the key.
        """
        if not self._digests:
            return ANONYMOUS
        key = _presented(headers)
        if key is None:
            raise Unauthorized("an API key is needed: `authorization: Bearer <key>`")
        presented, found = _digest(key), None
        for tenant, digest in self._digests:
            if compare_digest(presented, digest):
                found = tenant
        if found is None:
            raise Unauthorized("the API key is not known here")
        return found


def _presented(headers: Mapping[bytes, bytes]) -> bytes | None:
    authorization = headers.get(b"authorization", b"")
    if authorization[: len(_SCHEME)].lower() == _SCHEME:
        return authorization[len(_SCHEME) :].strip()
    return headers.get(b"x-api-key")


def _digest(key: bytes) -> bytes:
    return sha256(key).digest()
