"""The same question in other words: the answer that was given to it (R62).

Two opinions must agree. `wording` says that both texts are the same but for politeness, spelling
and listed paraphrases; it takes no difference for small, whatever an encoder thinks of it (for one,
"enable" and "disable" are nearly the same). Then the encoder must find them alike, as far as it can
read them. So there is nothing to search: questions that ask the same lie under the same key.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from msgspec import Struct

from hybridge.cache.answers import NO_KEY, Answers
from hybridge.cache.config import CacheConfig, SemanticConfig
from hybridge.cache.wording import Wording, wording
from hybridge.core.request import Clearance, Feature, Request
from hybridge.core.response import Completion

Similarity = Callable[[str, str], Awaitable[float | None]]
"""How alike two texts mean, 0-1; None when it cannot be told."""

PATIENCE_S = 0.2
"""How long the encoder may take; asking a model takes longer."""
_EXACT_ONLY = frozenset({Feature.TOOLS, Feature.JSON, Feature.JSON_SCHEMA, Feature.IMAGES,
                         Feature.AUDIO, Feature.FILES})  # fmt: skip
"""Requests whose every letter counts."""


class Asked(Struct, frozen=True):
    """A question that was answered."""

    text: str
    wording: Wording
    key: str
    """Of its answer in the exact cache."""


class SemanticCache:
    """Finds answers that are kept by questions that ask the same in other words.

    Everything but the last turn's words must be identical: the caller, the turns before it, the
    system prompt and everything that shapes the answer.
    """

    def __init__(
        self,
        exact: Answers,
        config: CacheConfig,
        similarity: Similarity | None = None,
    ) -> None:
        """Without `similarity` the wording alone decides."""
        self._exact = exact
        self._least = (config.semantic or SemanticConfig()).similarity_min
        self._similarity = similarity
        self._capacity = config.max_entries
        self._asked: OrderedDict[str, Asked] = OrderedDict()
        """By place; what was asked last comes last."""

    async def find(self, request: Request) -> Completion | None:
        """The answer to a question that asks the same; None where nobody asked it."""
        read = self._read(request)
        if read is None:
            return None
        place, asks = read
        asked = self._asked.get(place)
        if asked is None or not asked.wording.fits(asks):
            return None
        completion = await self._exact.get(asked.key)
        if completion is None:
            self._asked.pop(place, None)
        elif await self._alike(asked.text, request.messages[-1].text):
            return completion
        return None

    def note(self, request: Request) -> None:
        """Remembers a question whose answer was put into the exact cache."""
        read = self._read(request)
        key = self._exact.key(request)
        if read is not None and key != NO_KEY:
            place, asks = read
            self._asked[place] = Asked(request.messages[-1].text, asks, key)
            self._asked.move_to_end(place)
            if len(self._asked) > self._capacity:
                self._asked.popitem(last=False)

    def _read(self, request: Request) -> tuple[str, Wording] | None:
        """The question's place and its wording; None where it is not one to be read."""
        if not _may_be_read(request):
            return None
        asks = wording(request.messages[-1].text)
        if asks is None:
            return None
        rest = self._exact.identity.digest(request, but_for_the_question=True)
        return hashlib.sha256(f"{rest}\0{asks.form}".encode()).hexdigest(), asks

    async def _alike(self, one: str, other: str) -> bool:
        if self._similarity is None or one == other:
            return True
        try:
            async with asyncio.timeout(PATIENCE_S):
                similarity = await self._similarity(one, other)
        except TimeoutError:
            return False
        if similarity is None:  # it cannot read Chinese, or was too late for English
            return not (one.isascii() and other.isascii())
        return similarity >= self._least


def _may_be_read(request: Request) -> bool:
    if request.clearance is not Clearance.ANYWHERE or request.features & _EXACT_ONLY:
        return False
    turns = request.body.get("messages")
    if not request.messages or not isinstance(turns, list) or not turns:
        return False
    last = turns[-1]
    plain = isinstance(last, dict) and isinstance(last.get("content"), str)
    return plain and request.messages[-1].role == "user"
