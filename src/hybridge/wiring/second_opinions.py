"""Second answers of the edge, where they are configured."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hybridge.execution.opinion import Terms
from hybridge.execution.second_opinion import SecondOpinions, Similarity
from hybridge.routing.config import SAMPLE, SecondOpinionConfig
from hybridge.wiring.lasting import Lasting
from hybridge.wiring.row import Row


def second_opinions(
    config: SecondOpinionConfig | None,
    rows: Mapping[str, Row],
    lasting: Lasting,
    similarity: Similarity,
    similarity_min: float,
    refusal: Callable[[str], str | None],
) -> SecondOpinions | None:
    """None where nobody is to be asked twice. `refusal`: why a backend is not to be asked now."""
    if config is None:
        return None
    terms = Terms(
        backend=None if config.by == SAMPLE else config.by,
        low=config.low,
        high=config.high,
        max_tokens=config.max_tokens,
        timeout_s=config.timeout_s,
        similarity_min=similarity_min,
    )
    return SecondOpinions(
        {name: row.backend for name, row in rows.items()},
        {name: row.breaker for name, row in rows.items()},
        lasting.judge,
        terms,
        refusal=refusal,
        similarity=similarity,
        events=lasting.events,
        clock=lasting.clock,
    )
