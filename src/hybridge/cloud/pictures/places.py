"""Where pictures stand in a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct


class Place(Struct, frozen=True):
    """One picture that is not in the request itself."""

    param: str
    """The field that holds its address."""
    url: str


def places(body: Mapping[str, Any]) -> list[Place]:
    """All pictures of a chat-completions body, in whichever message, that are no data URI."""
    return [
        Place(f"messages[{i}].content[{j}].image_url{'' if isinstance(held, str) else '.url'}", url)
        for i, message in enumerate(_list(body.get("messages")))
        for j, held in _held(message)
        if (url := _url(held)) is not None and url[:5].lower() != "data:"
    ]


def inlined(body: Mapping[str, Any], uris: Mapping[str, str]) -> dict[str, Any]:
    """A copy of the body with each URL replaced; what is not replaced is shared with the body."""
    return {**body, "messages": [_message(message, uris) for message in body["messages"]]}


def _message(message: Any, uris: Mapping[str, str]) -> Any:
    if not any(_url(held) in uris for _, held in _held(message)):
        return message
    return {**message, "content": [_part(part, uris) for part in message["content"]]}


def _part(part: Any, uris: Mapping[str, str]) -> Any:
    held = _held_by(part)
    uri = uris.get(_url(held) or "")
    if uri is None:
        return part
    return {**part, "image_url": uri if isinstance(held, str) else {**held, "url": uri}}


def _held(message: Any) -> Iterator[tuple[int, Any]]:
    """The pictures of one message, each with its part's index."""
    content = message.get("content") if isinstance(message, dict) else None
    for index, part in enumerate(_list(content)):
        held = _held_by(part)
        if held is not None:
            yield index, held


def _held_by(part: Any) -> Any:
    is_picture = isinstance(part, dict) and part.get("type") == "image_url"
    return part.get("image_url") if is_picture else None


def _url(held: Any) -> str | None:
    """Some callers write the URL itself where an object with a `url` belongs."""
    url = held.get("url") if isinstance(held, dict) else held
    return url if isinstance(url, str) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
