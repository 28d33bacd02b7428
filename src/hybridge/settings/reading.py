"""One way from a file to settings, and the account of where each value came from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self, cast

from pydantic import TypeAdapter, ValidationError

from hybridge.cloud.config import CloudConfig
from hybridge.cloud.providers import PROVIDERS
from hybridge.core.config import Section
from hybridge.edge.config import EdgeConfig, ModelsConfig
from hybridge.edge.embedder_config import EmbeddingsConfig
from hybridge.server.config import ServerConfig
from hybridge.settings.checks import (
    check_backends,
    check_cache,
    check_fallbacks,
    check_judge,
    check_second_opinion,
    check_server,
    check_telemetry,
)
from hybridge.settings.complaints import complaints, unknown
from hybridge.settings.document import Document, read
from hybridge.settings.overrides import Overridden, override
from hybridge.settings.paths import anchor_edge, anchor_embeddings, anchor_models, anchor_routing
from hybridge.settings.problems import Loc, Problem, refuse
from hybridge.settings.secrets import Lookup, Secrets
from hybridge.settings.settings import HUB, Settings
from hybridge.settings.variables import Variables
from hybridge.storage.config import RecordsConfig
from hybridge.telemetry.alerts.config import AlertsConfig
from hybridge.telemetry.config import TelemetryConfig


class Reading:
    """Collects every problem on its way, so that all of them are told at once."""

    def __init__(
        self, document: Document, environ: Mapping[str, str] | None = None, folder: Path = Path()
    ) -> None:
        """`environ` is this process's own unless given; relative paths begin at `folder`."""
        self._document = document
        self.folder = folder
        self._environ = os.environ if environ is None else environ
        self._variables = Variables(self._environ)
        filled = self._variables.fill(document.data)
        self._overridden: Overridden = override(filled, self._environ, Settings)
        self._problems = list(self._overridden.problems)
        self._note(self._variables.missing)
        self._absent = {loc for loc, _ in self._variables.missing}

    @classmethod
    def of(cls, path: Path | None, environ: Mapping[str, str] | None = None) -> Self:
        """The reading of a file, or of the defaults. Raises `ConfigError` for what is no YAML."""
        if path is None:
            return cls(Document("configuration", {}), environ)
        return cls(read(path), environ, path.parent)

    def settings(self) -> Settings:
        """Raises one `ConfigError` that names everything that is wrong, each with its place."""
        sections: dict[str, Any] = dict(self._sections())
        lookup = Lookup(self._environ, PROVIDERS)
        server: ServerConfig = sections.get("server", ServerConfig())
        edge: EdgeConfig = sections.get("edge", EdgeConfig(backends=()))
        cloud: CloudConfig = sections.get("cloud", CloudConfig())
        embeddings: EmbeddingsConfig = sections.get("embeddings", EmbeddingsConfig())
        alerts: AlertsConfig = sections.get("alerts", AlertsConfig())
        telemetry: TelemetryConfig = sections.get("telemetry", TelemetryConfig())
        self._note(check_server(server))
        self._note(check_telemetry(alerts, telemetry))
        self._note(check_backends(edge, cloud, embeddings, PROVIDERS))
        if {"cache", "state"} <= sections.keys():
            self._note(check_cache(sections["cache"], sections["state"]))
        if {"learning", "cloud"} <= sections.keys():
            self._note(check_judge(sections["learning"], sections["cloud"]))
        if {"routing", "edge", "cloud"} <= sections.keys():
            self._note(check_fallbacks(sections["routing"], edge, cloud))
        if {"routing", "edge"} <= sections.keys():
            self._note(check_second_opinion(sections["routing"], edge))
        secrets = Secrets(
            backends=lookup.edge(edge) | lookup.cloud(cloud) | lookup.embeddings(embeddings),
            tenants=lookup.tenants(server),
            admin=lookup.admin(server),
            cache=lookup.cache(sections.get("cache")),
            audit=lookup.audit(sections.get("records", RecordsConfig())),
            webhooks=lookup.webhooks(alerts),
            signing=lookup.signing(alerts),
            otlp_headers=lookup.otlp_headers(telemetry),
            s3=lookup.s3(sections.get("models", ModelsConfig())),
        )
        self._note(lookup.missing)
        refuse(self._problems)
        hub = self._environ.get("HF_ENDPOINT") or HUB
        settings = Settings(**sections).with_found(secrets, hub, self._written())
        return self._anchored(settings)

    def source(self, loc: Loc) -> str:
        """Where a key's value comes from: a variable, a line of the file, or `default`."""
        return self._overridden.variable(loc) or self._document.line(loc) or "default"

    def problem(self, loc: Loc, what: str) -> Problem:
        """Something to say of a key, with its place."""
        place = self._overridden.variable(loc) or self._document.place(loc)
        return Problem(place, loc, what)

    def set_keys(self) -> Iterator[Loc]:
        """Every key that the file or the environment sets, sections before what they hold."""
        yield from _keys(self._overridden.data, ())

    def is_set(self, variable: str) -> bool:
        """Whether the environment has a variable."""
        return bool(self._environ.get(variable, "").strip())

    def _written(self) -> Mapping[Loc, str]:
        return {
            loc: text
            for loc, text in self._variables.written.items()
            if self._overridden.variable(loc) is None
        }

    def _anchored(self, settings: Settings) -> Settings:
        return settings.model_copy(
            update={
                "routing": anchor_routing(settings.routing, self.folder),
                "edge": anchor_edge(settings.edge, self.folder),
                "embeddings": anchor_embeddings(settings.embeddings, self.folder),
                "models": anchor_models(settings.models, self.folder, self._environ),
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
                found = complaints(error.errors(include_url=False), given, annotation)
                told = (((name, *loc), what) for loc, what in found)
                self._note((loc, what) for loc, what in told if loc not in self._absent)

    def _note(self, findings: Iterable[tuple[Loc, str]]) -> None:
        self._problems += [self.problem(loc, what) for loc, what in findings]


def _keys(data: Any, loc: Loc) -> Iterator[Loc]:
    rows = data.items() if isinstance(data, Mapping) else enumerate(data)
    for part, value in rows:
        yield (*loc, part)
        if isinstance(value, Mapping | list):
            yield from _keys(value, (*loc, part))
