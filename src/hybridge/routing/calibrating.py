"""Calibration that holds on to what it begins with while there is little to calibrate on."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from hybridge.routing.adapter import Array, sigmoid

STRENGTH = 8.0
"""Precision of slope and offset around 1 and 0: some dozens of labels move them."""
_STEPS = 25


class Calibration(Struct, frozen=True):
    """`z` becomes `slope z + offset` (Platt 1999)."""

    slope: float = 1.0
    offset: float = 0.0

    def __call__(self, z: Array) -> Array:
        """Calibrated log-odds."""
        told: Array = self.slope * z + self.offset
        return told


def calibrated(z: Array, failed: Array, weights: Array) -> Calibration:
    """The slope and offset that fit best, shrunk towards no change; by Newton's method."""
    design, start = np.column_stack([z, np.ones_like(z)]), np.array([1.0, 0.0])
    found, strength = start.copy(), STRENGTH * np.eye(2)
    for _ in range(_STEPS):
        p = sigmoid(design @ found)
        gradient = design.T @ (weights * (p - failed)) + STRENGTH * (found - start)
        curvature = (design.T * (weights * p * (1 - p))) @ design + strength
        found = found - np.clip(np.linalg.solve(curvature, gradient), -1.0, 1.0)
    return Calibration(max(0.0, float(found[0])), float(found[1]))
