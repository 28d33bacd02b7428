"""The OpenAPI document, put together from the shapes' own schemas."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from hybridge._version import __version__
from hybridge.server import embeddings
from hybridge.server.openapi.shared import ERROR, MODEL, MODELS, STATUS, USAGE, ref, report
from hybridge.server.shapes.chat import schema as chat
from hybridge.server.shapes.completions import schema as completions
from hybridge.server.shapes.messages import schema as messages
from hybridge.server.shapes.responses import schema as responses

_JSON = "application/json"
_REFUSALS = {
    "400": "The request cannot be served as it is; `param` names the field.",
    "401": "No API key, or an unknown one.",
    "404": "There is no such model, or nothing of that name.",
    "408": "The request did not arrive in time.",
    "413": "The request is larger than `server.max_body_mb`.",
    "415": "The body is compressed.",
    "422": "The request may not leave this device, and nothing here can serve it.",
    "429": "A rate limit or a budget is used up; `Retry-After` says until when.",
    "502": "The upstream failed.",
    "503": "Nobody can answer now; `Retry-After` says when to try again.",
    "504": "The upstream was too slow.",
}


@cache
def document() -> bytes:
    """OpenAPI 3.1, as JSON."""
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Hybridge",
                "version": __version__,
                "description": "A hybrid inference gateway: every request runs on the model of "
                "the device, on a cloud LLM, or on both.",
            },
            "paths": _paths(),
            "components": {"schemas": _schemas(), "securitySchemes": _KEYS},
            "security": [{"bearer": []}, {"x-api-key": []}, {}],
        }
    )


_KEYS = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "x-api-key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
}


def _schemas() -> dict[str, Any]:
    return {
        **report(),
        "Error": ERROR,
        "Usage": USAGE,
        "Status": STATUS,
        "Model": MODEL,
        "Models": MODELS,
        "ChatRequest": chat.REQUEST,
        "ChatCompletion": chat.ANSWER,
        "ChatCompletionChunk": chat.CHUNK,
        "CompletionRequest": completions.REQUEST,
        "Completion": completions.ANSWER,
        "MessageRequest": messages.REQUEST,
        "Message": messages.ANSWER,
        "MessageError": messages.ERROR,
        "CountRequest": messages.COUNT_REQUEST,
        "Count": messages.COUNT,
        "EmbeddingRequest": embeddings.REQUEST,
        "Embeddings": embeddings.ANSWER,
        "ResponseRequest": responses.REQUEST,
        "Response": responses.ANSWER,
        "ResponseItems": responses.ITEMS,
        "ResponseDeleted": responses.DELETED,
    }


def _paths() -> dict[str, Any]:
    return {**_answering(), **_kept_responses(), **_models(), **_for_machines()}


def _answering() -> dict[str, Any]:
    return {
        "/v1/chat/completions": {
            "post": _asking("Answers a conversation", "ChatRequest", "ChatCompletion"),
        },
        "/v1/completions": {
            "post": _asking("Answers a prompt", "CompletionRequest", "Completion"),
        },
        "/v1/messages": {
            "post": _asking(
                "Answers a conversation, in Anthropic's words",
                "MessageRequest",
                "Message",
                error="MessageError",
            ),
        },
        "/v1/messages/count_tokens": {
            "post": _asking(
                "Estimates a prompt's tokens",
                "CountRequest",
                "Count",
                streams=False,
                error="MessageError",
            ),
        },
        "/v1/responses": {
            "post": _asking(
                "Answers, and remembers for the next turn", "ResponseRequest", "Response"
            ),
        },
        embeddings.PATH: {
            "post": _asking(
                "Turns texts into vectors", "EmbeddingRequest", "Embeddings", streams=False
            ),
        },
        "/v1/route": {
            "post": _asking(
                "Tells how a chat request would be served", "ChatRequest", "Report", streams=False
            ),
        },
    }


def _kept_responses() -> dict[str, Any]:
    return {
        "/v1/responses/{id}": {
            "parameters": [_in_path("id")],
            "get": _telling("Tells an earlier response again", "Response", 400, 401, 404),
            "delete": _telling("Forgets it", "ResponseDeleted", 401, 404),
        },
        "/v1/responses/{id}/input_items": {
            "parameters": [_in_path("id")],
            "get": _telling("What it was given to", "ResponseItems", 400, 401, 404),
        },
    }


def _models() -> dict[str, Any]:
    return {
        "/v1/models": {"get": _telling("Lists what can be named as `model`", "Models", 401)},
        "/v1/models/{name}": {
            "parameters": [_in_path("name")],
            "get": _telling("Tells about one of them", "Model", 401, 404),
        },
    }


def _for_machines() -> dict[str, Any]:
    metrics = {"200": {"description": "Metrics", "content": {"text/plain": {}}}}
    return {
        "/livez": {"get": _telling("Whether the process lives", "Status")},
        "/readyz": {"get": _status("Whether requests can be served")},
        "/healthz": {"get": _status("The same, with every backend's state")},
        "/metrics": {"get": {"summary": "Metrics for Prometheus", "responses": metrics}},
    }


def _asking(
    summary: str, request: str, answer: str, *, streams: bool = True, error: str = "Error"
) -> dict[str, Any]:
    """A path that takes a request and gives an answer, whole or as a stream of events."""
    content: dict[str, Any] = {_JSON: {"schema": ref(answer)}}
    if streams:
        content["text/event-stream"] = {}
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": {_JSON: {"schema": ref(request)}}},
        "responses": {"200": {"description": "The answer", "content": content}}
        | _refusals(*map(int, _REFUSALS), error=error),
    }


def _telling(summary: str, answer: str, *refusals: int) -> dict[str, Any]:
    content = {_JSON: {"schema": ref(answer)}}
    return {
        "summary": summary,
        "responses": {"200": {"description": "The answer", "content": content}}
        | _refusals(*refusals),
    }


def _status(summary: str) -> dict[str, Any]:
    told = {"description": "The state", "content": {_JSON: {"schema": ref("Status")}}}
    return {"summary": summary, "responses": {"200": told, "503": told}}


def _refusals(*statuses: int, error: str = "Error") -> dict[str, Any]:
    content = {_JSON: {"schema": ref(error)}}
    return {
        str(status): {"description": _REFUSALS[str(status)], "content": content}
        for status in statuses
    }


def _in_path(name: str) -> Mapping[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
