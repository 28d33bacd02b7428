"""Versions of a model: what a push, an activation, a rollback and a crash leave behind."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridge.core.errors import ModelError
from hybridge.modelstore.folder import FolderPlace
from hybridge.modelstore.manifest import decode, describe
from hybridge.modelstore.place import Conflict, Told
from hybridge.modelstore.pointer import Canary
from hybridge.modelstore.versions import KEPT, ORPHANED, Versions

START = datetime(2030, 1, 1, tzinfo=UTC)


class Clock:
    """A minute later with each look."""

    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> datetime:
        self.at += timedelta(minutes=1)
        return self.at


def weights(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "weights.gguf"
    path.write_text(text)
    return path


@pytest.fixture
def store(tmp_path: Path) -> Versions:
    return Versions(FolderPlace(tmp_path / "store"), Clock())


def pushed(store: Versions, tmp_path: Path, *texts: str, name: str = "m") -> list[str]:
    return [store.push(name, weights(tmp_path / "in", text)).version for text in texts]


def test_a_version_is_what_was_pushed_under_a_name_made_of_its_bytes(store, tmp_path) -> None:
    folder = tmp_path / "encoder"
    (folder / "sub").mkdir(parents=True)
    for name in ("model.onnx", "tokenizer.json", "sub/extra.txt", ".hidden"):
        (folder / name).write_text(name)
    seen: list[tuple[int, int | None]] = []
    made = store.push(
        "enc",
        folder,
        note="int8",
        metrics={"accuracy": 0.9},
        progress=lambda d, t: seen.append((d, t)),
    )
    assert (made.kind, made.note, made.metrics, made.parent) == (
        "onnx",
        "int8",
        {"accuracy": 0.9},
        None,
    )
    assert [file.path for file in made.files] == ["model.onnx", "sub/extra.txt", "tokenizer.json"]
    assert store.manifest("enc", made.version) == made
    assert store.names() == ["enc"]
    assert seen == sorted(seen)
    assert seen[-1][0] == made.size_bytes
    assert store.push("enc", folder, note="again") == made  # the same bytes are the same version
    (folder / "model.onnx").write_text("other")
    assert store.push("enc", folder).version != made.version


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        (["a.gguf", "genai_config.json"], "gguf"),
        (["genai_config.json", "model.onnx"], "genai"),
        (["model.onnx"], "onnx"),
    ],
)
def test_kinds_are_told_apart_by_what_lies_there(tmp_path, files, kind) -> None:
    for file in files:
        (tmp_path / file).write_text(file)
    assert describe("m", tmp_path, START, lambda _d, _t: None).kind == kind


def test_what_is_no_model_is_refused(store, tmp_path) -> None:
    (tmp_path / "text.txt").write_text("x")
    for path in (tmp_path / "text.txt", tmp_path / "none"):
        with pytest.raises(ModelError, match=path.name):
            store.push("m", path)
    for name in ("", "../m", "a/b", "m.json", "m.gguf", ".m", "x" * 65):
        with pytest.raises(ModelError, match="no name for a model"):
            store.push(name, weights(tmp_path / "in", "x"))
        with pytest.raises(ModelError, match="no name for a model"):
            store.pointer(name)


def test_a_manifest_leads_nowhere_else_and_stands_for_its_own_files_only(store, tmp_path) -> None:
    (version,) = pushed(store, tmp_path, "x")
    manifest = msgspec.to_builtins(store.manifest("m", version))
    for path in ("../../etc/x", "/etc/x", "a/../../x", "", "a\\..\\b"):
        bad = manifest | {"files": [manifest["files"][0] | {"path": path}]}
        with pytest.raises(ModelError, match="outside of its folder"):
            decode(msgspec.json.encode(bad), "there")
    other = manifest | {"files": [manifest["files"][0] | {"sha256": "0" * 64}]}
    with pytest.raises(ModelError, match="other files"):
        decode(msgspec.json.encode(other), "there")
    with pytest.raises(ModelError, match="no manifest"):
        decode(b"{", "there")


def test_steps_and_their_history(store, tmp_path) -> None:
    one, two = pushed(store, tmp_path, "1", "2")
    assert store.activate("m", one).active == one
    assert store.activate("m").active == two  # the latest, where none is named
    assert store.activate("m", two) == store.pointer("m")  # nothing to do
    assert store.roll_back("m", reason="worse").active == one
    with pytest.raises(ModelError, match="nothing to roll back to"):
        store.roll_back("m")
    steps = store.history("m")
    assert [(s.number, s.what, s.version, s.before) for s in steps] == [
        (1, "activated", one, None),
        (2, "activated", two, one),
        (3, "rolled back", one, two),
    ]
    assert [s.reason for s in steps] == ["", "", "worse"]
    assert steps[0].at < steps[1].at < steps[2].at
    assert store.manifest("m", pushed(store, tmp_path, "3")[0]).parent == one


def test_a_model_of_the_catalogue_goes_back_to_its_own_weights(store, tmp_path) -> None:
    (one,) = pushed(store, tmp_path, "1", name="smollm2-135m")
    store.activate("smollm2-135m", one)
    assert store.roll_back("smollm2-135m").active is None


def test_a_canary_is_promoted_or_withdrawn(store, tmp_path) -> None:
    one, two = pushed(store, tmp_path, "1", "2")
    store.activate("m", one)
    for share in (0, 1, -1, 1.5):
        with pytest.raises(ModelError, match="between 0 and 1"):
            store.activate("m", two, share=share)
    with pytest.raises(ModelError, match="active already"):
        store.activate("m", one, share=0.5)
    on_trial = store.activate("m", share=0.1)
    assert (on_trial.active, on_trial.trial) == (one, Canary(two, 0.1))
    withdrawn = store.roll_back("m")
    assert (withdrawn.active, withdrawn.trial) == (one, None)
    store.activate("m", two, share=0.2)
    promoted = store.activate("m")
    assert (promoted.active, promoted.trial, promoted.before) == (two, None, (None, one))
    whats = [step.what for step in store.history("m")]
    assert whats == ["activated", "on trial", "withdrawn", "on trial", "promoted"]


def test_unknown_versions_are_refused_with_those_there_are(store, tmp_path) -> None:
    with pytest.raises(ModelError, match="nothing was pushed"):
        store.activate("m")
    (one,) = pushed(store, tmp_path, "1")
    with pytest.raises(ModelError, match=one):
        store.activate("m", "feed")


def test_the_last_three_stay_and_those_in_force(store, tmp_path) -> None:
    versions = pushed(store, tmp_path, *"abcde")
    assert [one.version for one in store.all("m")] == versions[:1:-1]
    store.activate("m", versions[2])
    store.activate("m", versions[3])
    later = pushed(store, tmp_path, *"fghi")
    there = {one.version for one in store.all("m")}
    assert there == {later[3], versions[2], versions[3]}  # the latest, and those in force
    store.activate("m", later[3])
    (last,) = pushed(store, tmp_path, "j")
    assert {one.version for one in store.all("m")} == {last, later[3], versions[3]}
    keys = [entry.key for entry in store.place.entries("m/versions/")]
    assert not any(versions[0] in key for key in keys)


def test_flaws_are_told_with_both_digests(store, tmp_path) -> None:
    (version,) = pushed(store, tmp_path, "good weights")
    manifest = store.manifest("m", version)
    assert store.verify(manifest) == []
    path = tmp_path / "store" / "m" / "versions" / version / "files" / "model.gguf"
    path.write_text("evil weights")
    (flaw,) = store.verify(manifest)
    assert manifest.files[0].sha256 in str(flaw)
    assert flaw.found is not None
    assert flaw.found in str(flaw)
    assert "model.gguf" in str(flaw)
    path.unlink()
    (flaw,) = store.verify(manifest)
    assert "missing" in str(flaw)
    with pytest.raises(ModelError, match=r"not whole: model\.gguf"):
        store.activate("m", version)


def test_who_changes_what_somebody_else_changed_is_told(store, tmp_path) -> None:
    one, two = pushed(store, tmp_path, "1", "2")
    seen = store.activate("m", one)
    store.activate("m", two)
    with pytest.raises(Conflict):
        store.roll_back("m", by="gateway", only_if=seen.number)
    assert store.pointer("m").active == two


def test_what_a_killed_push_left_is_cleared_away_a_day_later(tmp_path) -> None:
    store = Versions(FolderPlace(tmp_path / "store"))
    store.place.write("m/versions/dead/files/weights.gguf", b"half")
    assert store.names() == []
    pushed(store, tmp_path, "1")
    assert any("dead" in entry.key for entry in store.place.entries(""))
    late = Versions(store.place, lambda: datetime.now(UTC) + ORPHANED + timedelta(minutes=1))
    pushed(late, tmp_path, "2")
    assert not any("dead" in entry.key for entry in store.place.entries(""))


class Killed(Exception):
    """The machine stopped here."""


class Mortal(FolderPlace):
    """A folder whose process is killed at its n-th step."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.left = -1

    def _step(self) -> None:
        if self.left == 0:
            raise Killed
        self.left -= 1

    def write(self, key: str, data: bytes, *, expecting: str | None = None) -> None:
        self._step()
        super().write(key, data, expecting=expecting)
        self._step()

    def send(self, key: str, file: Path, told: Told) -> None:
        self._step()
        super().send(key, file, told)
        self._step()

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._step()
            super().delete([key])


