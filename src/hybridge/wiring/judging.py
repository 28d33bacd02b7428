"""The judge of comparisons, where one is configured."""

from __future__ import annotations

from collections.abc import Mapping
from random import SystemRandom

from hybridge.core.errors import ConfigError
from hybridge.gateway.judging import CloudJudge
from hybridge.learning.config import LearningConfig
from hybridge.privacy.guard import Guard
from hybridge.wiring.lasting import Lasting
from hybridge.wiring.row import Row


def cloud_judge(
    learning: LearningConfig, rows: Mapping[str, Row], guard: Guard, lasting: Lasting
) -> CloudJudge | None:
    """None where there is none. Raises `ConfigError` where no budget could count it."""
    config = learning.judge
    if config is None:
        return None
    row = rows[config.backend]
    price = lasting.books.counted(row.backend.spec.price)
    if price is None:
        raise ConfigError(
            f"learning.judge.backend: no price is known for `{row.backend.spec.model}`, so no "
            f"budget can count it; give `{config.backend}` a `price` (0 where it costs nothing)"
        )
    return CloudJudge(
        row.backend,
        price,
        lasting.books,
        guard,
        refusal=row.breaker.refusal,
        timeout_s=config.timeout_s,
        events=lasting.events,
        clock=lasting.clock,
        random=SystemRandom(),
    )
