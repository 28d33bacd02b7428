"""Where relative paths begin, and where models lie when nobody says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hybridge.edge.config import EdgeBackendConfig, EdgeConfig, ModelsConfig
from hybridge.edge.embedder_config import SHIPPED, EmbedderConfig, EmbeddingsConfig
from hybridge.routing.config import RoutingConfig

ROUTING_FILES = ("rules", "head", "adapter")
"""Keys of `routing` that name files: what they hold is part of the configuration."""


def anchor_routing(routing: RoutingConfig, folder: Path) -> RoutingConfig:
    """Paths of rules, head and adapter begin at the configuration's folder."""
    named = {name: getattr(routing, name) for name in ROUTING_FILES}
    return routing.model_copy(
        update={name: folder / path.expanduser() for name, path in named.items() if path}
    )


def anchor_edge(edge: EdgeConfig, folder: Path) -> EdgeConfig:
    """So do paths of weights; names in the catalogue are left alone."""
    rows = tuple(_anchor_row(row, folder) for row in edge.backends)
    return edge.model_copy(update={"backends": rows})


def anchor_embeddings(embeddings: EmbeddingsConfig, folder: Path) -> EmbeddingsConfig:
    """So do the folders of embedding models."""
    rows = tuple(_anchor_embedder(row, folder) for row in embeddings.backends)
    return embeddings.model_copy(update={"backends": rows})


def anchor_models(models: ModelsConfig, folder: Path, environ: Mapping[str, str]) -> ModelsConfig:
    """The model folder, always named in the end; the store, where it is a folder, and else its
    address as AWS's own tools find it."""
    chosen = _default_folder(environ) if models.dir is None else folder / models.dir.expanduser()
    store = models.store
    if store is not None and not store.startswith("s3://"):
        store = str(folder / Path(store).expanduser())
    s3 = models.s3
    endpoint = s3.endpoint or environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL")
    region = s3.region or environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    if store is not None and store.startswith("s3://"):
        s3 = s3.model_copy(update={"endpoint": endpoint or None, "region": region or None})
    return models.model_copy(update={"dir": chosen, "store": store, "s3": s3})


def _anchor_row(row: EdgeBackendConfig, folder: Path) -> EdgeBackendConfig:
    is_file = row.engine == "llamacpp" and row.model.endswith((".gguf", ".onnx"))
    is_folder = row.engine == "ortgenai" and (
        "/" in row.model or (folder / Path(row.model)).is_dir()  # else a name in the store
    )
    if not is_file and not is_folder:
        return row
    path = folder / Path(row.model).expanduser()
    if is_folder:
        path = path.absolute()  # one word alone would be a name in the store
    return row.model_copy(update={"model": str(path)})


def _anchor_embedder(row: EmbedderConfig, folder: Path) -> EmbedderConfig:
    if row.engine != "onnx" or row.model == SHIPPED:
        return row
    return row.model_copy(update={"model": str(folder / Path(row.model).expanduser())})


def _default_folder(environ: Mapping[str, str]) -> Path:
    """`$HYBRIDGE_MODELS`, else in the user's cache folder (XDG base directory specification)."""
    if chosen := environ.get("HYBRIDGE_MODELS"):
        return Path(chosen).expanduser()
    if cache := environ.get("XDG_CACHE_HOME"):
        return Path(cache) / "hybridge" / "models"
    home = environ.get("HOME")
    return (Path(home) if home else Path.home()) / ".cache" / "hybridge" / "models"
