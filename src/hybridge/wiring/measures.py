"""What is measured of the models of this device, and where it is read (R58)."""

from __future__ import annotations

from collections.abc import Mapping

from hybridge.core.events import ModelLoaded
from hybridge.edge.encoder import Encoder, Ran
from hybridge.edge.gpu import Gpus
from hybridge.edge.memory import memory
from hybridge.edge.reloadable import Reloadable
from hybridge.telemetry.inference import SCORER
from hybridge.telemetry.metrics import Metrics


def watch_device(metrics: Metrics) -> None:
    """Memory, and GPUs where NVIDIA's driver tells of them."""
    metrics.inference.watch_memory(memory)
    gpus = Gpus.found()
    if gpus is not None:
        metrics.inference.watch_gpus(gpus.read)


def watch_encoder(metrics: Metrics, encoder: Encoder) -> None:
    """Every run of the encoder, and every text that got no vector in time."""
    metrics.on_event(ModelLoaded(SCORER, encoder.load_s))

    def told(ran: Ran) -> None:
        metrics.inference.encoded(ran.texts, ran.tokens, ran.seconds)

    encoder.told, encoder.refused = told, metrics.inference.missed


def depths(encoder: Encoder, engines: Mapping[str, Reloadable]) -> Mapping[str, int]:
    """How many wait for each."""
    return {SCORER: encoder.waiting} | {name: one.waiting for name, one in engines.items()}
