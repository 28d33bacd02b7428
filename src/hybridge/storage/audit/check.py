"""Checks one chain, entry by entry, and says where it was tampered with. Pure; no database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import DecodeError, Struct

from hybridge.storage.audit.entries import Closed, Entry, Head, Opened, decoded
from hybridge.storage.audit.seal import START, Seal, without_key

MOST = 100
"""Problems of one chain that are told one by one."""
_SEAL_LENGTH = len(START)


class Problem(Struct, frozen=True):
    """One sign of tampering."""

    chain: str
    seq: int | None
    """The first entry that it is about; None: the chain as a whole."""
    what: str


class Anchor(Struct, frozen=True):
    """A seal that is known from elsewhere."""

    seal: str
    by: str
    """Who says so, in words for a message."""
    proves: bool
    """Whether it binds as a seal with a key does."""


class ChainCheck:
    """Takes the rows of one chain in order; `problems` grows as it goes."""

    def __init__(
        self, chain: str, keys: Mapping[str, Seal], anchors: Mapping[int, Sequence[Anchor]]
    ) -> None:
        """`keys`: how each known key seals, by fingerprint. `anchors`: seals of entries of this
        chain that are known from elsewhere, by their numbers."""
        self.chain = chain
        self.problems: list[Problem] = []
        self.seq = 0
        """The last entry seen."""
        self.seal = START
        """Its seal as the row has it."""
        self.more = 0
        """Problems beyond the first `MOST`."""
        self.opened: Opened | None = None
        self.closed = False
        """Whether its process ended in good order."""
        self._certain = True
        """Whether `seal` is the one that the next entry must follow from."""
        self._keys = keys
        self._seals: list[Seal] = [without_key, *keys.values()]
        self._anchors = anchors

    @property
    def keyed(self) -> bool:
        """Whether one of the known keys seals it, as its opening says."""
        return self.opened is not None and self.opened.key in self._keys

    @property
    def _unreadable(self) -> bool:
        return self.opened is not None and self.opened.key is not None and not self.keyed

    @property
    def proven(self) -> int:
        """The last entry that is bound by a key, or by an anchor that counts as much."""
        if self.keyed:
            return self.seq
        named = (seq for seq, said in self._anchors.items() if any(a.proves for a in said))
        return max(named, default=0)

    def row(self, seq: object, text: object) -> Iterator[tuple[int, Entry]]:
        """The entries of one row, those that can be read, with their numbers."""
        if not isinstance(seq, int) or not isinstance(text, str):
            self._wrong(self.seq + 1, "is not what a gateway writes")
            self._certain = False
            return
        lines = text.split("\n")
        if not self._placed(seq, lines[0]):
            return
        for line in lines:
            self.seq += 1
            entry = self._entry(line)
            if entry is not None:
                yield self.seq, entry

    def end(self, head: Head | None) -> None:
        """No more rows; `head`: how far the chain goes by the table of heads."""
        if head is None:
            self._wrong(None, "has no row in `chains`: it was inserted, or that row deleted")
        elif not isinstance(head.seq, int) or head.seq < self.seq:
            self._wrong(self.seq, f"is not the last by `chains`, which ends at {head.seq}")
        elif head.seq > self.seq:
            self._wrong(self.seq + 1, f"and all after it, up to {head.seq}, are cut off")
        elif head.seal != self.seal:
            self._wrong(self.seq, "is not what `chains` has as the last")
        ahead = [seq for seq in self._anchors if seq > self.seq]
        for seq in sorted(ahead)[:1]:
            by = self._anchors[seq][0].by
            self._wrong(self.seq + 1, f"and those after it are gone, though {by} names entry {seq}")

    def unproven(self) -> None:
        """There are keys; what they do not bind could have been made up by anybody."""
        if self._unreadable:
            self._wrong(None, "is sealed with another key than those given")
        elif self.proven < self.seq:
            beyond = "; no chain that is sealed with the key confirms it"
            self._wrong(self.proven + 1, f"and those after it are sealed without a key{beyond}")

    def _placed(self, seq: int, line: str) -> bool:
        """Whether a row stands where it can be read on from; notes what is missing before it."""
        awaited = self.seq + 1
        if seq == awaited:
            return True
        if seq < 1:
            self._wrong(seq, "was inserted: the first entry is 1")
            return False
        if seq > awaited:
            more = "" if seq == awaited + 1 else f", and so are all up to {seq - 1}"
            self._wrong(awaited, f"is missing{more}")
            self._certain = False
        elif not self._follows(line):
            self._wrong(seq, "was inserted: there are entries of this number already")
            return False
        else:
            self._wrong(seq, "comes too early: entries were inserted before it, or it was moved")
        self.seq = seq - 1
        return True

    def _entry(self, line: str) -> Entry | None:
        seal, _, text = line.partition(" ")
        if len(seal) != _SEAL_LENGTH:
            self._wrong(self.seq, "was changed: it has no seal")
            self._certain = False
            return None
        try:
            entry = decoded(text)
        except DecodeError:
            entry = None
        self._open(entry)
        self._judge(seal, text, entry)
        self.seal, self._certain = seal, True
        return entry

    def _open(self, entry: Entry | None) -> None:
        """The opening says how the chain is sealed."""
        if self.seq != 1 or not isinstance(entry, Opened):
            return
        self.opened = entry
        if entry.chain != self.chain:
            self._wrong(1, f"is the opening of another chain, {entry.chain}")
        if entry.key is None:
            self._seals = [without_key]
        elif entry.key in self._keys:
            self._seals = [self._keys[entry.key]]

    def _judge(self, seal: str, text: str, entry: Entry | None) -> None:
        if self._certain and not self._unreadable and not self._fits(seal, text):
            self._wrong(self.seq, "does not fit its seal: it, or the one before it, was changed")
        elif entry is None:
            self._wrong(self.seq, "cannot be read: a later release wrote it, or it was changed")
        if self.seq == 1 and not isinstance(entry, Opened):
            self._wrong(1, "is no opening: the beginning was changed or cut off")
        if self.seq > 1 and isinstance(entry, Opened):
            self._wrong(self.seq, "is an opening, within a chain")
        if self.closed:
            self._wrong(self.seq, "was added: the chain had been closed before it")
        self.closed = self.closed or isinstance(entry, Closed)
        for anchor in self._anchors.get(self.seq, ()):
            if anchor.seal != seal:
                self._wrong(self.seq, f"is another than {anchor.by} names")

    def _follows(self, line: str) -> bool:
        seal, _, text = line.partition(" ")
        return self._certain and self._fits(seal, text)

    def _fits(self, seal: str, text: str) -> bool:
        content = text.encode(errors="surrogatepass")
        fitting = [make for make in self._seals if make(self.seal, content) == seal]
        if fitting:
            self._seals = fitting
        return bool(fitting)

    def _wrong(self, seq: int | None, what: str) -> None:
        if len(self.problems) < MOST:
            self.problems.append(Problem(self.chain, seq, what))
        else:
            self.more += 1
