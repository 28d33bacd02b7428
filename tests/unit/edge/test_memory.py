"""How much memory is left, as the machine and its control groups tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridge.core.errors import ModelError
from hybridge.edge.memory import available_bytes, check_room

MB = 1_000_000
MEMINFO = "MemTotal: 9000 kB\nMemFree: 100 kB\nMemAvailable: 4000 kB\nSwapFree: 1000 kB\n"


def left(folder: Path, files: dict[str, str], membership: str = "0::/job\n") -> int | None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (folder / "membership").write_text(membership)
    return available_bytes(folder / "meminfo", folder / "groups", folder / "membership")


def group(path: str, limit: str, used: int, cached: int) -> dict[str, str]:
    return {
        f"groups/{path}/memory.max": limit,
        f"groups/{path}/memory.current": f"{used}\n",
        f"groups/{path}/memory.stat": f"anon 5\nfile {cached}\n",
    }


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"meminfo": MEMINFO}, 5000 * 1024),
        ({"meminfo": MEMINFO, **group("job", "max\n", 7, 0)}, 5000 * 1024),
        ({"meminfo": MEMINFO, **group("job", "1000", 900, 300)}, 400),
        (group(".", "500", 100, 0) | group("job", "1000", 100, 0), 400),
        ({"meminfo": "nonsense"}, None),
    ],
)
def test_the_narrowest_limit_counts(
    tmp_path: Path, files: dict[str, str], expected: int | None
) -> None:
    assert left(tmp_path, files) == expected


def test_the_older_control_groups(tmp_path: Path) -> None:
    files = {
        "groups/memory/job/memory.limit_in_bytes": "1000",
        "groups/memory/job/memory.usage_in_bytes": "800",
        "groups/memory/job/memory.stat": "cache 1\ntotal_cache 50\n",
    }
    assert left(tmp_path, files, "4:memory:/job\n") == 250


def test_weights_that_cannot_fit_are_refused_before_they_are_read(tmp_path: Path) -> None:
    gguf = tmp_path / "large.gguf"
    with gguf.open("wb") as file:
        file.truncate(30 * MB)
    check_room(gguf, 30 * MB)
    with pytest.raises(ModelError, match=r"large\.gguf does not fit: .*30 MB and 20 MB"):
        check_room(gguf, 20 * MB)
