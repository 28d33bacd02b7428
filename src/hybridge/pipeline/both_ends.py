"""What the scorer's encoder reads of a text, as `hybridge.edge.text_graph` has it."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer

MOST_TOKENS, HALF = 128, 64
READ_CHARS = 1000
"""Of either end; the tokenizer is given no more."""


def read(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text: all of them, or the first and the last `HALF`."""
    ends = [
        text if len(text) <= 2 * READ_CHARS else f"{text[:READ_CHARS]} {text[-READ_CHARS:]}"
        for text in texts
    ]
    every = [encoding.ids for encoding in tokenizer.encode_batch_fast(ends)]
    return [ids if len(ids) <= MOST_TOKENS else ids[:HALF] + ids[-HALF:] for ids in every]
