"""The parts of a message or of a tool's output: read, and told as the chat vocabulary has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from hybridge.core.errors import RequestError
from hybridge.server.shapes.faults import only, unsupported
from hybridge.server.shapes.forms import OBJECT, TEXT, is_object, one_of, wrong
from hybridge.server.shapes.images import picture_fault
from hybridge.server.shapes.responses.fields import invalid, may, member

Part = dict[str, Any]
READABLE = ("input_text", "input_image", "input_file", "input_audio")
"""Types of parts that say something to the model."""
OUTPUTS = ("output_text", "refusal")
"""Types of parts that a model has said."""
_DETAIL = one_of("auto", "low", "high", "original")
_FORMAT = one_of("mp3", "wav")
_NO_FILES = "is not supported, no files are kept here: send the content itself"


def read_parts(said: Any, where: str, kinds: Collection[str]) -> list[Part]:
    """The parts, each with what it must have. Raises `RequestError` that names the place."""
    if not isinstance(said, list) or not said:
        raise wrong(where, "a string or an array of parts", said)
    return [_part(part, f"{where}[{index}]", kinds) for index, part in enumerate(said)]


def as_content(parts: Sequence[Part]) -> str | list[Part]:
    """Parts as the content of a chat message: a string where they are one text."""
    told = [_TELL[part["type"]](part) for part in parts]
    if len(told) == 1 and told[0]["type"] == "text":
        return str(told[0]["text"])
    return told


def is_textual(part: Part) -> bool:
    """Whether every chat message can hold it."""
    return part["type"] in ("input_text", "output_text")


def _part(said: Any, where: str, kinds: Collection[str]) -> Part:
    if not is_object(said):
        raise wrong(where, "an object", said)
    kind = said.get("type")
    if kind not in kinds:
        raise invalid(f"{where}.type", f"must be one of {', '.join(kinds)}")
    # where OpenAI's cache of the prompt may end: nothing that a model reads
    kept = {name: value for name, value in said.items() if name != "prompt_cache_breakpoint"}
    return {"type": kind, **_READ[kind](kept, where)}


def _text(said: Part, where: str) -> Part:
    only(said, ("type", "text"), where)
    return {"text": member(said, "text", TEXT, where)}


def _output_text(said: Part, where: str) -> Part:
    only(said, ("type", "text", "annotations", "logprobs", "parsed"), where)
    return {"text": member(said, "text", TEXT, where), "annotations": []}


def _refusal(said: Part, where: str) -> Part:
    only(said, ("type", "refusal"), where)
    return {"refusal": member(said, "refusal", TEXT, where)}


def _image(said: Part, where: str) -> Part:
    _no_file_id(said, where)
    only(said, ("type", "image_url", "detail"), where)
    url = member(said, "image_url", TEXT, where)
    if (fault := picture_fault(url)) is not None:
        place = f"{where}.image_url"
        raise RequestError(f"`{place}` {fault}", param=place, code="invalid_image")
    return {"image_url": url, "detail": may(said, "detail", _DETAIL, where) or "auto"}


def _file(said: Part, where: str) -> Part:
    _no_file_id(said, where)
    if said.get("file_url") is not None:
        raise unsupported(f"{where}.file_url", "is not fetched here: send it as `file_data`")
    only(said, ("type", "file_data", "filename"), where)
    name = may(said, "filename", TEXT, where)
    return {"file_data": member(said, "file_data", TEXT, where)} | (
        {} if name is None else {"filename": name}
    )


def _audio(said: Part, where: str) -> Part:
    only(said, ("type", "input_audio"), where)
    held, place = member(said, "input_audio", OBJECT, where), f"{where}.input_audio"
    only(held, ("data", "format"), place)
    data, kind = member(held, "data", TEXT, place), member(held, "format", _FORMAT, place)
    return {"input_audio": {"data": data, "format": kind}}


def _no_file_id(said: Part, where: str) -> None:
    if said.get("file_id") is not None:
        raise unsupported(f"{where}.file_id", _NO_FILES)


def _as_text(part: Part) -> Part:
    return {"type": "text", "text": part["text"]}


def _as_image(part: Part) -> Part:
    detail = {} if part["detail"] == "auto" else {"detail": part["detail"]}
    return {"type": "image_url", "image_url": {"url": part["image_url"], **detail}}


def _as_file(part: Part) -> Part:
    return {"type": "file", "file": {name: part[name] for name in part if name != "type"}}


_READ: Mapping[str, Callable[[Part, str], Part]] = {
    "input_text": _text,
    "input_image": _image,
    "input_file": _file,
    "input_audio": _audio,
    "output_text": _output_text,
    "refusal": _refusal,
}
_TELL: Mapping[str, Callable[[Part], Part]] = {
    "input_text": _as_text,
    "input_image": _as_image,
    "input_file": _as_file,
    "input_audio": dict,
    "output_text": _as_text,
    "refusal": lambda part: {"type": "refusal", "refusal": part["refusal"]},
}
