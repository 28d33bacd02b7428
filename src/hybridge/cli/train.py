"""`hybridge train`: fits an adapter to comparisons of one's own models."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hybridge.cli import EXIT_FAILED
from hybridge.cli.options import Config, Json, settings_of

if TYPE_CHECKING:
    from hybridge.learning.evidence import Evidence
    from hybridge.routing.adaptation import Study
    from hybridge.settings import Settings
    from hybridge.wiring.scoring import Scoring

OUT = Path("hybridge-adapter.npz")
_DATABASES = (".db", ".sqlite", ".sqlite3")
MOST = 20_000
"""Comparisons that are read of a database, the newest."""


def train(
    records: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.jsonl|URL",
            help="Comparisons: JSON lines {prompt, edge_score, cloud_score} with scores of 0 to 1, "
            "or {prompt, agreed}; or a gateway's own records, an SQLite file or an SQLAlchemy URL. "
            "Default: the records of the configuration.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"The adapter's file. Default: {OUT}")
    ] = None,
    activate: Annotated[
        bool,
        typer.Option(
            "--activate",
            help="Put it where `routing.adapter` of the configuration says; a gateway that runs "
            "takes it over.",
        ),
    ] = False,
    edge: Annotated[
        str | None, typer.Option(metavar="NAME", help="Take comparisons of this edge model only.")
    ] = None,
    cloud: Annotated[
        str | None, typer.Option(metavar="NAME", help="Take comparisons with this cloud only.")
    ] = None,
    head: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The prior, in place of the configured one.")
    ] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Fits an adapter to comparisons of your own two models, and tries it on those it has not seen.

    Near-duplicates are never on both sides. It is written only where it is better than the prior;
    else the command ends with 1 and nothing changes.
    """
    from hybridge.cli.trained import Trained, print_json, print_trained

    settings = settings_of(config)
    routing = settings.routing.model_copy(update={"head": head or settings.routing.head})
    paths = _paths(routing.adapter, out, activate=activate)
    fresh = settings.model_copy(update={"routing": routing.model_copy(update={"adapter": None})})
    study, gains = _studied(fresh, records, edge, cloud)
    trained = Trained.of(study, gains, paths if study.adaptation.adapter is not None else ())
    for path in trained.written:
        _save(path, study)
    (print_json if as_json else print_trained)(trained)
    if not trained.written:
        raise typer.Exit(EXIT_FAILED)


def _paths(configured: Path | None, out: Path | None, *, activate: bool) -> tuple[Path, ...]:
    """Where it goes, known before anything is computed."""
    if not activate:
        return (out or OUT,)
    if configured is None:
        raise typer.BadParameter(
            f"the configuration names no adapter: add `routing: {{adapter: {out or OUT}}}` to it",
            param_hint="--activate",
        )
    return (configured,) if out is None else tuple(dict.fromkeys((configured, out)))


def _save(path: Path, study: Study) -> None:
    from hybridge.core.errors import ModelError
    from hybridge.routing.adapter_file import save

    try:
        save(path, study.adaptation)
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error}") from error


def _studied(
    settings: Settings, records: str | None, edge: str | None, cloud: str | None
) -> tuple[Study, Sequence[float]]:
    """What was learned, and how much better the cloud was each time."""
    from hybridge.wiring.seeing import scoring_of

    scoring = scoring_of(settings)
    if records is not None and _is_file(records):
        return _from_file(settings, scoring, Path(records), edge, cloud)
    found = asyncio.run(_recorded(settings, records))
    study = _study(_of_pair(found, edge, cloud), scoring, settings, None)
    return study, [one.failed for one in study.kept]


def _is_file(records: str) -> bool:
    return "://" not in records and not records.endswith(_DATABASES)


def _from_file(
    settings: Settings, scoring: Scoring, path: Path, edge: str | None, cloud: str | None
) -> tuple[Study, Sequence[float]]:
    from hybridge.cli.progress import counting
    from hybridge.core.errors import ConfigError
    from hybridge.learning.evidence import Evidence, Pair
    from hybridge.pipeline import near_duplicates, own_rows
    from hybridge.wiring.seeing import EPOCH, seen

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error
    rows = own_rows.of_pair(own_rows.rows(lines, str(path)), edge, cloud)
    prompts = [row.prompt for row in rows]
    with counting("reading prompts", len(prompts)) as done:
        views = seen(settings, scoring.head, prompts, done)
    pair, head = Pair(rows[0].models[0], "", rows[0].models[1]), scoring.head.version
    found = [
        Evidence(
            pair, EPOCH, task, row.failed, 1.0, None, view, head, f"{n:09d}", max(0.0, -row.gain)
        )
        for n, (row, (view, task)) in enumerate(zip(rows, views, strict=True))
    ]
    grouped = near_duplicates.groups(prompts)
    groups = {one.request_id: group for one, group in zip(found, grouped, strict=True)}
    study = _study(found, scoring, settings, groups)
    return study, [rows[int(one.request_id)].gain for one in study.kept]


def _study(
    found: Sequence[Evidence],
    scoring: Scoring,
    settings: Settings,
    groups: dict[str, int] | None,
) -> Study:
    from hybridge.cli.progress import working
    from hybridge.routing.adaptation import study

    with working("training"):
        return study(
            None,
            found,
            max(one.at for one in found),
            head=scoring.head.version,
            half_life=timedelta(days=settings.learning.half_life_days),
            groups=groups,
        )


async def _recorded(settings: Settings, records: str | None) -> list[Evidence]:
    from hybridge.core.errors import ConfigError
    from hybridge.storage.comparisons import evidence_at

    address = records or settings.records.url
    if address is None:
        raise ConfigError("records.url is null: give --records, with comparisons to learn from")
    url = address if "://" in address else f"sqlite+aiosqlite:///{address}"
    return await evidence_at(url, MOST)


def _of_pair(found: Sequence[Evidence], edge: str | None, cloud: str | None) -> list[Evidence]:
    """Of one edge backend and one cloud; of several versions of the edge, the latest."""
    from hybridge.core.errors import ConfigError

    wanted = [
        one for one in found if edge in (None, one.pair.edge) and cloud in (None, one.pair.cloud)
    ]
    names = sorted({(one.pair.edge, one.pair.cloud) for one in wanted})
    if not wanted:
        raise ConfigError("the records hold no comparisons of these models yet")
    if len(names) > 1:
        pairs = "; ".join(f"{one} and {other}" for one, other in names[:5])
        raise ConfigError(
            f"the records hold comparisons of {len(names)} pairs ({pairs}): an adapter is for one, "
            "choose it with --edge and --cloud"
        )
    latest = max(wanted, key=lambda one: one.at).pair
    return [one for one in wanted if one.pair == latest]
