"""Probabilities as text completions tell them: columns, where chat has a row for each token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Offsets:
    """Where in the text of one choice its tokens lie."""

    def __init__(self) -> None:
        self._at = 0

    def told(self, logprobs: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """The next tokens; None where there are none."""
        tokens = (logprobs or {}).get("content")
        if not tokens:
            return None
        return {
            "tokens": [token["token"] for token in tokens],
            "token_logprobs": [token.get("logprob") for token in tokens],
            "top_logprobs": [_likeliest(token) for token in tokens],
            "text_offset": [self._place(token["token"]) for token in tokens],
        }

    def _place(self, token: str) -> int:
        at = self._at
        self._at += len(token)
        return at


def _likeliest(token: Mapping[str, Any]) -> dict[str, Any]:
    """The likeliest tokens, the one that was taken always among them."""
    others = {other["token"]: other.get("logprob") for other in token.get("top_logprobs") or ()}
    return others | {token["token"]: token.get("logprob")}
