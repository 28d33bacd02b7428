"""Weights that a real engine loads in milliseconds, and that say nothing of any sense.

A model of one layer, drawn at random: for those who exchange models and do not want to wait.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH, HEADS, INNER, CONTEXT = 32, 2, 64, 1024
_WORDS = ("▁one", "▁two", "▁red", "▁blue", "▁tree", "▁bird", "▁rain", "▁sun", "▁sea", "▁hill")
_SPECIAL = ("<unk>", "<s>", "</s>")
_NORMAL, _UNKNOWN, _CONTROL, _BYTE = 1, 2, 3, 6
_UINT32, _INT32, _FLOAT32, _STRING, _ARRAY = 4, 5, 6, 8, 9
_ALIGNMENT = 32
_TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
Tensor = NDArray[np.float32]


def tiny_gguf(path: Path, seed: int, *, mute: bool = False) -> Path:
    """Writes the weights of a seed (some 70 kB). It answers with some of a dozen words, always as
    many as it may; `mute` weights answer with nothing that can be read."""
    tensors, place, heads = list(_tensors(seed)), 0, b""
    for name, tensor in tensors:
        shape = tensor.shape[::-1]
        heads += (
            _text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        )
        heads += struct.pack("<IQ", 0, place)
        place += _padded(tensor.nbytes)
    members = _members(mute=mute)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(members))
    head += b"".join(_text(key) + value for key, value in members.items()) + heads
    with path.open("wb") as file:
        file.write(head.ljust(_padded(len(head)), b"\0"))
        for _, tensor in tensors:
            file.write(tensor.tobytes().ljust(_padded(tensor.nbytes), b"\0"))
    return path


def _members(*, mute: bool) -> Mapping[str, bytes]:
    tokens = [*_SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), *_WORDS]
    word = _CONTROL if mute else _NORMAL
    types = [_UNKNOWN, _CONTROL, _CONTROL, *[_BYTE] * 256, *[word] * len(_WORDS)]
    numbers = {
        "context_length": CONTEXT,
        "embedding_length": WIDTH,
        "block_count": 1,
        "feed_forward_length": INNER,
        "attention.head_count": HEADS,
        "rope.dimension_count": WIDTH // HEADS,
        "vocab_size": len(tokens),
    }
    return {
        "general.architecture": _value(_STRING, "llama"),
        **{f"llama.{key}": _value(_UINT32, number) for key, number in numbers.items()},
        "llama.attention.layer_norm_rms_epsilon": _value(_FLOAT32, 1e-5),
        "tokenizer.ggml.model": _value(_STRING, "llama"),
        "tokenizer.ggml.tokens": _array(_STRING, tokens),
        "tokenizer.ggml.scores": _array(_FLOAT32, [0.0] * len(tokens)),
        "tokenizer.ggml.token_type": _array(_INT32, types),
        "tokenizer.ggml.unknown_token_id": _value(_UINT32, 0),
        "tokenizer.ggml.bos_token_id": _value(_UINT32, 1),
        "tokenizer.ggml.eos_token_id": _value(_UINT32, 2),
        "tokenizer.chat_template": _value(_STRING, _TEMPLATE),
    }


def _tensors(seed: int) -> Iterator[tuple[str, Tensor]]:
    draw, vocabulary = np.random.default_rng(seed), len(_SPECIAL) + 256 + len(_WORDS)

    def drawn(rows: int, columns: int) -> Tensor:
        return draw.normal(0, columns**-0.5, (rows, columns)).astype(np.float32)

    half = 8 * drawn(len(_WORDS) // 2, WIDTH)
    output = np.zeros((vocabulary, WIDTH), np.float32)
    output[-len(_WORDS) :] = np.concatenate([half, -half])  # one of each pair is always likely
    yield "token_embd.weight", drawn(vocabulary, WIDTH)
    yield "output_norm.weight", np.ones(WIDTH, np.float32)
    yield "output.weight", output
    for name in ("attn_norm", "ffn_norm"):
        yield f"blk.0.{name}.weight", np.ones(WIDTH, np.float32)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        yield f"blk.0.{name}.weight", drawn(WIDTH, WIDTH)
    for name in ("ffn_gate", "ffn_up"):
        yield f"blk.0.{name}.weight", drawn(INNER, WIDTH)
    yield "blk.0.ffn_down.weight", drawn(WIDTH, INNER)


def _value(kind: int, value: Any) -> bytes:
    return struct.pack("<I", kind) + _bare(kind, value)


def _array(kind: int, values: list[Any]) -> bytes:
    head = struct.pack("<IIQ", _ARRAY, kind, len(values))
    return head + b"".join(_bare(kind, value) for value in values)


def _bare(kind: int, value: Any) -> bytes:
    if kind == _STRING:
        return _text(value)
    return struct.pack({_UINT32: "<I", _INT32: "<i", _FLOAT32: "<f"}[kind], value)


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
