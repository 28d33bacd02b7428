"""Content blocks, read, and told as the content parts of a chat message."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hybridge.core.errors import RequestError
from hybridge.server.shapes.faults import only, unsupported
from hybridge.server.shapes.forms import is_object, is_text, one_of, wrong
from hybridge.server.shapes.images import TYPES, picture_fault
from hybridge.server.shapes.messages.fields import TEXT_OR_BLOCKS, at

Part = dict[str, Any]

_EVERYWHERE = ("type", "cache_control")
_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "citations"),
    "image": ("source",),
    "document": ("source", "title", "context", "citations"),
    "search_result": ("source", "title", "content", "citations"),
    "tool_use": ("id", "name", "input", "caller"),
    "tool_result": ("tool_use_id", "content", "is_error"),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
}
"""What a block of each type may hold. The citations of a text block tell where an earlier answer
came from, and say nothing to a model."""
READABLE = ("text", "image", "document", "search_result")
"""Types that `parts` can tell."""
_PICTURE = one_of(*TYPES)
_INLINE = ("text", "image")


class Block(Struct, frozen=True):
    """One block, and its path in the request."""

    kind: str
    said: Mapping[str, Any]
    where: str

    def text(self, member: str, *, optional: bool = False) -> str:
        """A string in it; empty where it is optional and not there. Raises `RequestError`."""
        value = self.said.get(member)
        if optional and value is None:
            return ""
        if not is_text(value):
            raise wrong(at(self.where, member), "a string", value)
        return str(value)

    def name(self, member: str) -> str:
        """A string that must not be empty. Raises `RequestError`."""
        value = self.text(member)
        if not value:
            raise wrong(at(self.where, member), "a string that is not empty", value)
        return value

    def object(self, member: str) -> Mapping[str, Any]:
        """An object in it. Raises `RequestError`."""
        value = self.said.get(member)
        if not isinstance(value, dict):
            raise wrong(at(self.where, member), "an object", value)
        return value


def read_blocks(content: Any, where: str, kinds: Collection[str]) -> list[Block]:
    """The blocks of a content of these types; a string is one block of text.

    Raises `RequestError` that names the place.
    """
    if is_text(content):
        return [Block("text", {"text": content}, where)]
    if not isinstance(content, list):
        raise wrong(where, TEXT_OR_BLOCKS.said, content)
    return [_block(said, at(where, index), kinds) for index, said in enumerate(content)]


def parts(block: Block) -> list[Part]:
    """The block as content parts: text, pictures, files. Nothing in it is lost."""
    match block.kind:
        case "text":
            return [_text(block.text("text"))]
        case "image":
            return [_image(_source(block))]
        case "search_result":
            return [_search_result(block)]
    return list(_document(block))


def content(told: Sequence[Part]) -> str | list[Part]:
    """Text alone becomes one string, which every server takes; its pieces are joined by line
    breaks, as servers join them that take several."""
    if all(part["type"] == "text" for part in told):
        return "\n".join(part["text"] for part in told)
    return list(told)


def _block(said: Any, where: str, kinds: Collection[str]) -> Block:
    if not is_object(said):
        raise wrong(where, "an object", said)
    kind = said.get("type")
    if not is_text(kind) or kind not in kinds:
        raise wrong(at(where, "type"), one_of(*kinds).said, kind)
    only(said, (*_EVERYWHERE, *_MEMBERS[kind]), where)
    return Block(kind, said, where)


def _source(block: Block) -> Block:
    """The source of a block, read as a block of its own."""
    said, where = block.object("source"), at(block.where, "source")
    kind = said.get("type")
    if not is_text(kind):
        raise wrong(at(where, "type"), "a string", kind)
    return Block(str(kind), said, where)


def _image(source: Block) -> Part:
    if source.kind == "base64":
        kind, data = source.text("media_type"), source.text("data")
        if not _PICTURE.fits(kind):
            raise wrong(at(source.where, "media_type"), _PICTURE.said, kind)
        url, member = f"data:{kind};base64,{data}", "data"
    elif source.kind == "url":
        url, member = source.text("url"), "url"
    else:
        raise _no_files(source, "base64 or url")
    fault = picture_fault(url)
    if fault is not None:
        where = at(source.where, member)
        raise RequestError(f"`{where}` {fault}", param=where, code="invalid_image")
    return {"type": "image_url", "image_url": {"url": url}}


def _document(block: Block) -> Iterator[Part]:
    _no_citations(block)
    title, context = block.text("title", optional=True), block.text("context", optional=True)
    source = _source(block)
    match source.kind:
        case "base64":
            yield from _texts(context)
            yield _pdf(source, title or "document")
        case "text":
            yield from _texts("\n".join(filter(None, (title, context, source.text("data")))))
        case "content":
            yield from _texts("\n".join(filter(None, (title, context))))
            where = at(source.where, "content")
            for inner in read_blocks(source.said.get("content"), where, _INLINE):
                yield from parts(inner)
        case _:
            raise _no_files(source, "base64, text or content")


def _pdf(source: Block, title: str) -> Part:
    kind, data = source.text("media_type"), source.name("data")
    if kind != "application/pdf":
        raise wrong(at(source.where, "media_type"), "application/pdf", kind)
    name = title if title.lower().endswith(".pdf") else f"{title}.pdf"
    return {
        "type": "file",
        "file": {"filename": name, "file_data": f"data:{kind};base64,{data}"},
    }


def _search_result(block: Block) -> Part:
    _no_citations(block)
    found = read_blocks(block.said.get("content"), at(block.where, "content"), ("text",))
    return _text("\n".join((block.text("title"), block.text("source"), *map(_plain, found))))


def _plain(block: Block) -> str:
    return block.text("text")


def _texts(text: str) -> list[Part]:
    return [_text(text)] if text else []


def _text(text: str) -> Part:
    return {"type": "text", "text": text}


def _no_citations(block: Block) -> None:
    """Answers here carry no citations, so a request for them cannot be met."""
    wanted = block.said.get("citations")
    if isinstance(wanted, dict) and wanted.get("enabled"):
        raise unsupported(
            at(block.where, "citations"), "cannot be given: answers cite nothing here"
        )


def _no_files(source: Block, ways: str) -> RequestError:
    return unsupported(
        at(source.where, "type"), f"must be {ways} here: files and documents are not fetched"
    )
