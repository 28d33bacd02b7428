"""Changed files are noticed, in whatever way they change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hybridge.wiring import watch

pytestmark = pytest.mark.anyio

PATIENCE_S = 30.0
STILL_S = 3 * watch.QUIET_S


class Watched:
    """Counts the changes that were noticed."""

    def __init__(self, *paths: Path, notices: watch.Notices | None = None) -> None:
        self.paths = paths
        self.notices_of = notices
        self.noticed = 0

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        seen = await watch.fingerprint(self.paths)
        task = asyncio.create_task(self._count(seen))
        await asyncio.sleep(0.2)  # the system's watch stands
        yield
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def notices(self, number: int) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while self.noticed < number:
                await asyncio.sleep(0.05)
        await asyncio.sleep(STILL_S)
        assert self.noticed == number

    async def _count(self, seen: watch.Print) -> None:
        async for _ in watch.changes(lambda: self.paths, seen, self.notices_of):
            self.noticed += 1


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "hybridge.yaml"
    path.write_text("one")
    return path


async def test_a_file_that_is_written_again(file):
    watched = Watched(file)
    async with watched.under_way():
        file.write_text("two")
        await watched.notices(1)


async def test_a_file_that_is_replaced_as_editors_do(file):
    watched = Watched(file)
    async with watched.under_way():
        file.rename(file.with_name("hybridge.yaml~"))
        file.write_text("two")
        await watched.notices(1)


async def test_a_link_that_is_turned_as_kubernetes_does(tmp_path):
    for version in ("..v1", "..v2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "hybridge.yaml").write_text(version)
    (tmp_path / "..data").symlink_to("..v1")
    file = tmp_path / "hybridge.yaml"
    file.symlink_to("..data/hybridge.yaml")
    watched = Watched(file)
    async with watched.under_way():
        (tmp_path / "..data_tmp").symlink_to("..v2")
        (tmp_path / "..data_tmp").rename(tmp_path / "..data")
        await watched.notices(1)


async def test_a_file_behind_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target, file = tmp_path / "elsewhere" / "real.yaml", tmp_path / "hybridge.yaml"
    target.write_text("one")
    file.symlink_to(target)
    watched = Watched(file)
    async with watched.under_way():
        target.write_text("two")
        await watched.notices(1)


async def test_many_changes_in_a_row_are_one(file):
    watched = Watched(file)
    async with watched.under_way():
        for number in range(20):
            file.write_text(str(number))
            await asyncio.sleep(0.03)
        await watched.notices(1)


async def test_touching_it_and_its_neighbours_change_nothing(file):
    watched = Watched(file)
    async with watched.under_way():
        file.touch()
        file.write_text("one")
        file.with_name("hybridge.db").write_text("noise")
        await asyncio.sleep(STILL_S)
        assert watched.noticed == 0


async def test_a_file_that_goes_and_comes_back(file):
    watched = Watched(file)
    async with watched.under_way():
        file.unlink()
        await watched.notices(1)
        file.write_text("two")
        await watched.notices(2)


async def test_a_file_that_is_named_later(file):
    rules = file.with_name("rules.json")
    rules.write_text("one")
    watched = Watched(file)
    async with watched.under_way():
        watched.paths = (file, rules)
        file.write_text("names the rules")
        await watched.notices(1)
        rules.write_text("two")
        await watched.notices(2)


async def _none(paths: Sequence[Path]) -> AsyncGenerator[object, None]:
    raise OSError("no inotify here")
    yield


async def test_where_the_system_tells_nothing_the_files_are_looked_at(file):
    watched = Watched(file, notices=_none)
    async with watched.under_way():
        file.write_text("two")
        await watched.notices(1)
