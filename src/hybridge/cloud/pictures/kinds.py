"""Which pictures are taken, and how they are known."""

from __future__ import annotations

from hybridge.cloud.pictures.errors import BadPicture

TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""What every vision model reads (source: OpenAI's and Anthropic's guides)."""
HEAD_BYTES = 12
"""Bytes that show which kind it is."""
_SERVED_AS = frozenset({*TYPES, "image/jpg"})
"""`image/jpg` is no type (RFC 2046, 4.2), but many servers believe it is."""
_SHOWN = 40
"""Characters of a wrong type that an error repeats."""


def check_served_as(content_type: bytes) -> None:
    """Raises `BadPicture` for what its server does not call a picture."""
    served = content_type.partition(b";")[0].strip().lower().decode("latin-1")
    if served not in _SERVED_AS:
        shown = "".join(c for c in served[:_SHOWN] if "!" <= c <= "~")
        what = f"as `{shown}`" if shown else "without a type"
        raise BadPicture(f"is served {what}; taken are {', '.join(TYPES)}")


def kind(head: bytes) -> str:
    """The type that the first bytes show. Raises `BadPicture` for anything else.

    Signatures: https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern
    """
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    raise BadPicture(f"holds no picture that its bytes show; taken are {', '.join(TYPES)}")
