"""The audit: every chain from its first entry to its last, and the sum of what they say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from datetime import datetime

from msgspec import DecodeError, Struct

from hybridge.core.errors import ConfigError
from hybridge.storage.audit.check import Anchor, ChainCheck, Problem
from hybridge.storage.audit.entries import Head, Opened, decoded
from hybridge.storage.audit.reader import Reader
from hybridge.storage.audit.seal import Seal, by_fingerprint
from hybridge.storage.audit.summary import Summary, Wanted

Advance = Callable[[int], None]
"""Told how many more entries are checked."""
_Anchors = dict[str, dict[int, list[Anchor]]]


class ChainReport(Struct, frozen=True):
    """What was found of one chain."""

    head: Head
    opened: datetime | None
    keyed: bool
    closed: bool
    """False: its process still runs, or ended without a word."""
    named: bool
    """Whether a chain that began later names its end, so that this need not be kept elsewhere."""
    problems: tuple[Problem, ...]
    more: int
    """Problems beyond those."""


class Audit(Struct, frozen=True):
    """What an audit found."""

    chains: tuple[ChainReport, ...]
    problems: tuple[Problem, ...]
    """All signs of tampering."""
    summary: Summary

    @property
    def well(self) -> bool:
        """Nothing was tampered with, and nothing private left."""
        return not self.problems and not self.summary.violations

    @property
    def tips(self) -> list[Head]:
        """The seals to be kept elsewhere: all others follow from them."""
        return [chain.head for chain in self.chains if not chain.named]


async def verify(
    reader: Reader,
    wanted: Wanted,
    *,
    keys: Iterable[bytes] = (),
    expected: Iterable[tuple[str, Head]] = (),
    advance: Advance = lambda _count: None,
) -> Audit:
    """Checks everything and adds up what is wanted.

    `expected`: heads that were kept elsewhere, each with the name of its place. Raises
    `ConfigError` where chains are sealed with a key and none is given.
    """
    seals = by_fingerprint(keys)
    anchors, named = await _known(reader, seals, expected)
    found = dict.fromkeys([*await reader.heads(), *await reader.chains()])
    summary, reports = Summary(wanted), []
    for chain in found:
        check = ChainCheck(chain, seals, anchors.get(chain, {}))
        await _read(reader, check, summary, advance)
        if seals:
            check.unproven()
        reports.append(_report(check, named))
    problems = [problem for report in reports for problem in report.problems]
    problems += [_gone(anchors, chain) for chain in sorted(anchors.keys() - found.keys())]
    return Audit(tuple(reports), tuple(problems), summary)


async def _known(
    reader: Reader, seals: Mapping[str, Seal], expected: Iterable[tuple[str, Head]]
) -> tuple[_Anchors, set[Head]]:
    """What is known of chains from elsewhere, and the heads that openings name."""
    anchors: _Anchors = {}
    named: set[Head] = set()
    async for chain, opening in _openings(reader):
        if opening.key is not None and not seals:
            raise ConfigError(
                "the audit trail is sealed with a key: name its variable with --key-env, or in "
                "records.audit_key_env"
            )
        named.update(opening.heads)
        for head in opening.heads:
            _anchor(anchors, head, f"the opening of {chain}", proves=opening.key in seals)
    for by, head in expected:
        _anchor(anchors, head, by, proves=True)
    return anchors, named


def _anchor(anchors: _Anchors, head: Head, by: str, *, proves: bool) -> None:
    said = anchors.setdefault(head.chain, {}).setdefault(head.seq, [])
    if not any(anchor.seal == head.seal and anchor.proves >= proves for anchor in said):
        said.append(Anchor(head.seal, by, proves))


def _report(check: ChainCheck, named: set[Head]) -> ChainReport:
    head = Head(check.chain, check.seq, check.seal)
    opened = None if check.opened is None else check.opened.at
    problems = tuple(check.problems)
    return ChainReport(head, opened, check.keyed, check.closed, head in named, problems, check.more)


async def _read(reader: Reader, check: ChainCheck, summary: Summary, advance: Advance) -> None:
    """All rows there are, and those that were written meanwhile as far as the head then was.

    A row and the head move in one transaction, so a head that is read after a row is never
    behind it.
    """
    await _rows(reader, check, summary, advance, None)
    head = await reader.head(check.chain)
    if head is not None and isinstance(head.seq, int) and head.seq > check.seq:
        await _rows(reader, check, summary, advance, head.seq)
    check.end(head)


async def _rows(
    reader: Reader, check: ChainCheck, summary: Summary, advance: Advance, to: int | None
) -> None:
    async for seq, entries in reader.rows(check.chain, check.seq, to):
        before = check.seq
        for _, entry in check.row(seq, entries):
            summary.add(entry)
        advance(max(0, check.seq - before))


async def _openings(reader: Reader) -> AsyncIterator[tuple[str, Opened]]:
    async for chain, _, entries in reader.first_rows():
        text = str(entries).partition("\n")[0].partition(" ")[2]
        try:
            entry = decoded(text)
        except DecodeError:
            continue
        if isinstance(entry, Opened):
            yield str(chain), entry


def _gone(anchors: _Anchors, chain: str) -> Problem:
    said = anchors[chain]
    return Problem(chain, None, f"is gone, though {said[max(said)][0].by} names it")
