"""Taking personal data out of what people read: logs above all (R33)."""

from __future__ import annotations

from hybridge.privacy.examine import Detect
from hybridge.privacy.finding import Level
from hybridge.privacy.scan import detect

WITHHELD = "[withheld: the privacy check failed]"


def masked(text: str, detect: Detect = detect) -> str:
    """The text with each value replaced by its type in brackets, `[PHONE]`.

    Nothing in this house writes a caller's words anywhere; this is for the words of others, such as
    an exception of a library that quotes what it could not read. Never raises.
    """
    try:
        found = [finding for finding in detect(text) if finding.level is not Level.LOW]
    except Exception:  # whatever breaks: unexamined is as good as private
        return WITHHELD
    parts, at = list[str](), 0
    for finding in found:
        parts += (text[at : finding.start], f"[{finding.type}]")
        at = finding.end
    return "".join((*parts, text[at:])) if found else text
