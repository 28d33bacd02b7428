"""A graph as it is written to a file: in light nodes, and folded by ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnxruntime as ort

from hybridge.core.errors import ModelError
from hybridge.pipeline.rewrites import rewrite


def optimise(source: Path, target: Path) -> None:
    """Rewrites what ONNX Runtime is slow at, folds constants, drops what nobody reads.

    What it fuses beyond that it fuses when it loads the file, where it knows the processor.
    Raises `ModelError`.
    """
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(target)
    options.log_severity_level = 3
    try:
        lighter = rewrite(onnx.load(source)).SerializeToString()
        ort.InferenceSession(lighter, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # both libraries raise classes of their own
        raise ModelError(f"{source} cannot be optimised: {error}") from error
