"""All rows of a configuration: made anew, or kept where nothing about them changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack

from hybridge.cloud.config import CloudBackendConfig
from hybridge.core.backend import Backend
from hybridge.core.clock import Clock
from hybridge.core.events import Events
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.reloadable import Reloadable
from hybridge.modelstore.trial import Terms
from hybridge.settings import Settings
from hybridge.wiring import local
from hybridge.wiring.following import Following
from hybridge.wiring.local import Prepare
from hybridge.wiring.model_library import terms
from hybridge.wiring.remote import Remote
from hybridge.wiring.rollout import Rollout
from hybridge.wiring.row import Around, Row, RowConfig


class Rows:
    """Makes the rows of a configuration, out of those there are where nothing changed."""

    def __init__(
        self, events: Events, clock: Clock, around: Around, prepare: Prepare, following: Following
    ) -> None:
        self._events = events
        self._clock = clock
        self._around = around
        self._prepare = prepare
        self._following = following
        self._terms = terms(Settings())

    async def make(self, settings: Settings, kept: Mapping[str, Row]) -> dict[str, Row]:
        """By name, in the order of the configuration, the edge's first.

        Raises `ConfigError`, and then what was made is closed again.
        """
        made: dict[str, Row] = {}
        self._terms = terms(settings)
        make = _Making(settings, self._events, self._clock, self._around, self._local)
        configs: list[RowConfig] = [*settings.edge.backends, *settings.cloud.backends]
        async with AsyncExitStack() as undo:
            for config in configs:
                row = kept.get(config.name)
                if row is None or row.made_of != make.made_of(config):
                    row = await make.row(config)
                    undo.push_async_callback(row.close)
                made[config.name] = row
            undo.pop_all()
        return made

    def _local(
        self, config: EdgeBackendConfig, settings: Settings, stack: AsyncExitStack
    ) -> tuple[Reloadable, Rollout | None]:
        """An engine whose loading begins with its preparing; one by name follows its versions."""
        events, clock = self._events, self._clock
        if local.is_path(config.model):
            engine, rollout = local.engine(config, settings, self._prepare, events, clock), None
        else:
            following = self._following
            rollout = local.rollout(
                config, settings, following.models, self._prepare, self._held_to, events, clock
            )
            engine = rollout.engine
            stack.callback(following.follow(config.model, rollout.moved))
        stack.push_async_callback(engine.unload)
        if rollout is not None:
            stack.push_async_callback(rollout.close)
        return engine, rollout

    def _held_to(self) -> Terms:
        return self._terms


Local = Callable[[EdgeBackendConfig, Settings, AsyncExitStack], tuple[Reloadable, Rollout | None]]


class _Making:
    """Makes rows by one configuration."""

    def __init__(
        self, settings: Settings, events: Events, clock: Clock, around: Around, local: Local
    ) -> None:
        self._settings = settings
        self._events = events
        self._clock = clock
        self._around = around
        self._local = local
        self._remote = Remote(settings.secrets, clock, settings.cloud.pictures)

    def made_of(self, config: RowConfig) -> tuple[object, ...]:
        """What decides whether a row is still the same."""
        if isinstance(config, EdgeBackendConfig) and config.engine != "openai":
            return (config,)
        key = self._settings.secrets.backends.get(config.name)
        return config, key, self._settings.cloud.pictures

    async def row(self, config: RowConfig) -> Row:
        """Raises `ConfigError`."""
        stack = AsyncExitStack()
        backend: Backend
        engine: Reloadable | None = None
        rollout: Rollout | None = None
        if isinstance(config, CloudBackendConfig):
            backend, transport = self._remote.cloud(config)
            await stack.enter_async_context(transport)
        elif config.engine == "openai":
            backend, transport = self._remote.edge(config)
            await stack.enter_async_context(transport)
        else:
            engine, rollout = self._local(config, self._settings, stack)
            backend = engine
        row = Row(
            self.made_of(config),
            backend,
            stack,
            self._settings.execution,
            self._events,
            self._clock,
            around=self._around,
            engine=engine,
        )
        if rollout is not None:
            rollout.switched = row.renewed
        return row


class Condition:
    """How the backends are, as the fleet asks it."""

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self._rows = rows

    def refusal(self, backend: str) -> str | None:
        """Why one counts as unavailable."""
        return self._rows[backend].refusal()

    def unavailable(self, backend: str) -> str | None:
        """Why one is not to be asked now, be it only that its model is on its way."""
        return "loading" if self.is_loading(backend) else self.refusal(backend)

    def is_loading(self, backend: str) -> bool:
        """Whether one's model is on its way."""
        return self._rows[backend].is_loading


def new(rows: Mapping[str, Row], kept: Mapping[str, Row]) -> Iterator[Row]:
    """Those that are not among the kept ones."""
    old = {id(row) for row in kept.values()}
    return (row for row in rows.values() if id(row) not in old)
