"""An adapter in a file: it comes back as it went in, and belongs to one head."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.unit.routing.own_models import HEAD, MONTH, NOW, World

from hybridge.core.errors import ModelError
from hybridge.routing.adaptation import adapt
from hybridge.routing.adapter_file import load, save, written

MADE = adapt(None, World().evidence(80), NOW, head=HEAD, half_life=MONTH)
WAITING = adapt(None, [], NOW, head=HEAD, half_life=MONTH)


def test_it_comes_back_as_it_went_in(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    save(path, MADE)
    found = load(path, HEAD)
    assert (found.version, found.trial, found.tasks) == (MADE.version, MADE.trial, MADE.tasks)
    for view in World(5).prompts(10)[0]:
        (z, error), (as_was, sure) = found.told(view), MADE.told(view)
        assert z == pytest.approx(as_was)
        assert error == pytest.approx(sure, rel=0.02)
    assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]


def test_the_same_adapter_is_the_same_file() -> None:
    assert written(MADE) == written(MADE)


def test_one_for_another_head_is_refused_with_a_way_out(tmp_path: Path) -> None:
    save(tmp_path / "a.npz", MADE)
    with pytest.raises(ModelError, match=r"a.npz was made for the head prior-test, .* again"):
        load(tmp_path / "a.npz", "prior-other")


def test_nothing_is_written_where_the_prior_speaks() -> None:
    with pytest.raises(ValueError, match="nothing to write"):
        written(WAITING)


def altered(path: Path, **changes: np.ndarray) -> Path:
    save(path, MADE)
    with np.load(path) as data:
        arrays = {name: data[name] for name in data.files}
    np.savez(path, **(arrays | changes))
    return path


@pytest.mark.parametrize(
    "change",
    [
        {"pulls": np.zeros(3)},
        {"pulls": np.full_like(MADE.adapter.pulls, np.nan)},
        {"curvature": np.zeros_like(MADE.adapter.curvature)},
        {"views": MADE.adapter.views[:, :7]},
        {"told": np.frombuffer(b"{}", np.uint8)},
        {"told": np.frombuffer(b"no json", np.uint8)},
        {"told": np.frombuffer(b'{"format": 9}', np.uint8)},
    ],
)
def test_one_of_another_make_is_refused_by_name(tmp_path: Path, change: dict) -> None:
    with pytest.raises(ModelError, match="odd.npz"):
        load(altered(tmp_path / "odd.npz", **change), HEAD)


@pytest.mark.parametrize("content", [b"", b"not one", b"PK\x03\x04 broken"])
def test_a_broken_file_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="broken.npz"):
        load(path, HEAD)
    with pytest.raises(ModelError, match="gone.npz"):
        load(tmp_path / "gone.npz", HEAD)
