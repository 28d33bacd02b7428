"""All items of one answer, from the pieces that a backend tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hybridge.server.shapes.pieces import CallPiece, Piece
from hybridge.server.shapes.responses.call import Call
from hybridge.server.shapes.responses.grown import Event, Grown, Item
from hybridge.server.shapes.responses.message import Logprob, Message
from hybridge.server.shapes.responses.thoughts import Thoughts


class Output:
    """Takes pieces and gives events.

    Items lie in the order in which they began. Thoughts and messages end where something else
    begins; calls, whose pieces may come in turns, end with the answer.
    """

    def __init__(self, salt: str, *, summarised: bool) -> None:
        """`salt` makes ids unique. `summarised`: whether thoughts are told as a summary."""
        self._salt = salt
        self._summarised = summarised
        self._items: list[Item | Grown] = []
        """Those that ended, as they are; the others still grow."""
        self._current: Thoughts | Message | None = None
        self._calls: dict[int, Call] = {}
        self._call_ids: set[str] = set()
        self._waiting: list[Logprob] = []
        """Tokens that came before their text."""

    def take(self, piece: Piece, logprobs: Sequence[Logprob] = ()) -> Iterator[Event]:
        """The events that tell of a piece."""
        if piece.reasoning:
            yield from self._think(piece.reasoning)
        self._waiting.extend(logprobs)
        if piece.text:
            told, self._waiting = self._waiting, []
            yield from self._say("output_text", piece.text, told)
        if piece.refusal:
            yield from self._say("refusal", piece.refusal, ())
        for call in piece.calls:
            yield from self._call(call)

    def close(self, *, complete: bool) -> Iterator[Event]:
        """The events that end what still grows; the last item bears the blame for the rest."""
        self._attach()
        last = len(self._items) - 1
        for index, item in enumerate(self._items):
            if not isinstance(item, dict):
                status = "completed" if complete or index != last else "incomplete"
                yield from item.end(status)
                self._items[index] = item.item(status)

    def items(self) -> list[Item]:
        """What there is of the answer now."""
        return [item if isinstance(item, dict) else item.item("incomplete") for item in self._items]

    def _think(self, text: str) -> Iterator[Event]:
        if not isinstance(self._current, Thoughts):
            yield from self._leave()
            name, index = self._next("rs")
            self._current = Thoughts(name, index, summarised=self._summarised)
            yield from self._begin(self._current)
        yield from self._current.add(text)

    def _say(self, kind: str, text: str, logprobs: Sequence[Logprob]) -> Iterator[Event]:
        if not isinstance(self._current, Message):
            yield from self._leave()
            self._current = Message(*self._next("msg"))
            yield from self._begin(self._current)
        yield from self._current.add(kind, text, logprobs)

    def _call(self, piece: CallPiece) -> Iterator[Event]:
        call = self._calls.get(piece.index)
        if call is None:
            yield from self._leave()
            name, index = self._next("fc")
            call = self._calls[piece.index] = Call(name, index, self._call_id(piece, index))
            call.named(piece.name)
            yield from self._begin(call)
        call.named(piece.name)
        yield from call.add(piece)

    def _call_id(self, piece: CallPiece, index: int) -> str:
        """The backend's own id, unless it gave none, or the same one twice."""
        name = piece.id
        if not name or name in self._call_ids:
            name = f"call_{self._salt}_{index}"
        self._call_ids.add(name)
        return name

    def _next(self, prefix: str) -> tuple[str, int]:
        index = len(self._items)
        return f"{prefix}_{self._salt}_{index}", index

    def _begin(self, item: Grown) -> Iterator[Event]:
        self._items.append(item)
        return item.begin()

    def _leave(self) -> Iterator[Event]:
        """Ends the thoughts or the message that were told so far."""
        self._attach()
        current, self._current = self._current, None
        if current is not None:
            yield from current.end("completed")
            self._items[-1] = current.item("completed")  # nothing else begins before it ends

    def _attach(self) -> None:
        """Gives tokens to the message whose text they followed."""
        if isinstance(self._current, Message):
            self._current.late(self._waiting)
            self._waiting = []
