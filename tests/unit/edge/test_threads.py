"""Sharing out the cores."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.edge.threads import Shares, cores, quota, shares, usable


@given(available=st.integers(1, 256), llms=st.integers(1, 8))
def test_local_models_leave_a_core_wherever_there_is_more_than_one(
    available: int, llms: int
) -> None:
    share = shares(available, llms=llms)
    assert share.llm >= 1
    assert share.llm * llms <= max(llms, available - 1)
    assert share.scorer == 1


@given(available=st.integers(1, 256))
def test_without_a_local_model_the_scorer_may_have_a_few(available: int) -> None:
    share = shares(available, llms=0)
    assert share.llm == 0
    assert share.scorer == min(4, available)


def test_two_cores_are_one_for_the_model_and_one_for_the_rest() -> None:
    assert shares(2, llms=1) == Shares(llm=1, scorer=1)


@pytest.mark.parametrize(
    ("allowed", "siblings", "limit", "expected"),
    [
        ({0, 1}, [{0}, {1}], None, 2),
        ({0, 1, 2, 3}, [{0, 2}, {1, 3}], None, 2),  # four threads on two cores
        ({0, 2}, [{0, 2}, {1, 3}], None, 1),  # both threads of one core
        ({0, 1}, [{0, 2}, {1, 3}], None, 2),
        (set(range(16)), [], 3.5, 3),
        ({0, 1}, [], 0.5, 1),
        ({0, 1}, [], 8.0, 2),
        ({4}, [], None, 1),
    ],
)
def test_what_can_compute_at_once(
    allowed: set[int], siblings: list[set[int]], limit: float | None, expected: int
) -> None:
    found = usable(frozenset(allowed), map(frozenset, siblings), limit)
    assert found == expected


def groups(root: Path, files: dict[str, str], membership: str) -> tuple[Path, Path]:
    for name, content in files.items():
        (root / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "groups" / name).write_text(content)
    (root / "membership").write_text(membership)
    return root / "groups", root / "membership"


@pytest.mark.parametrize(
    ("files", "membership", "expected"),
    [
        ({}, "0::/\n", None),
        ({"cpu.max": "max 100000\n"}, "0::/\n", None),
        ({"cpu.max": "150000 100000\n"}, "0::/\n", 1.5),
        ({"a/b/cpu.max": "max 100000", "a/cpu.max": "200000 100000"}, "0::/a/b\n", 2.0),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "1:cpu:/\n", None),
        ({"cpu/cpu.cfs_quota_us": "400000", "cpu/cpu.cfs_period_us": "100000"}, "1:cpu:/\n", 4.0),
        (
            {
                "cpu,cpuacct/job/cpu.cfs_quota_us": "50000",
                "cpu,cpuacct/job/cpu.cfs_period_us": "100000",
            },
            "4:cpu,cpuacct:/job\n0::/\n",
            0.5,
        ),
        ({"cpu.max": "nonsense"}, "0::/\n", None),
    ],
)
def test_the_narrowest_limit_of_the_container_counts(
    tmp_path: Path, files: dict[str, str], membership: str, expected: float | None
) -> None:
    assert quota(*groups(tmp_path, files, membership)) == expected


def test_a_system_without_control_groups_sets_no_limit(tmp_path: Path) -> None:
    assert quota(tmp_path / "none", tmp_path / "nothing") is None


def test_this_machine_has_a_core() -> None:
    assert cores() >= 1
