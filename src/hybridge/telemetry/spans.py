"""What a span says: names, numbers and routes out of events, and nothing else (R33).

Names are those of OpenTelemetry's GenAI conventions where they have one:
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/. Neither what was said is among
them, nor reasons, the session, the model's name as its upstream or the caller gave it: any of these
may repeat a prompt.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from hybridge.core.events import AttemptFailed, Compared, Served
from hybridge.core.plan import Route
from hybridge.core.response import Usage

Attributes = dict[str, str | int | float | bool]
OPERATION, MODEL, PROVIDER = "gen_ai.operation.name", "gen_ai.request.model", "gen_ai.provider.name"
BACKEND, FAILURE = "hybridge.backend", "error.type"


class Described(Struct, frozen=True):
    """A backend as the configuration has it."""

    provider: str
    """In the conventions' words, where they have one."""
    model: str


Backends = Mapping[str, Described]

_PROVIDERS = {
    "azure": "azure.ai.openai",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}


def described(provider: str, model: str) -> Described:
    """From the words of our provider table."""
    return Described(_PROVIDERS.get(provider, provider), model)


def of_request(served: Served) -> Attributes:
    """The whole of it, as the caller saw it."""
    found = _known(
        {
            "hybridge.request_id": served.request_id,
            "hybridge.tenant": served.tenant,
            "hybridge.route": served.route and served.route.value,
            "hybridge.tier": served.tier and served.tier.value,
            BACKEND: served.backend,
            "hybridge.confidence": served.confidence,
            "hybridge.degraded": served.degraded,
            "hybridge.clearance": served.clearance.value,
            "hybridge.left_device": bool(served.exits),
            "hybridge.overhead_ms": served.overhead_ms,
            "hybridge.first_event_ms": served.first_event_ms,
            "hybridge.cost_usd": None if served.cost_usd is None else float(served.cost_usd),
            "hybridge.saved_usd": None if served.saved_usd is None else float(served.saved_usd),
            OPERATION: served.operation,
            FAILURE: served.error,
        }
    )
    if served.plan is not None and served.plan.score is not None:
        found["hybridge.score"] = served.plan.score.value
        found["hybridge.scorer"] = served.plan.score.version
    return found


def of_answer(served: Served, backend: str, backends: Backends) -> Attributes:
    """The call that answered, or broke off."""
    first_ms = served.first_event_ms
    wait_s = None if first_ms is None else (first_ms - served.overhead_ms) / 1000
    return _of_call(served.operation, backend, backends) | _known(
        {
            "gen_ai.request.stream": served.stream or None,
            "gen_ai.response.time_to_first_chunk": wait_s if served.stream else None,
            FAILURE: served.error,
            **({} if served.usage is None else _of_usage(served.usage)),
        }
    )


def of_failure(failed: AttemptFailed, operation: str, backends: Backends) -> Attributes:
    """One call that came to nothing."""
    return _of_call(operation, failed.backend, backends) | {FAILURE: failed.fault.value}


def of_comparison(compared: Compared) -> Attributes:
    """A shadow comparison."""
    return _known(
        {
            "hybridge.agreed": compared.agreed,
            "hybridge.method": compared.method,
            "hybridge.similarity": compared.similarity,
            "hybridge.task": compared.task,
            "hybridge.edge_backend": compared.edge_backend,
            "hybridge.cloud_backend": compared.cloud_backend,
            "hybridge.edge_confidence": compared.edge_confidence,
            "hybridge.edge_ms": compared.edge_ms,
            "hybridge.cloud_ms": compared.cloud_ms,
        }
    )


def answered_by(served: Served) -> str | None:
    """The backend that was asked in the end; None where the answer was there already."""
    return None if served.route is Route.CACHE else served.backend


def _of_usage(usage: Usage) -> Attributes:
    found: Attributes = {
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "hybridge.usage_estimated": usage.estimated,
    }
    if usage.cached_tokens:
        found["gen_ai.usage.cache_read.input_tokens"] = usage.cached_tokens
    return found


def _of_call(operation: str, backend: str, backends: Backends) -> Attributes:
    found: Attributes = {OPERATION: operation, BACKEND: backend}
    known = backends.get(backend)
    if known is not None:
        found |= {PROVIDER: known.provider, MODEL: known.model}
    return found


def _known(values: Mapping[str, str | float | bool | None]) -> Attributes:
    return {key: value for key, value in values.items() if value is not None}
