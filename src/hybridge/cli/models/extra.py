"""What exporting and quantising need beyond the gateway's own packages."""

from __future__ import annotations

from importlib.util import find_spec

from hybridge.core.errors import ConfigError


def need(*packages: str) -> None:
    """Raises `ConfigError` that names the extra where a package is missing."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        lacking = ", ".join(missing)
        raise ConfigError(f'needs an extra ({lacking}): pip install "hybridge[export]"')
