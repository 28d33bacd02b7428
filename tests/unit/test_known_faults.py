"""The table of known faults names the tests that there are, and none that there are not."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests" / "integration" / "known_faults"
TABLE = ROOT / "docs" / "reference" / "known-faults.md"
CASES = 40


def marked(module: Path) -> Iterator[str]:
    """The cases that tests of a module are marked with."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "fault"
        ):
            yield from (
                argument.value for argument in node.args if isinstance(argument, ast.Constant)
            )


def test_every_case_has_the_tests_that_its_row_names():
    found = defaultdict(set)
    for module in TESTS.glob("test_*.py"):
        for case in marked(module):
            found[case].add(f"`{module.stem}`")
    rows = [
        line.strip("| ").split(" | ")
        for line in TABLE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| B")
    ]
    assert {row[0]: set(row[2].split(", ")) for row in rows} == dict(found)
    assert len(rows) == CASES
