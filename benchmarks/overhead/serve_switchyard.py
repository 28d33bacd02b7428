"""Starts NVIDIA Switchyard's server from its Python package, in that package's own environment.

Usage: serve_switchyard.py CONFIG PORT
"""

from __future__ import annotations

import signal
import sys

from switchyard_rust.server import Server  # type: ignore[import-not-found]

with Server(sys.argv[1], int(sys.argv[2])):
    signal.sigwait({signal.SIGINT, signal.SIGTERM})
