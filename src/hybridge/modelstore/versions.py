"""The versions of each model: pushed, activated, taken back, checked. One logic for every place.

    NAME.json                       which version is in force: one small file, replaced in one step
    NAME/history/00000001.json      one file a step
    NAME/versions/ID/manifest.json  written last: without it a version is not there
    NAME/versions/ID/files/…        what it is made of

Whatever stops in between, the pointer names a whole version. The pointer holds the step that made
it, so that a history that lacks its last entry is completed, and never tells what did not happen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from hybridge.core.errors import ModelError
from hybridge.modelstore import manifest as manifests
from hybridge.modelstore.catalogue import CATALOGUE
from hybridge.modelstore.checking import Flaw, flaws
from hybridge.modelstore.manifest import Manifest, ModelFile, Progress
from hybridge.modelstore.place import NEW, Conflict, Place
from hybridge.modelstore.pointer import (
    By,
    Canary,
    Cause,
    Happened,
    Pointer,
    activated,
    on_trial,
    rolled_back,
)

KEPT = 3
"""Versions of a model that stay (SPEC R57); one more where a new one comes during a trial."""
ORPHANED = timedelta(days=1)
"""Files without a manifest that are older belong to a push that never ended."""
_MANIFEST = "/manifest.json"
Change = Callable[[Pointer, Collection[str | None], Cause], Pointer]


class Versions:
    """All models of one place. Everything blocks, and raises `ModelError`."""

    def __init__(
        self, place: Place, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.place = place
        self._now = now

    def names(self) -> list[str]:
        """Of all models that have a version."""
        found = (entry.key for entry in self.place.entries("") if entry.key.endswith(_MANIFEST))
        return sorted({key.split("/", 1)[0] for key in found})

    def all(self, name: str) -> list[Manifest]:
        """The versions of a model, the latest first."""
        keys = [entry.key for entry in self.place.entries(f"{name}/versions/")]
        found = [self._manifest(key) for key in keys if key.endswith(_MANIFEST)]
        there = [manifest for manifest in found if manifest is not None]
        return sorted(there, key=lambda one: (one.made_at, one.version), reverse=True)

    def manifest(self, name: str, version: str) -> Manifest:
        """Of one version. Raises `ModelError` that names those there are."""
        manifests.check_name(name)
        found = self._manifest(_folder(name, version) + _MANIFEST)
        if found is None:
            there = ", ".join(one.version for one in self.all(name)) or "none"
            raise ModelError(
                f"{name} has no version {version} in {self.place.address}; there are: {there}"
            )
        return found

    def pointer(self, name: str) -> Pointer:
        """What is in force; of a model that nobody activated, nothing."""
        return self._pointer(name)[0]

    def history(self, name: str) -> list[Happened]:
        """Every step, the first one first."""
        keys = [entry.key for entry in self.place.entries(f"{name}/history/")]
        read = (self.place.read(key) for key in keys)
        steps = [_decode(one.data, Happened, name) for one in read if one is not None]
        last = self.pointer(name).last
        return [*steps, last] if last is not None and len(steps) < last.number else steps

    def push(
        self,
        name: str,
        source: Path,
        *,
        note: str = "",
        metrics: Mapping[str, Any] | None = None,
        progress: Progress = lambda _done, _total: None,
    ) -> Manifest:
        """Puts a file or folder there as a version of the model; it is not in force by that.

        What is there already stays as it is. It can be seen once all of it is there.
        """
        manifest = manifests.describe(
            name,
            source,
            self._now(),
            lambda done, total: progress(done // 2, total),
            note=note,
            metrics=metrics or {},
            parent=self.pointer(name).active,
        )
        known = self._manifest(_folder(name, manifest.version) + _MANIFEST)
        if known is not None:
            return known
        paths, size = manifests.sources(source), manifest.size_bytes
        self.receive(
            manifest,
            lambda file, key, told: self.place.send(key, paths[file.path], told),
            lambda done, total: progress((size + done) // 2, total),
        )
        return manifest

    def receive(
        self,
        manifest: Manifest,
        send: Callable[[ModelFile, str, Callable[[int], None]], None],
        progress: Progress,
        *,
        held: Collection[str] = (),
    ) -> None:
        """Takes a version in: its files, then its manifest. Older ones make room for it."""
        folder, done = _folder(manifest.name, manifest.version), 0

        def told(more: int) -> None:
            nonlocal done
            done += more
            progress(done, manifest.size_bytes)

        def bring(files: Collection[ModelFile]) -> None:
            for file in files:
                send(file, f"{folder}/files/{file.path}", told)

        bring(manifest.files)
        with self.place.locked(manifest.name):
            bring(self._missing(manifest))  # an older version of the same files was just deleted
            self.place.write(folder + _MANIFEST, manifests.encode(manifest))
            self._make_room(manifest.name, held)

    def activate(
        self,
        name: str,
        version: str | None = None,
        *,
        share: float | None = None,
        by: By = "operator",
        reason: str = "",
        only_if: int | None = None,
        reads: bool = False,
    ) -> Pointer:
        """The version is in force, or gets a share of the requests.

        Without a version the one on trial is meant, else the latest. `only_if`: the number of the
        step that must still be the last one. Raises `Conflict` where it is not. `reads`: refuses a
        version whose files are not what they should be.
        """

        def change(pointer: Pointer, there: Collection[str | None], cause: Cause) -> Pointer:
            wanted = version or _meant(pointer, share, self.all(name))
            if wanted not in there:
                self.manifest(name, wanted)  # says what there is
            manifest = self.manifest(name, wanted)
            if missing := self._missing(manifest):
                raise ModelError(f"{name} {wanted} is not whole: {missing[0].path} is not as long")
            if reads and (found := self.verify(manifest)):
                raise ModelError(f"{name} {wanted} is not activated: {found[0]}")
            if share is None:
                return activated(pointer, wanted, cause)
            return on_trial(pointer, Canary(wanted, share), cause)

        return self._change(name, change, by, reason, only_if)

    def roll_back(
        self,
        name: str,
        *,
        by: By = "operator",
        reason: str = "",
        failed: str | None = None,
        only_if: int | None = None,
    ) -> Pointer:
        """Takes the last step back: withdraws what is on trial, else activates what was before.

        `failed` is the version that has to go, where that is known. `only_if` as in `activate`.
        """

        def change(pointer: Pointer, there: Collection[str | None], cause: Cause) -> Pointer:
            own = by == "gateway" or name in CATALOGUE  # else there is nothing before the first one
            return rolled_back(pointer, there if own else {*there} - {None}, cause, failed=failed)

        return self._change(name, change, by, reason, only_if)

    def note(self, name: str, pointer: Pointer) -> None:
        """Copies what is in force elsewhere; there is no history of it here."""
        self.place.write(f"{name}.json", _readable(pointer))

    def verify(
        self, manifest: Manifest, progress: Progress = lambda _done, _total: None
    ) -> list[Flaw]:
        """Reads all files of a version again: those that are not what they should be."""
        return list(flaws(self.place, _folder(manifest.name, manifest.version), manifest, progress))

    def _change(
        self, name: str, change: Change, by: By, reason: str, only_if: int | None
    ) -> Pointer:
        manifests.check_name(name)
        with self.place.locked(name):
            pointer, stamp = self._pointer(name)
            if only_if is not None and pointer.number != only_if:
                raise Conflict(f"{name} was changed by somebody else meanwhile")
            self._record(name, pointer.last)
            there = {None, *(one.version for one in self.all(name))}
            changed = change(pointer, there, Cause(self._now(), by, reason))
            if changed != pointer:
                self.place.write(f"{name}.json", _readable(changed), expecting=stamp)
                self._record(name, changed.last)
                self._make_room(name)
        return changed

    def _record(self, name: str, step: Happened | None) -> None:
        """Puts a step into the history, if it is not there."""
        if step is None:
            return
        key = f"{name}/history/{step.number:08}.json"
        if self.place.read(key) is None:
            self.place.write(key, _readable(step))

    def _make_room(self, name: str, held: Collection[str] = ()) -> None:
        """Leaves those in force, the latest, and as many before it as make three; to be called
        under the lock."""
        versions = [one.version for one in self.all(name)]
        kept = {*versions[:1], *self.pointer(name).held, *held}
        rest = [version for version in versions if version not in kept]
        kept |= {*rest[: max(0, KEPT - len(kept))]}
        entries = self.place.entries(f"{name}/versions/")
        for version in {entry.key.split("/")[2] for entry in entries} - kept:
            own = [e for e in entries if e.key.startswith(f"{_folder(name, version)}/")]
            young = any(self._now() - e.changed_at < ORPHANED for e in own)
            if version not in versions and young:
                continue  # it may be on its way
            self.place.delete([_folder(name, version) + _MANIFEST])  # from now on it is not there
            self.place.delete([entry.key for entry in own])

    def _missing(self, manifest: Manifest) -> list[ModelFile]:
        folder = f"{_folder(manifest.name, manifest.version)}/files/"
        sizes = {entry.key: entry.size_bytes for entry in self.place.entries(folder)}
        return [f for f in manifest.files if sizes.get(folder + f.path) != f.size_bytes]

    def _pointer(self, name: str) -> tuple[Pointer, str]:
        manifests.check_name(name)
        found = self.place.read(f"{name}.json")
        if found is None:
            return Pointer(), NEW
        return _decode(found.data, Pointer, name), found.stamp

    def _manifest(self, key: str) -> Manifest | None:
        found = self.place.read(key)
        return None if found is None else manifests.decode(found.data, key)


def _meant(pointer: Pointer, share: float | None, versions: Sequence[Manifest]) -> str:
    if pointer.trial is not None and share is None:
        return pointer.trial.version
    if not versions:
        raise ModelError("nothing was pushed yet: hybridge models push NAME PATH")
    return versions[0].version


def _folder(name: str, version: str) -> str:
    return f"{name}/versions/{version}"


def _readable(value: Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2)


Read = TypeVar("Read")


def _decode(raw: bytes, kind: type[Read], name: str) -> Read:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.DecodeError as error:
        raise ModelError(f"the {kind.__name__.lower()} of {name} is broken: {error}") from error
