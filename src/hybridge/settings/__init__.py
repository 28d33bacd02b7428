"""Everything the operator can set: one YAML file, with the environment on top.

The only reader of environment variables and YAML in this package.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self, cast

from pydantic import PrivateAttr, TypeAdapter, ValidationError

from hybridge.budget.config import BudgetConfig
from hybridge.cache.config import CacheConfig
from hybridge.cloud.config import CloudConfig
from hybridge.cloud.providers import PROVIDERS
from hybridge.core.config import Section
from hybridge.edge.config import EdgeConfig, ModelsConfig
from hybridge.execution.config import ExecutionConfig
from hybridge.learning.config import LearningConfig
from hybridge.privacy.config import PrivacyConfig
from hybridge.routing.config import RoutingConfig
from hybridge.server.config import ServerConfig
from hybridge.settings.checks import check_backends, check_fallbacks, check_server
from hybridge.settings.complaints import complaints, unknown
from hybridge.settings.document import Document, read
from hybridge.settings.overrides import Overridden, override
from hybridge.settings.paths import anchor_edge, anchor_models, anchor_rules
from hybridge.settings.problems import Loc, Problem, refuse
from hybridge.settings.secrets import Lookup, Secrets
from hybridge.storage.config import RecordsConfig, StateConfig

HUB = "https://huggingface.co"
_OPTIONS = "command line"


class Settings(Section):
    """One frozen section for each package that has something to set."""

    server: ServerConfig = ServerConfig()
    edge: EdgeConfig = EdgeConfig()
    cloud: CloudConfig = CloudConfig()
    routing: RoutingConfig = RoutingConfig()
    execution: ExecutionConfig = ExecutionConfig()
    privacy: PrivacyConfig = PrivacyConfig()
    budget: BudgetConfig = BudgetConfig()
    cache: CacheConfig | None = None
    state: StateConfig = StateConfig()
    records: RecordsConfig = RecordsConfig()
    learning: LearningConfig = LearningConfig()
    models: ModelsConfig = ModelsConfig()
    _secrets: Secrets = PrivateAttr(default_factory=Secrets)
    _hub_endpoint: str = PrivateAttr(default=HUB)

    @property
    def secrets(self) -> Secrets:
        """The keys that the configuration names."""
        return self._secrets

    @property
    def hub_endpoint(self) -> str:
        """Where the download source `hub` is: `$HF_ENDPOINT`, else the hub's own address."""
        return self._hub_endpoint

    def with_server(self, **options: object) -> Self:
        """The same settings under a command's own options. Raises `ConfigError`."""
        given = dict(self.server) | options
        try:
            server = ServerConfig.model_validate(given)
        except ValidationError as error:
            details = error.errors(include_url=False)
            found = [*complaints(details, given, ServerConfig)]
            refuse([Problem(_OPTIONS, ("server", *loc), what) for loc, what in found])
            raise
        refuse([Problem(_OPTIONS, loc, what) for loc, what in check_server(server)])
        return self.model_copy(update={"server": server})

    def with_found(self, secrets: Secrets, hub_endpoint: str) -> Self:
        """The same settings, holding what the environment alone knows."""
        copy = self.model_copy()
        copy._secrets, copy._hub_endpoint = secrets, hub_endpoint  # noqa: SLF001 - its own
        return copy


def load(path: Path | None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of a file (None: the defaults) under the environment's overrides.

    `environ` is this process's own unless given.
    Raises one `ConfigError` that names everything that is wrong, each with its place.
    """
    document = Document("configuration", {}) if path is None else read(path)
    folder = Path() if path is None else path.parent
    return _Reading(document, os.environ if environ is None else environ).settings(folder)


def parse(data: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from data instead of a file; `environ` is this process's own unless given."""
    document = Document("configuration", data)
    return _Reading(document, os.environ if environ is None else environ).settings(Path())


class _Reading:
    """One way from a document to settings; collects problems as it goes."""

    def __init__(self, document: Document, environ: Mapping[str, str]) -> None:
        self._document = document
        self._environ = environ
        self._overridden: Overridden = override(document.data, environ, Settings)
        self._problems = list(self._overridden.problems)

    def settings(self, folder: Path) -> Settings:
        """Raises `ConfigError`. Relative paths begin at `folder`."""
        sections: dict[str, Any] = dict(self._sections())
        lookup = Lookup(self._environ, PROVIDERS)
        server: ServerConfig = sections.get("server", ServerConfig())
        edge: EdgeConfig = sections.get("edge", EdgeConfig(backends=()))
        cloud: CloudConfig = sections.get("cloud", CloudConfig())
        self._note(check_server(server))
        self._note(check_backends(edge, cloud, PROVIDERS))
        if {"routing", "edge", "cloud"} <= sections.keys():
            self._note(check_fallbacks(sections["routing"], edge, cloud))
        secrets = Secrets(
            backends=lookup.edge(edge) | lookup.cloud(cloud),
            tenants=lookup.tenants(server),
            admin=lookup.admin(server),
        )
        self._note(lookup.missing)
        refuse(self._problems)
        hub = self._environ.get("HF_ENDPOINT") or HUB
        return self._anchored(Settings(**sections), folder).with_found(secrets, hub)

    def _anchored(self, settings: Settings, folder: Path) -> Settings:
        return settings.model_copy(
            update={
                "routing": anchor_rules(settings.routing, folder),
                "edge": anchor_edge(settings.edge, folder),
                "models": anchor_models(settings.models, folder, self._environ),
            }
        )

    def _sections(self) -> Iterator[tuple[str, Section | None]]:
        """Each section that is well formed; the others leave problems."""
        data, known = self._overridden.data, Settings.model_fields
        for name in data:
            if name not in known:
                self._note([((name,), unknown(name, known))])
        for name, field in known.items():
            given, annotation = data.get(name), cast("Any", field.annotation)
            if given is None:  # an empty section is as good as none
                yield name, field.get_default(call_default_factory=True)
                continue
            try:
                yield name, TypeAdapter[Any](annotation).validate_python(given)
            except ValidationError as error:
                details = error.errors(include_url=False)
                found = complaints(details, given, annotation)
                self._note(((name, *loc), what) for loc, what in found)

    def _note(self, findings: Iterable[tuple[Loc, str]]) -> None:
        for loc, what in findings:
            place = self._overridden.variable(loc) or self._document.place(loc)
            self._problems.append(Problem(place, loc, what))
