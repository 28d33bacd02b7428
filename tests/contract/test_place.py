"""What every place for models must do, be it a folder or a bucket."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import pytest
from tests.extras import needed
from tests.s3_server import S3Server, s3_server

from hybridge.core.errors import ModelError
from hybridge.modelstore.folder import FolderPlace
from hybridge.modelstore.place import NEW, Conflict, Place

needed("obstore", "s3")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(params=["folder", "bucket", "bucket with a prefix"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "folder":
        return FolderPlace(tmp_path / "store")
    server: S3Server = request.getfixturevalue("server")
    return server.place("a/b" if "prefix" in request.param else "")


def ignored(_more: int) -> None:
    """Nobody watches."""


def keys(place: Place, folder: str = "") -> list[str]:
    return [entry.key for entry in place.entries(folder)]


def test_what_is_not_there_is_told_apart_from_what_is_empty(place: Place) -> None:
    assert place.read("a.json") is None
    place.write("a.json", b"")
    found = place.read("a.json")
    assert found is not None
    assert (found.data, found.stamp != NEW) == (b"", True)


def test_a_small_file_is_replaced_under_a_condition(place: Place) -> None:
    place.write("a.json", b"1", expecting=NEW)
    with pytest.raises(Conflict, match="changed by somebody else"):
        place.write("a.json", b"2", expecting=NEW)
    first = place.read("a.json")
    assert first is not None
    place.write("a.json", b"3", expecting=first.stamp)
    with pytest.raises(Conflict):
        place.write("a.json", b"4", expecting=first.stamp)
    now = place.read("a.json")
    assert now is not None
    assert now.data == b"3"
    place.write("a.json", b"5")
    with pytest.raises(Conflict):
        place.write("never.json", b"6", expecting=first.stamp)


def test_of_many_who_replace_the_same_file_one_succeeds(place: Place) -> None:
    place.write("a.json", b"0")
    before = place.read("a.json")
    assert before is not None
    won: list[int] = []

    def replace(me: int) -> None:
        try:
            place.write("a.json", str(me).encode() * 9, expecting=before.stamp)
        except Conflict:
            return
        won.append(me)

    everybody = [threading.Thread(target=replace, args=(me,)) for me in range(1, 6)]
    for one in everybody:
        one.start()
    for one in everybody:
        one.join()
    assert len(won) == 1
    now = place.read("a.json")
    assert now is not None
    assert now.data == str(won[0]).encode() * 9


def test_files_are_listed_below_a_folder(place: Place) -> None:
    before = datetime.now(UTC) - timedelta(minutes=1)
    for key in ("n.json", "n/versions/b/x.bin", "n/versions/a/y.bin", "n2/versions/a/y.bin"):
        place.write(key, b"four")
    assert keys(place) == [
        "n.json",
        "n/versions/a/y.bin",
        "n/versions/b/x.bin",
        "n2/versions/a/y.bin",
    ]
    assert keys(place, "n/versions/") == ["n/versions/a/y.bin", "n/versions/b/x.bin"]
    assert keys(place, "other/") == []
    assert {entry.size_bytes for entry in place.entries("")} == {4}
    assert all(entry.changed_at > before for entry in place.entries(""))


def test_a_large_file_comes_back_as_it_went(place: Place, tmp_path: Path) -> None:
    source, sent, came = tmp_path / "large.bin", list[int](), list[int]()
    whole = bytes(range(256)) * (9 << 12) + b"tail"  # more than one part of a bucket's
    source.write_bytes(whole)
    place.send("n/large.bin", source, sent.append)
    back = BytesIO()
    place.fetch("n/large.bin", back, came.append)
    assert back.getvalue() == whole
    assert sum(sent) == sum(came) == len(whole)


def test_a_large_file_that_is_not_there_is_an_error(place: Place, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="n/none"):
        place.fetch("n/none.bin", BytesIO(), ignored)
    with pytest.raises(ModelError):
        place.send("n/none.bin", tmp_path / "none.bin", ignored)
    assert keys(place) == []


def test_what_is_deleted_is_gone_and_may_be_deleted_again(place: Place) -> None:
    place.write("n/a", b"1")
    place.write("n/b", b"2")
    place.delete(["n/a", "n/never"])
    place.delete(["n/a"])
    assert keys(place) == ["n/b"]


def test_a_lock_keeps_others_out_and_shows_nowhere(place: Place) -> None:
    within, most = 0, 0

    def work() -> None:
        nonlocal within, most
        with place.locked("n"):
            within += 1
            most = max(most, within)
            assert keys(place) == []
            within -= 1

    everybody = [threading.Thread(target=work) for _ in range(4)]
    for one in everybody:
        one.start()
    with place.locked("other"):
        for one in everybody:
            one.join()
    assert most == 1


def test_a_lock_ends_with_its_block_however_that_ends(place: Place) -> None:
    with pytest.raises(ValueError, match="within"), place.locked("n"):
        raise ValueError("within")
    with place.locked("n"):
        pass
