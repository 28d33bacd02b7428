"""What an audit found, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from hybridge.storage.audit.check import Problem
    from hybridge.storage.audit.summary import Summary, Violation
    from hybridge.storage.audit.verify import Audit


def print_json(found: Audit, address: str) -> None:
    """One object."""
    import msgspec

    from hybridge.storage.database import shown

    summary = found.summary
    told = {
        "records": shown(address),
        "well": found.well,
        "chains": [
            {
                "chain": chain.head.chain,
                "entries": chain.head.seq,
                "seal": chain.head.seal,
                "opened": chain.opened,
                "keyed": chain.keyed,
                "closed": chain.closed,
                "well": not chain.problems,
            }
            for chain in found.chains
        ],
        "problems": found.problems,
        "more_problems": sum(chain.more for chain in found.chains),
        "requests": summary.requests,
        "failed": summary.failed,
        "clearance": summary.clearance,
        "found": summary.found,
        "device_only": summary.private,
        "exits": summary.departures(),
        "violations": summary.violations,
        "more_violations": summary.more_violations,
        "lost": summary.lost,
        "entries": summary.entries,
    }
    typer.echo(msgspec.json.encode(told).decode())


def print_audit(found: Audit, address: str) -> None:
    """Tables, and a last line that says how it is."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from hybridge.storage.database import shown

    console = Console()
    table = Table(show_header=False, box=None)
    for name, value in (("records", shown(address)), *_chains(found), *_requests(found.summary)):
        table.add_row(f"[bold]{name}[/]", escape(value))
    console.print(table)
    if found.summary.exits:
        console.print(_exits(found.summary))
    for entry in found.summary.entries:
        console.print_json(data=entry)
    for violation in found.summary.violations:
        console.print(_violation_line(violation), style="red", markup=False, soft_wrap=True)
    for problem in found.problems:
        console.print(problem_line(problem), style="red", markup=False, soft_wrap=True)
    for line in _more(found):
        console.print(line, style="red")
    console.print(_verdict(found), style="green" if found.well else "red", soft_wrap=True)


def problem_line(problem: Problem) -> str:
    """Chain, entry and what is wrong with it, in one line."""
    at = "" if problem.seq is None else f" entry {problem.seq}"
    return f"tampered with: chain {problem.chain}{at} {problem.what}"


def _violation_line(violation: Violation) -> str:
    of = f"{violation.at:%Y-%m-%d %H:%M:%S} {violation.tenant}"
    how = f"was {violation.clearance.value} and left as it was, to {violation.to}"
    return f"left: request {violation.request_id} ({of}) {how}"


def _chains(found: Audit) -> Iterator[tuple[str, str]]:
    keyed = sum(chain.keyed for chain in found.chains)
    entries = sum(chain.head.seq for chain in found.chains)
    yield "chains", f"{len(found.chains)} with {entries:,} entries; {keyed} sealed with a key"
    if still := sum(not chain.closed for chain in found.chains):
        why = "their gateways still run, or ended without a word"
        yield "without an end", f"{still}: {why}; what those had not written yet is not here"
    if lost := found.summary.lost:
        yield "not kept", f"{lost:,} entries, as the trail itself says (full queue, full disk)"


def _requests(summary: Summary) -> Iterator[tuple[str, str]]:
    yield "requests", f"{summary.requests:,}, of which {summary.failed:,} failed"
    yield "device_only", _count(summary, "device_only", _listed(summary.private))
    yield "disguised", _count(summary, "disguised", "left with placeholders only, if at all")
    yield "anywhere", _count(summary, "anywhere", "")
    yield "found", _listed(summary.found) or "nothing"


def _count(summary: Summary, clearance: str, more: str) -> str:
    number = summary.clearance[clearance]
    return f"{number:,}" + (f": {more}" if number and more else "")


def _listed(counts: Mapping[str, int]) -> str:
    most: Iterable[tuple[str, int]] = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {count:,}" for name, count in most)


def _exits(summary: Summary) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table("left this device to", "as", "how", "times")
    for row in summary.departures():
        how = "in disguise" if row.disguised else "as it was"
        table.add_row(escape(row.to), row.kind, how, f"{row.count:,}")
    return table


def _more(found: Audit) -> Iterator[str]:
    if more := sum(chain.more for chain in found.chains):
        yield f"and {more:,} more signs of tampering"
    if more := found.summary.more_violations:
        yield f"and {more:,} more requests that left"


def _verdict(found: Audit) -> str:
    if found.well:
        bare = all(chain.keyed for chain in found.chains)
        hint = "" if bare else " (sealed without a key: see --head and records.audit_key_env)"
        return f"well: every seal fits, and nothing private left as it was{hint}"
    wrong = []
    if found.problems:
        wrong.append("the audit trail was tampered with")
    if found.summary.violations:
        wrong.append("private requests left as they were")
    return f"not well: {' and '.join(wrong)}"
