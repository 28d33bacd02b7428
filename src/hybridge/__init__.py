"""Hybridge: every request runs on the small model of this device, on a cloud LLM, or on both.

The public API; internals never import from here. Names are loaded when they are first used, so
that importing one part of the package does not load all of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hybridge._version import __version__

if TYPE_CHECKING:
    from hybridge.core.errors import BackendError, ConfigError, HybridgeError, RequestError
    from hybridge.core.report import Report
    from hybridge.core.request import Request
    from hybridge.gateway.gateway import Gateway
    from hybridge.settings import Settings, load
    from hybridge.wiring import House, open_house

_HOME = {
    "BackendError": "hybridge.core.errors",
    "ConfigError": "hybridge.core.errors",
    "Gateway": "hybridge.gateway.gateway",
    "House": "hybridge.wiring",
    "HybridgeError": "hybridge.core.errors",
    "Report": "hybridge.core.report",
    "Request": "hybridge.core.request",
    "RequestError": "hybridge.core.errors",
    "Settings": "hybridge.settings",
    "load": "hybridge.settings",
    "open_house": "hybridge.wiring",
}

__all__ = [
    "BackendError",
    "ConfigError",
    "Gateway",
    "House",
    "HybridgeError",
    "Report",
    "Request",
    "RequestError",
    "Settings",
    "__version__",
    "load",
    "open_house",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hybridge' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
