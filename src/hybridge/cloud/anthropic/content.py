"""Parts of a message's content, as blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hybridge.cloud.dialect import NoWord

Block = dict[str, Any]
_PDF = "application/pdf"


def blocks(content: Any) -> list[Block]:
    """The blocks of a `content`, a string or parts; blank texts, which the API refuses, left out.

    Raises `NoWord` for parts that the API does not know.
    """
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    return [block for part in content or () for block in _block(part)]


def _block(part: Any) -> Iterator[Block]:
    kind = part.get("type")
    match kind:
        case "text" | "refusal":
            if (part.get(kind) or "").strip():
                yield _marked({"type": "text", "text": part[kind]}, part)
        case "image_url":
            yield _marked({"type": "image", "source": _source(part["image_url"])}, part)
        case "file":
            yield _marked(_document(part.get("file") or {}), part)
        case _:
            raise NoWord("messages", f"parts of type {kind!r}")


def _source(image: Any) -> Block:
    """The picture byte for byte, or where it lies."""
    url = image if isinstance(image, str) else str(image.get("url") or "")
    if not url.startswith("data:"):
        return {"type": "url", "url": url}
    media_type, data = _of_data_url(url)
    return {"type": "base64", "media_type": media_type, "data": data}


def _document(file: dict[str, Any]) -> Block:
    data_url = str(file.get("file_data") or "")
    media_type, data = _of_data_url(data_url) if data_url.startswith("data:") else ("", "")
    if media_type != _PDF:
        raise NoWord("messages", f"files but for `file_data` of {_PDF}")
    source = {"type": "base64", "media_type": _PDF, "data": data}
    titled = {"title": file["filename"]} if file.get("filename") else {}
    return {"type": "document", "source": source} | titled


def _of_data_url(url: str) -> tuple[str, str]:
    """Media type and data of `data:<type>;base64,<data>` (RFC 2397)."""
    head, _, data = url.removeprefix("data:").partition(",")
    media_type, _, encoding = head.partition(";")
    if encoding != "base64":
        raise NoWord("messages", "data URLs but for base64")
    return media_type, data


def _marked(block: Block, part: Any) -> Block:
    """With the caller's own mark for prompt caching, where there is one."""
    mark = part.get("cache_control")
    return block | {"cache_control": mark} if mark else block
