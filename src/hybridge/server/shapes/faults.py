"""What is wrong with a request, told alike in every vocabulary, by the caller's names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from hybridge.core.errors import RequestError
from hybridge.server.errors import Failure
from hybridge.server.shapes.forms import Form

UNKNOWN = "unknown_parameter"
"""The code for a field that a vocabulary does not have: it is named as the caller spelled it."""
_INNER = re.compile(r"[\[.]")


def only(said: Mapping[str, Any], known: Collection[str], where: str = "") -> None:
    """Raises `RequestError` for a member that nobody here would act on. `null` asks for nothing."""
    for name, value in said.items():
        if value is not None and name not in known:
            place = f"{where}.{name}" if where else name
            raise unsupported(place, "is not supported here", UNKNOWN)


def check_stream_options(said: Mapping[str, Any]) -> None:
    """Raises `RequestError` for options of no stream, and for padding, which is not sent here."""
    options = said.get("stream_options")
    if options is None:
        return
    if not said.get("stream"):
        why = "is only allowed together with `stream: true`"
        raise unsupported("stream_options", why, "invalid_value")
    if options.get("include_obfuscation"):
        why = "must be false: no padding is sent here"
        raise unsupported("stream_options.include_obfuscation", why)


def unsupported(where: str, why: str, code: str = "unsupported_parameter") -> RequestError:
    """The error for what is well formed, but cannot be done here."""
    return RequestError(f"`{where}` {why}", param=where, code=code)


def missing(where: str, form: Form) -> RequestError:
    """The error for what has to be there."""
    return RequestError(
        f"`{where}` is missing; it must be {form.said}",
        param=where,
        code="missing_required_parameter",
    )


def renamed(failed: Failure, names: Mapping[str, str]) -> Failure:
    """The failure by the caller's name for the field at fault; `names` has it for each field that
    the chat vocabulary, which backends speak, calls otherwise."""
    field = _INNER.split(failed.param or "", maxsplit=1)[0]
    name = names.get(field)
    if name is None or failed.code == UNKNOWN:
        return failed
    return replace(failed, param=name, message=failed.message.replace(f"`{field}`", f"`{name}`"))
