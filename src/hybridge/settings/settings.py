"""The sections of the configuration, composed of each package's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import PrivateAttr, ValidationError

from hybridge.budget.config import BudgetConfig, LimitsConfig
from hybridge.cache.config import CacheConfig
from hybridge.cloud.config import CloudConfig
from hybridge.core.config import Section
from hybridge.edge.config import EdgeConfig, ModelsConfig
from hybridge.edge.embedder_config import EmbeddingsConfig
from hybridge.edge.scorer_config import ScorerConfig
from hybridge.execution.config import ExecutionConfig
from hybridge.learning.config import LearningConfig
from hybridge.privacy.config import PrivacyConfig
from hybridge.routing.config import RoutingConfig
from hybridge.server.config import ServerConfig
from hybridge.settings.checks import check_server
from hybridge.settings.complaints import complaints
from hybridge.settings.problems import Loc, Problem, refuse
from hybridge.settings.secrets import Secrets
from hybridge.storage.config import RecordsConfig, StateConfig
from hybridge.telemetry.alerts.config import AlertsConfig
from hybridge.telemetry.config import TelemetryConfig

HUB = "https://huggingface.co"
_OPTIONS = "command line"


class Settings(Section):
    """Everything the operator can set, with one section for each package that has something."""

    server: ServerConfig = ServerConfig()
    edge: EdgeConfig = EdgeConfig()
    cloud: CloudConfig = CloudConfig()
    embeddings: EmbeddingsConfig = EmbeddingsConfig()
    routing: RoutingConfig = RoutingConfig()
    execution: ExecutionConfig = ExecutionConfig()
    privacy: PrivacyConfig = PrivacyConfig()
    budget: BudgetConfig = BudgetConfig()
    limits: LimitsConfig = LimitsConfig()
    cache: CacheConfig | None = None
    state: StateConfig = StateConfig()
    records: RecordsConfig = RecordsConfig()
    learning: LearningConfig = LearningConfig()
    models: ModelsConfig = ModelsConfig()
    scorer: ScorerConfig = ScorerConfig()
    alerts: AlertsConfig = AlertsConfig()
    telemetry: TelemetryConfig = TelemetryConfig()
    _secrets: Secrets = PrivateAttr(default_factory=Secrets)
    _hub_endpoint: str = PrivateAttr(default=HUB)
    _written: Mapping[Loc, str] = PrivateAttr(default_factory=dict)

    @property
    def secrets(self) -> Secrets:
        """The keys that the configuration names."""
        return self._secrets

    @property
    def hub_endpoint(self) -> str:
        """Where the download source `hub` is: `$HF_ENDPOINT`, else the hub's own address."""
        return self._hub_endpoint

    @property
    def written(self) -> Mapping[Loc, str]:
        """What the file says at each key whose value came, in part, out of the environment."""
        return self._written

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

    def with_found(self, secrets: Secrets, hub_endpoint: str, written: Mapping[Loc, str]) -> Self:
        """The same settings, holding what the environment alone knows."""
        copy = self.model_copy()
        copy._secrets, copy._hub_endpoint = secrets, hub_endpoint  # noqa: SLF001 - its own
        copy._written = written  # noqa: SLF001 - its own
        return copy
