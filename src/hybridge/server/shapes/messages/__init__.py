"""Anthropic's messages, told and heard as chat completions."""

from __future__ import annotations

from hybridge.server.shapes.messages.count import CountTokens
from hybridge.server.shapes.messages.shape import Messages

__all__ = ["CountTokens", "Messages"]
