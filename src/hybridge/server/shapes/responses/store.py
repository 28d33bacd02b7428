"""Answers kept for those who refer to them: `previous_response_id`, retrieval, item references."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from hybridge.core.clock import Clock

MAX_ENTRIES = 10_000
"""Answers that are kept at most."""
MAX_BYTES = 64 << 20
"""Bytes of JSON that are kept at most, questions and answers together. A device has little room,
and this is enough for ten thousand turns of some 6 kB."""
TTL_S = 24 * 3600.0
"""Seconds after its last use that an answer is kept."""
_OVERHEAD = 1 << 10
"""Bytes that an entry costs beside its JSON, rounded up."""

_items = msgspec.json.Decoder(list[dict[str, Any]]).decode


class _Answer(Struct):
    output: list[dict[str, Any]]


_answer = msgspec.json.Decoder(_Answer).decode


class Turn(Struct, frozen=True):
    """One request and its answer, after those of the turns before it."""

    id: str
    """The response's id."""
    asked: bytes
    """The items of this request's input: a JSON array."""
    told: bytes
    """The response: a JSON object."""
    previous: Turn | None = None
    session: str | None = None
    """The routing session that the chain belongs to."""

    def __repr__(self) -> str:
        """Without a word of what was said, and without the chain before it."""
        return f"Turn(id={self.id!r})"

    @property
    def size(self) -> int:
        """Bytes of this turn alone."""
        return len(self.asked) + len(self.told) + _OVERHEAD

    def items(self) -> list[dict[str, Any]]:
        """What was asked and said in this turn, in order."""
        return [*_items(self.asked), *_answer(self.told).output]

    def chain(self) -> Iterator[Turn]:
        """This turn, then those before it."""
        turn: Turn | None = self
        while turn is not None:
            yield turn
            turn = turn.previous


def history(turn: Turn | None) -> list[dict[str, Any]]:
    """All items of a chain up to and with `turn`, oldest first."""
    if turn is None:
        return []
    return [item for one in reversed(list(turn.chain())) for item in one.items()]


def asked_of(turn: Turn) -> list[dict[str, Any]]:
    """All items that the answer of `turn` was given to: the chain before it, and its own input."""
    return [*history(turn.previous), *_items(turn.asked)]


class ResponsesStore:
    """Keeps answers in this process's memory, and nowhere else.

    So what privacy keeps on the device stays there, and a restart forgets everything. A tenant
    finds its own answers only. What was not used for longest gives way first.

    An answer holds on to the turns before it, also once those are forgotten or deleted: they are
    what it was told. They count until the last answer that builds on them is gone.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        max_entries: int = MAX_ENTRIES,
        max_bytes: int = MAX_BYTES,
        ttl_s: float = TTL_S,
    ) -> None:
        self.clock = clock
        self.size = 0
        """Bytes that are kept now."""
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._ttl_s = ttl_s
        self._found: OrderedDict[tuple[str, str], tuple[Turn, float]] = OrderedDict()
        """By tenant and id: a turn, and until when it is kept. Last used last."""
        self._holders: dict[str, int] = {}
        """By id: how many hold a turn: the table above, and each turn that comes after it."""

    def __len__(self) -> int:
        """How many turns are kept, those included that only later turns hold."""
        return len(self._holders)

    def keep(self, tenant: str, turn: Turn) -> bool:
        """Keeps a turn; false when its chain alone is more than may be kept."""
        chain = list(turn.chain())
        if len(chain) > self._max_entries or sum(one.size for one in chain) > self._max_bytes:
            return False
        self._found[tenant, turn.id] = (turn, self._until_s())
        self._hold(turn)
        self._make_room()
        return True

    def find(self, tenant: str, response_id: str) -> Turn | None:
        """A turn, which is then kept for longer."""
        self._make_room()
        found = self._found.get((tenant, response_id))
        if found is None:
            return None
        self._found[tenant, response_id] = (found[0], self._until_s())
        self._found.move_to_end((tenant, response_id))
        return found[0]

    def items(self, tenant: str) -> Callable[[str], dict[str, Any] | None]:
        """Finds items of kept turns by the ids that were made for them here; each turn is read
        once. To be used for one request."""

        @cache
        def items_of(turn_id: str) -> dict[Any, dict[str, Any]]:
            turn = self.find(tenant, turn_id)
            return {} if turn is None else {item.get("id"): item for item in turn.items()}

        def item(name: str) -> dict[str, Any] | None:
            salt = name.partition("_")[2].rpartition("_")[0]
            return items_of(response_id(salt)).get(name)

        return item

    def remove(self, tenant: str, response_id: str) -> bool:
        """Forgets a turn; false when there is none of that id."""
        found = self._found.pop((tenant, response_id), None)
        if found is not None:
            self._release(found[0])
        return found is not None

    def _until_s(self) -> float:
        return self.clock.monotonic() + self._ttl_s

    def _make_room(self) -> None:
        now_s = self.clock.monotonic()
        while self._found and self._must_go(now_s):
            self._release(self._found.popitem(last=False)[1][0])

    def _must_go(self, now_s: float) -> bool:
        """Whether the one that was not used for longest gives way."""
        _, until_s = next(iter(self._found.values()))
        full = len(self) > self._max_entries or self.size > self._max_bytes
        return full or until_s <= now_s

    def _hold(self, turn: Turn) -> None:
        """A turn that nobody held so far begins to hold the one before it."""
        for one in turn.chain():
            self._holders[one.id] = self._holders.get(one.id, 0) + 1
            if self._holders[one.id] > 1:
                return
            self.size += one.size

    def _release(self, turn: Turn) -> None:
        for one in turn.chain():
            self._holders[one.id] -= 1
            if self._holders[one.id]:
                return
            del self._holders[one.id]
            self.size -= one.size


def response_id(salt: str) -> str:
    """The id of a response, from what its request's id is made of."""
    return f"resp_{salt}"
