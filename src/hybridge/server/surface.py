"""The whole HTTP surface: every path, and what is there."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from hybridge.core.clock import Clock
from hybridge.server.answering import Answering
from hybridge.server.app import App
from hybridge.server.config import ServerConfig
from hybridge.server.drain import Drain
from hybridge.server.embeddings import PATH as EMBEDDINGS
from hybridge.server.embeddings import Embeddings
from hybridge.server.errors import Redact
from hybridge.server.exchange import Exchange, Response
from hybridge.server.gateway_port import GatewayPort
from hybridge.server.health import Exposition, Health
from hybridge.server.intake import Intake
from hybridge.server.models import Models
from hybridge.server.openapi.document import document
from hybridge.server.routes import Place, Routes
from hybridge.server.shapes.chat import ChatCompletions
from hybridge.server.shapes.completions import TextCompletions
from hybridge.server.shapes.messages import CountTokens, Messages
from hybridge.server.shapes.responses import Responses, ResponsesStore, ResponseState
from hybridge.server.shapes.shape import Shape
from hybridge.server.terms import Terms

Places = dict[str, Place]


def build_app(
    gateway: GatewayPort,
    config: ServerConfig,
    *,
    keys: Mapping[str, str],
    metrics: Exposition,
    redact: Redact,
    clock: Clock,
    longest_s: float = inf,
) -> App:
    """The application on top of a gateway. `keys` maps tenants to their API keys; none: open.

    `longest_s`: no request is under way for longer.
    """
    terms = Terms(config, keys)
    drain = Drain(terms, longest_s)
    intake = Intake(terms, clock)
    messages = Messages(gateway.count_tokens)
    counting = CountTokens(gateway, intake, drain, messages)
    embeddings = Embeddings(gateway, intake, drain)
    models = Models(gateway, terms, clock.now())
    places = {
        **_answers(Answering(gateway, intake, drain), messages, terms, clock),
        "/v1/messages/count_tokens": Place({"POST": counting.answer}, messages.failure),
        EMBEDDINGS: Place({"POST": embeddings.create}),
        "/v1/models": Place({"GET": models.every}),
        "/v1/models/{name}": Place({"GET": models.one}),
        **_for_machines(Health(gateway, drain, metrics)),
    }
    return App(Routes(places), drain, terms, redact, config.cors_origins)


def _answers(answering: Answering, messages: Messages, terms: Terms, clock: Clock) -> Places:
    """Where questions are answered, each in a vocabulary of its own."""
    store = ResponsesStore(clock)
    responses, state = Responses(store, clock), ResponseState(store, terms)

    def asked(shape: Shape) -> Place:
        return Place({"POST": answering.endpoint(shape)}, shape.failure)

    return {
        "/v1/chat/completions": asked(ChatCompletions()),
        "/v1/completions": asked(TextCompletions()),
        "/v1/messages": asked(messages),
        "/v1/responses": asked(responses),
        "/v1/responses/{id}/input_items": Place({"GET": state.input_items}, responses.failure),
        "/v1/responses/{id}": Place({"GET": state.one, "DELETE": state.delete}, responses.failure),
        "/v1/route": Place({"POST": answering.explain}),
    }


def _for_machines(health: Health) -> Places:
    """What needs no key."""
    return {
        "/openapi.json": Place({"GET": _described}),
        "/livez": Place({"GET": health.live}),
        "/readyz": Place({"GET": health.ready}),
        "/healthz": Place({"GET": health.backends}),
        "/metrics": Place({"GET": health.metrics}),
    }


async def _described(exchange: Exchange) -> None:
    """`GET /openapi.json`: what can be asked here, and how."""
    await exchange.respond(Response(200, document()))
