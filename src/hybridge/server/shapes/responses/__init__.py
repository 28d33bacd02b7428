"""OpenAI's responses: items in, items out, and a chain of them that the gateway remembers."""

from __future__ import annotations

from typing import Any

import msgspec

from hybridge.core.clock import Clock
from hybridge.core.errors import RequestError
from hybridge.core.request import AUTO
from hybridge.server.errors import Failure
from hybridge.server.shapes.faults import renamed
from hybridge.server.shapes.forms import wrong
from hybridge.server.shapes.responses.conversation import as_messages
from hybridge.server.shapes.responses.details import Details
from hybridge.server.shapes.responses.fields import NAMES, TEXT_OR_ITEMS, check_fields
from hybridge.server.shapes.responses.items import Item, Placed, read_items
from hybridge.server.shapes.responses.options import as_chat, echoed, wants_logprobs, wants_summary
from hybridge.server.shapes.responses.output import Output
from hybridge.server.shapes.responses.request import as_request
from hybridge.server.shapes.responses.state import ResponseState
from hybridge.server.shapes.responses.store import ResponsesStore, Turn, history, response_id
from hybridge.server.shapes.responses.writer import Keep, ResponseWriter
from hybridge.server.shapes.shape import Asked, Asker

__all__ = ["ResponseState", "Responses", "ResponsesStore"]


class Responses:
    """`POST /v1/responses`.

    The history of a chain is kept here and goes along in full, so that any backend can go on with
    it. Instructions are each request's own; a follow-up does not inherit them (as OpenAI has it).
    """

    def __init__(self, store: ResponsesStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def read(self, said: dict[str, Any], asker: Asker) -> Asked:
        """See `Shape`."""
        check_fields(said)
        if said.get("input") is None:
            raise wrong("input", TEXT_OR_ITEMS.said, None)
        salt, previous = asker.id.rpartition("-")[2], self._previous(said, asker)
        before = history(previous)
        placed = self._items(said["input"], salt, before, asker)
        body = as_chat(said)
        body["messages"] = as_messages(said.get("instructions"), before, placed)
        session = None if previous is None else previous.session
        request = as_request(body, said.get("metadata"), asker, session)
        items = [item for _, item in placed]
        keep = self._keeping(asker, salt, items, previous, request.session)
        return Asked(request, self._writer(said, salt, keep))

    def failure(self, failed: Failure, _: str, /) -> bytes:
        """See `Shape`."""
        return renamed(failed, NAMES).body

    def _previous(self, said: dict[str, Any], asker: Asker) -> Turn | None:
        name = said.get("previous_response_id")
        if name is None:
            return None
        turn = self._store.find(asker.tenant, name)
        if turn is None:
            raise RequestError(
                "the previous response was not found: it was never stored, was deleted, or was "
                "forgotten (they are kept in memory, for a limited time); send the whole "
                "conversation as `input`",
                param="previous_response_id",
                code="previous_response_not_found",
            )
        return turn

    def _items(
        self, said: str | list[Item], salt: str, before: list[Item], asker: Asker
    ) -> list[Placed]:
        there = {item["id"] for item in before}
        return read_items(said, salt, there, self._store.items(asker.tenant))

    def _keeping(
        self,
        asker: Asker,
        salt: str,
        items: list[Item],
        previous: Turn | None,
        session: str | None,
    ) -> Keep:
        def keep(told: bytes) -> bool:
            asked = msgspec.json.encode(items)
            turn = Turn(response_id(salt), asked, told, previous, session)
            return self._store.keep(asker.tenant, turn)

        return keep

    def _writer(self, said: dict[str, Any], salt: str, keep: Keep) -> ResponseWriter:
        stored = said.get("store") is not False
        head = {
            "id": response_id(salt),
            "object": "response",
            "created_at": int(self._clock.now().timestamp()),
            "status": "in_progress",
            "completed_at": None,
            "error": None,
            "incomplete_details": None,
            "model": said.get("model") or AUTO,
            "output": [],
            "store": stored,
            "usage": None,
            **echoed(said),
        }
        output = Output(salt, summarised=wants_summary(said))
        details = Details(wants_logprobs(said))
        return ResponseWriter(head, output, details, keep if stored else None, self._clock)
