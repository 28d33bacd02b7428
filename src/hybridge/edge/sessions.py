"""Sessions of ONNX Runtime, and the best of what can compute here: TensorRT, CUDA, CPU (R56)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import onnxruntime as ort
from msgspec import Struct

from hybridge.edge.scorer_config import ProviderName

T = TypeVar("T")

PROVIDERS = ("TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider")
"""Preference of execution providers (SPEC R56)."""
CPU = PROVIDERS[-1]
TITLES: Mapping[str, str] = dict(zip(PROVIDERS, ("TensorRT", "CUDA", "CPU"), strict=True))
"""What people call them."""
_NAMES: Mapping[str, str] = dict(zip(("tensorrt", "cuda", "cpu"), PROVIDERS, strict=True))
_LIBRARIES = {
    "TensorrtExecutionProvider": "TensorRT, CUDA and cuDNN",
    "CUDAExecutionProvider": "CUDA and cuDNN",
}
_SLOW_FUSIONS = ("SkipLayerNormFusion", "BiasGeluFusion")
"""What they make of two nodes takes a CPU four times and twice as long as these (1.32)."""
_DEVICES = (Path("/proc/driver/nvidia/gpus"), Path("/dev/dxg"))
"""Where NVIDIA's driver lists its GPUs, and what stands for one in WSL."""
_WORKSPACE_BYTES = 1 << 30


class Hardware(Struct, frozen=True):
    """Where a graph is wanted to run."""

    provider: ProviderName = "auto"
    device_id: int = 0
    cache: Path | None = None
    """Folder for TensorRT's engines, which take minutes to build; None: they are not kept."""


class Opened(Struct, Generic[T], frozen=True):
    """What works, made of a session that has been tried out."""

    made: T
    provider: str
    """One of `PROVIDERS`."""
    passed_over: tuple[str, ...]
    """Why each one that was preferred does not compute, in words."""


def available() -> list[str]:
    """The execution providers that this ONNX Runtime is built with, best first."""
    present = set(ort.get_available_providers())
    return [provider for provider in PROVIDERS if provider in present]


def session_options(threads: int, provider: str = CPU) -> ort.SessionOptions:
    """How every session here computes (SPEC R56): on `threads` threads that do not spin.

    `provider`: the one that is preferred; what is slower on a CPU alone is left to GPUs.
    """
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.enable_cpu_mem_arena = True
    options.enable_mem_pattern = True
    # Threads that spin between two runs would take the core that the local LLM computes on.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if provider == CPU:
        options.add_session_config_entry(
            "optimization.disable_specified_optimizers", ";".join(_SLOW_FUSIONS)
        )
    options.log_severity_level = 3
    return options


def open_best(
    model: Path,
    hardware: Hardware,
    threads: int,
    make: Callable[[ort.InferenceSession], T],
    *,
    built_with: Collection[str] | None = None,
    has_device: bool | None = None,
) -> Opened[T]:
    """The first provider that opens the model and that `make`, which warms up, does not fail on.

    What the CPU raises is raised. `built_with` and `has_device` stand for what is found here.
    """
    present = available() if built_with is None else built_with
    device = gpu_is_here() if has_device is None else has_device
    passed_over: list[str] = []
    for provider in wanted(hardware.provider):
        if provider == CPU:
            break
        missing = lacks(provider, present, device=device)
        if missing is None:
            try:
                made = make(_open(model, provider, hardware, threads))
            except Exception as error:  # a GPU's libraries fail in every way there is
                missing = f"failed: {_brief(error)}"
            else:
                return Opened(made, provider, tuple(passed_over))
        passed_over.append(f"{TITLES[provider]}: {missing}")
    session = ort.InferenceSession(str(model), session_options(threads), providers=[CPU])
    return Opened(make(session), CPU, tuple(passed_over))


def wanted(provider: ProviderName) -> Iterator[str]:
    """What to try, in order; the CPU is always the last."""
    yield from PROVIDERS[:-1] if provider == "auto" else (_NAMES[provider],)
    if provider != "cpu":
        yield CPU


def lacks(provider: str, built_with: Collection[str], *, device: bool) -> str | None:
    """What a provider lacks here; None: nothing that can be told without trying."""
    if not device:
        return "no NVIDIA GPU on this machine"
    if provider not in built_with:
        return (
            "the installed onnxruntime is built without it: "
            "`pip uninstall onnxruntime && pip install onnxruntime-gpu`"
        )
    return None


def gpu_is_here(places: Iterable[Path] = _DEVICES) -> bool:
    """Whether the system knows an NVIDIA GPU."""
    return any(place.exists() for place in places)


def _open(model: Path, provider: str, hardware: Hardware, threads: int) -> ort.InferenceSession:
    if hasattr(ort, "preload_dlls"):
        ort.preload_dlls()  # those that pip has installed are on no search path
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it falls back is told below
        session = ort.InferenceSession(
            str(model),
            session_options(threads, provider),
            providers=_with_options(provider, hardware),
        )
    if provider not in session.get_providers():
        raise RuntimeError(f"its libraries ({_LIBRARIES[provider]}) could not be loaded")
    session.disable_fallback()
    return session


def _with_options(provider: str, hardware: Hardware) -> list[Any]:
    """A provider with its options, and those that take what it cannot compute.

    Source: onnxruntime.ai, execution providers' options.
    """
    cuda = {
        "device_id": str(hardware.device_id),
        "arena_extend_strategy": "kSameAsRequested",
        "cudnn_conv_algo_search": "HEURISTIC",
    }
    tensorrt = {
        "device_id": str(hardware.device_id),
        "trt_fp16_enable": "1",
        "trt_max_workspace_size": str(_WORKSPACE_BYTES),
    }
    if hardware.cache is not None:
        hardware.cache.mkdir(parents=True, exist_ok=True)
        tensorrt |= {
            "trt_engine_cache_enable": "1",
            "trt_engine_cache_path": str(hardware.cache),
            "trt_timing_cache_enable": "1",
            "trt_timing_cache_path": str(hardware.cache),
        }
    chain: dict[str, dict[str, str]] = dict(zip(PROVIDERS, (tensorrt, cuda, {}), strict=True))
    return [(name, chain[name]) for name in PROVIDERS[PROVIDERS.index(provider) :]]


def _brief(error: Exception) -> str:
    first = str(error).strip().partition("\n")[0]
    return first[:200] or type(error).__name__
