"""What NVIDIA's GPUs do, from the driver's own library (NVML); nothing where there is none.

Source: docs.nvidia.com, NVML API reference. The library comes with the driver, so no package is
needed to ask it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Self

from msgspec import Struct

LIBRARY = "libnvidia-ml.so.1"
_OK = 0


class Gpu(Struct, frozen=True):
    """One GPU at this moment."""

    index: int
    busy: float
    """Share of the last sample period in which it computed, 0-1."""
    used_bytes: int
    total_bytes: int


class _Utilisation(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    _fields_ = (
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


class Gpus:
    """The GPUs of this machine."""

    def __init__(self, library: Any, handles: Sequence[ctypes.c_void_p]) -> None:
        self._library = library
        self._handles = handles

    @classmethod
    def found(cls, library: str = LIBRARY) -> Self | None:
        """None without a driver, or where it does not answer."""
        try:
            nvml = ctypes.CDLL(library)
            if nvml.nvmlInit_v2() != _OK:
                return None
            count = ctypes.c_uint()
            nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
            return cls(nvml, [_handle(nvml, index) for index in range(count.value)])
        except (OSError, AttributeError):  # no library, or one without these functions
            return None

    def read(self) -> list[Gpu]:
        """All of them that answer."""
        found = (self._one(index, handle) for index, handle in enumerate(self._handles))
        return [gpu for gpu in found if gpu is not None]

    def _one(self, index: int, handle: ctypes.c_void_p) -> Gpu | None:
        use, memory = _Utilisation(), _Memory()
        if self._library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) != _OK:
            return None
        if self._library.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(use)) != _OK:
            use.gpu = 0  # a part of a GPU (MIG) does not tell
        return Gpu(index, use.gpu / 100, memory.used, memory.total)


def _handle(nvml: Any, index: int) -> ctypes.c_void_p:
    handle = ctypes.c_void_p()
    nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(handle))
    return handle
