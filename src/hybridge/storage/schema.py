"""The tables of the records. No column holds text of a prompt or an answer (R33)."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

from hybridge.storage.columns import Moment, Money

VERSION = 4
"""Raised with every change of a table. Older ones are taken along by `database`, newer refused."""

metadata = MetaData()

schema_version = Table("schema_version", metadata, Column("version", Integer, primary_key=True))
"""One row: the version of the tables."""

decisions = Table(
    "decisions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("request_id", String(64), nullable=False, index=True),
    Column("at", Moment, nullable=False, index=True),
    Column("tenant", String(128), nullable=False),
    Column("session", String(64)),
    Column("route", String(32)),
    Column("tier", String(8)),
    Column("backend", String(128)),
    Column("model", String(256)),
    Column("score", Float),
    Column("p", Float),
    Column("scorer", String(64)),
    Column("confidence", Float),
    Column("degraded", Boolean, nullable=False),
    Column("stream", Boolean, nullable=False),
    Column("edge_max", Integer),
    Column("cloud_min", Integer),
    Column("thresholds", String(64)),
    Column("propensity", Float),
    Column("reasons", JSON),
    Column("dropped", JSON),
    Column("overhead_ms", Float),
    Column("first_event_ms", Float),
    Column("latency_ms", Float),
    Column("prompt_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("usage_estimated", Boolean),
    Column("cost_usd", Money),
    Column("saved_usd", Money),
    Column("error", String(64)),
    Column("version", String(128)),
)
"""One row a request, served or not."""

comparisons = Table(
    "comparisons",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("request_id", String(64), nullable=False, index=True),
    Column("at", Moment, nullable=False, index=True),
    Column("task", String(64)),
    Column("score", Float),
    Column("p", Float),
    Column("propensity", Float, nullable=False),
    Column("edge_backend", String(128), nullable=False),
    Column("cloud_backend", String(128), nullable=False),
    Column("edge_version", String(128)),
    Column("scorer_version", String(64)),
    Column("edge_digest", String(64), nullable=False),
    Column("cloud_digest", String(64), nullable=False),
    Column("similarity", Float),
    Column("agreed", Boolean, nullable=False),
    Column("method", String(16), nullable=False),
    Column("edge_confidence", Float),
    Column("edge_ms", Float),
    Column("cloud_ms", Float),
    Column("view", LargeBinary),
    Column("head_version", String(64)),
)
"""One row a shadow comparison (R4). Digests are SHA-256 of the normalised answers; `view` is what
the adapter sees of the prompt, numbers of a fixed size, and `head_version` the head they are of."""
ADDED = (decisions.c.version, comparisons.c.view, comparisons.c.head_version)
"""Columns that older versions had not."""

audit = Table(
    "audit",
    metadata,
    Column("chain", String(16), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("entries", Text, nullable=False),
)
"""The audit trail, one row a batch: `seq` numbers its first entry, and each line of `entries` is
`seal entry`, the entry as JSON. A row for each would cost a request four times as much."""

chains = Table(
    "chains",
    metadata,
    Column("chain", String(16), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("seal", String(64), nullable=False),
    Column("at", Moment, nullable=False, index=True),
)
"""How far each chain of `audit` goes; written with each of its rows."""
