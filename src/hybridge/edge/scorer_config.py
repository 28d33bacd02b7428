"""How the scorer's encoder computes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hybridge.core.config import Section

ProviderName = Literal["auto", "tensorrt", "cuda", "cpu"]


class ScorerConfig(Section):
    """Section `scorer`. `hybridge models bench` measures what is best on a machine."""

    provider: ProviderName = "auto"
    """What computes: `auto` takes the first of TensorRT, CUDA and CPU that works here, and the CPU
    where a GPU is slower with this model. One that is named and does not work gives way to the
    CPU, with a warning."""
    device_id: int = Field(default=0, ge=0)
    """Which GPU, as CUDA counts them."""
    threads: int = Field(default=1, ge=1, le=64)
    """Compute threads of one run on the CPU. More make a lone long text a little faster, and many
    at once slower than as many runs do."""
    runs: int | None = Field(default=None, ge=1, le=64)
    """Runs at the same time. None: 1 beside a local LLM or on a GPU; else a run for each physical
    core in the container's quota, 4 at most."""