ACTIONS = st.one_of(
    st.tuples(st.just("push"), st.integers(0, 6)),
    st.tuples(st.just("activate"), st.integers(0, 6)),
    st.tuples(st.just("trial"), st.integers(0, 6)),
    st.tuples(st.just("back"), st.just(0)),
)
STEPS = st.lists(st.tuples(ACTIONS, st.integers(-1, 6)), max_size=25)


@settings(max_examples=40)
@given(steps=STEPS)
def test_whatever_happens_the_pointer_names_a_whole_version_and_history_is_true(steps) -> None:
    with TemporaryDirectory() as folder:
        _play(Path(folder), steps)


def _play(folder: Path, steps) -> None:
    place, clock = Mortal(folder / "store"), Clock()
    store, order, pointers = Versions(place, clock), list[str](), [Versions(place).pointer("m")]
    for (action, which), life in steps:
        place.left = life
        try:
            if action == "push":
                version = store.push("m", weights(folder / "in", str(which))).version
            elif action == "back":
                store.roll_back("m", by="gateway")
            elif order:
                version = order[which % len(order)]
                store.activate("m", version, share=0.5 if action == "trial" else None)
        except (Killed, ModelError):
            pass
        place.left = -1
        _check(store, order, pointers)


def _check(store: Versions, order: list[str], pointers: list) -> None:
    pointer = store.pointer("m")
    if pointer != pointers[-1]:
        pointers.append(pointer)
    there = [one.version for one in store.all("m")][::-1]
    for version in there:
        if version not in order:
            order.append(version)
    order[:] = [version for version in order if version in there]
    assert store.history("m") == [one.last for one in pointers[1:]]  # each step, and no other
    for version in pointer.held:
        assert store.verify(store.manifest("m", version)) == []
    for manifest in store.all("m"):
        assert store.verify(manifest) == []
    assert len(there) <= KEPT + 2  # a trial, and one that was to go when the machine stopped
