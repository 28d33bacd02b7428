"""Which layers of detection look at a text: the always-on one, and those that the settings want."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from importlib.util import find_spec

from hybridge.core.errors import ConfigError
from hybridge.edge.chinese_names import ChineseNames
from hybridge.edge.english_names import EnglishNames
from hybridge.edge.secret_rules import SecretRules
from hybridge.privacy.config import Layer
from hybridge.privacy.examine import Detect
from hybridge.privacy.layers import EXTRAS, NAMES, Look, layered, names_tell
from hybridge.privacy.policy import Policy
from hybridge.privacy.scan import detect
from hybridge.settings import Settings

_LOADERS: dict[Layer, Callable[[], Look]] = {
    "chinese_names": ChineseNames.load,
    "english_names": EnglishNames.load,
    "secrets": SecretRules.load,
}
_PACKAGES: dict[Layer, str] = {"chinese_names": "argus_redact", "secrets": "betterleaks"}


class Layers:
    """Each layer is loaded once, when the first configuration wants it."""

    def __init__(self, is_there: Callable[[str], object] = find_spec) -> None:
        """`is_there`: whether a package is installed, by the name that it is imported by."""
        self._is_there = is_there
        self._loaded: dict[Layer, Look] = {}

    async def of(self, settings: Settings) -> Detect:
        """How texts are looked at by these settings. Raises `ConfigError` for a layer that is
        asked for by name and not installed."""
        wanted = self._wanted(settings)
        for name in wanted:
            if name not in self._loaded:
                self._loaded[name] = await asyncio.to_thread(_LOADERS[name])
        return layered(detect, [self._loaded[name] for name in wanted])

    def _wanted(self, settings: Settings) -> list[Layer]:
        layers = settings.privacy.layers
        if layers == "auto":
            tell = names_tell(_policies(settings))
            return [one for one in _LOADERS if self._installed(one) and (tell or one not in NAMES)]
        for name in layers:
            if not self._installed(name):
                raise ConfigError(
                    f"privacy.layers: `{name}` needs a package that is not installed; "
                    f'pip install "hybridge[{EXTRAS[name]}]", or take it off the list'
                )
        return list(dict.fromkeys(layers))

    def _installed(self, name: Layer) -> bool:
        package = _PACKAGES.get(name)
        return package is None or self._is_there(package) is not None


def _policies(settings: Settings) -> Iterable[Policy]:
    yield Policy.of(settings.privacy)
    for key in settings.server.api_keys:
        if key.privacy is not None:
            yield Policy.of(settings.privacy, key.privacy)
