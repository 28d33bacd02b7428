"""Reading the driver's library; a small library stands for it where there is a compiler."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hybridge.edge.gpu import Gpu, Gpus

DRIVER = """
typedef unsigned int u; typedef unsigned long long b;
struct use { u gpu, memory; }; struct memory { b total, free, used; };
int nvmlInit_v2(void) { return INIT; }
int nvmlDeviceGetCount_v2(u *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(u index, void **handle) { *handle = (void *)(b)(index + 1); return 0; }
int nvmlDeviceGetUtilizationRates(void *handle, struct use *use) { use->gpu = 25; return (b)handle == 2 ? 3 : 0; }
int nvmlDeviceGetMemoryInfo(void *handle, struct memory *m) { m->total = 1000; m->used = 100 * (b)handle; return 0; }
"""


@pytest.fixture
def driver(tmp_path: Path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")

    def built(init: int) -> str:
        source, library = tmp_path / "nvml.c", tmp_path / f"libnvml-{init}.so"
        source.write_text(DRIVER)
        told = (f"-DINIT={init}", "-shared", "-fPIC", "-o", str(library), str(source))
        subprocess.run([compiler, *told], check=True)
        return str(library)

    return built


def test_use_and_memory_of_every_gpu(driver) -> None:
    gpus = Gpus.found(driver(0))
    assert gpus is not None
    assert gpus.read() == [Gpu(0, 0.25, 100, 1000), Gpu(1, 0.0, 200, 1000)]


def test_a_driver_that_does_not_answer_is_none(driver) -> None:
    assert Gpus.found(driver(9)) is None


def test_no_driver_is_none() -> None:
    assert Gpus.found("libnowhere.so.1") is None
    assert Gpus.found("libc.so.6") is None
