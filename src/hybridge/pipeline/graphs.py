"""ONNX Runtime's own offline optimisation."""

from __future__ import annotations

from pathlib import Path

import onnxruntime as ort

from hybridge.core.errors import ModelError


def optimise(source: Path, target: Path) -> None:
    """Folds constants and fuses nodes, up to level `extended`: what is beyond it would bind the
    file to this machine's processor. Raises `ModelError`."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(target)
    options.log_severity_level = 3
    try:
        ort.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime raises classes of its own
        raise ModelError(f"{source} cannot be optimised: {error}") from error
