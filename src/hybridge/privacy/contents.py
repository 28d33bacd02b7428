"""Every string of a request that could leave the device, and where in the request it stands."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from hybridge.core.request import Request
from hybridge.privacy.view import BOUNDARY

_ORDINARY = frozenset(
    {
        *("content", "description", "function", "image_url", "parameters", "properties", "role"),
        *("text", "tool_calls", "type", "url"),
    }
)
"""Keys of the wire format that give no context to what stands under them."""
_PLACES = frozenset(
    {
        *("functions", "input", "messages", "metadata", "prediction", "prompt"),
        *("response_format", "stop", "tools", "user"),
    }
)
"""Top-level members that reasons may name; other keys are the caller's own words."""
_NUMBER_FROM = 10**6
"""Smaller integers hold nobody's number."""

_DATA_URL = re.compile(
    r"data:([A-Za-z0-9.+\-]{0,40}/?[A-Za-z0-9.+\-]{0,60})(?:;[A-Za-z0-9.+\-]{1,40}=[^;,\s]{0,80}){0,4}"
    r";base64,([A-Za-z0-9+/=_\-]+)"
)
_MEDIA = ("image/", "audio/", "video/", "font/")
_BLOB = re.compile(r"[A-Za-z0-9+/_\-\r\n]+={0,2}")
_BLOB_FROM = 2048
"""Characters from which a string without a single space is looked upon as an attachment."""
_BLANK = "_"


class Piece(Struct, frozen=True, gc=False):
    """One string."""

    place: str
    """The top-level member that holds it, with its index: `messages[2]`, `tools[0]`, `metadata`."""
    text: str
    key: bool = False
    """Whether it is a key, and so the context of the string after it."""


class Readable(Struct, frozen=True):
    """What of some pieces can be read."""

    pieces: Sequence[Piece]
    """Attachments are blanked in place; what is text in them comes as pieces of its own."""
    unread: int
    """Attachments that no detector can look into."""


def contents(request: Request) -> list[Piece]:
    """All strings and long numbers of the body: turns, tools, arguments, names, metadata, keys."""
    found: list[Piece] = []
    for member, value in request.body.items():
        place = member if member in _PLACES else "body"
        if isinstance(value, list):
            for index, item in enumerate(value):
                _gather(item, f"{place}[{index}]", found)
        elif not isinstance(value, int | float):  # max_tokens, seed, temperature
            found.append(Piece(place, member, key=True))
            _gather(value, place, found)
    if "messages" not in request.body:
        found += (Piece(f"messages[{i}]", said.text) for i, said in enumerate(request.messages))
    return found


def plain_text(request: Request) -> str | None:
    """The same strings in one, as `examine` joins them; None for a request that is not a short one
    of plain turns, whose pieces are to be looked at one by one.

    Nearly every request is, and nearly every one holds nothing: then no piece is ever needed.
    """
    body, parts = request.body, list[str]()
    if "messages" not in body:
        return None
    for member, value in body.items():
        if isinstance(value, str):
            parts.append(f"{member}: {value}{BOUNDARY}")
        elif isinstance(value, list):
            for item in value:
                if not isinstance(item, dict) or not _put_flat(item, parts):
                    return None
        elif not isinstance(value, int | float):
            return None
    text = "".join(parts)
    ends = sum([part[-1] == BOUNDARY for part in parts])
    return text if _is_plain(text) and text.count(BOUNDARY) == ends else None


def _put_flat(item: dict[str, Any], parts: list[str]) -> bool:
    """False where it is not flat."""
    for key, value in item.items():
        if key not in _ORDINARY:
            parts.append(f"{key}: ")
        if isinstance(value, str):
            parts.append(value + BOUNDARY)
        elif value is not None:
            return False
    return True


def readable(pieces: list[Piece]) -> Readable:
    """Takes attachments out: media as they are, text files and JSON arguments decoded."""
    if _are_plain(pieces):
        return Readable(pieces, 0)
    read: list[Piece] = []
    unread = 0
    for piece in pieces:
        attached = _attachments(piece)
        decoded = [text for text in attached if text is not None]
        unread += len(attached) - len(decoded)
        read.append(Piece(piece.place, _blanked(piece.text), piece.key) if attached else piece)
        for text in decoded:
            _gather(text, piece.place, read)
        _gather_escaped(piece, read)
    return Readable(read, unread)


def _are_plain(pieces: list[Piece]) -> bool:
    """Whether there is nothing to take out: true of nearly every request, so it is asked first."""
    return _is_plain("".join([piece.text for piece in pieces]))


def _is_plain(text: str) -> bool:
    return len(text) < _BLOB_FROM and "base64," not in text and "\\u" not in text


def _gather(value: Any, place: str, found: list[Piece]) -> None:
    """The strings in a value, in order; nearly always it is a flat object, or a string itself."""
    if not isinstance(value, dict):
        _gather_deep(value, place, found)
        return
    for key, item in value.items():
        if key not in _ORDINARY:
            found.append(Piece(place, str(key), key=True))
        if isinstance(item, str):
            found.append(Piece(place, item))
        elif item is not None:
            _gather_deep(item, place, found)


def _gather_deep(value: Any, place: str, found: list[Piece]) -> None:
    """Depth first, without recursion: how deep a request nests is the caller's choice."""
    stack: list[Any] = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            found.append(Piece(place, value))
        elif isinstance(value, Piece):
            found.append(value)
        elif isinstance(value, dict):
            for key, item in reversed(value.items()):
                stack.append(item)
                if key not in _ORDINARY:
                    stack.append(Piece(place, str(key), key=True))
        elif isinstance(value, list | tuple):
            stack.extend(reversed(value))
        elif isinstance(value, int | float) and abs(value) >= _NUMBER_FROM:
            found.append(Piece(place, f"{value:.0f}" if isinstance(value, float) else str(value)))


def _attachments(piece: Piece) -> list[str | None]:
    """Each attachment in the string: its text, or None where it is none."""
    if "base64," in piece.text:
        return [
            None if match[1].startswith(_MEDIA) else _text(match[2])
            for match in _DATA_URL.finditer(piece.text)
        ]
    if len(piece.text) >= _BLOB_FROM and _BLOB.fullmatch(piece.text):
        return [_text(piece.text)]
    return []


def _blanked(text: str) -> str:
    """The string with its attachments crossed out, as long as before."""
    if "base64," not in text:
        return _BLANK * len(text)
    return _DATA_URL.sub(lambda match: _BLANK * len(match.group()), text)


def _text(payload: str) -> str | None:
    plain = payload.translate({ord("-"): "+", ord("_"): "/", ord("\r"): None, ord("\n"): None})
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _gather_escaped(piece: Piece, found: list[Piece]) -> None:
    """Tool arguments are JSON in a string, where every letter may hide as \\uXXXX."""
    if "\\u" in piece.text and piece.text.lstrip()[:1] in ("{", "["):
        try:
            arguments = msgspec.json.decode(piece.text)
        except (msgspec.DecodeError, UnicodeError):
            return
        _gather(arguments, piece.place, found)
