"""A sentence encoder in a folder: `model.onnx` and `tokenizer.json`, as the hub has them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import onnxruntime as ort
from msgspec import Struct
from tokenizers import Tokenizer

from hybridge.core.embedding import Vectors
from hybridge.core.errors import ModelError
from hybridge.edge.embedder_config import SHIPPED, EmbedderConfig, Pooling
from hybridge.edge.encoder import MEANING
from hybridge.edge.sessions import available, session_options

MAX_TOKENS = 512
"""Where a folder does not say how much its model reads."""
CHARS_PER_TOKEN = 20
"""Of a text with more characters for each token that can be read, only so many are looked at, as
long as they show that it is too long: a megabyte takes the tokenizer a second."""
_POOLED = ("sentence_embedding", "text_embeds")
_PER_TOKEN = ("last_hidden_state", "token_embeddings")
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_UNKNOWN = ("[UNK]", "<unk>")
_TINY = 1e-12


class Reading(Struct, frozen=True):
    """A text as the model would read it."""

    ids: tuple[int, ...]
    """Token ids, the model's own marks included."""
    content: int
    """How many of them stand for the text itself."""
    unknown: int
    """How many of those mean nothing to the model."""
    estimated: int | None = None
    """Tokens of a text that was not read to its end, for it is far too long."""

    @property
    def tokens(self) -> int:
        return self.estimated or len(self.ids)


class SentenceModel:
    """Blocking: it belongs in a thread. One may be shared by several."""

    def __init__(
        self,
        session: ort.InferenceSession,
        tokenizer: Tokenizer,
        *,
        max_tokens: int,
        pooling: Pooling = "mean",
        prefix: str = "",
    ) -> None:
        """Raises `ModelError` for a graph that is no text encoder."""
        self.max_tokens = max_tokens
        self._session = session
        self._tokenizer = tokenizer
        self._pooling = pooling
        self._prefix = prefix
        self._inputs = {
            i.name: np.int32 if "int32" in i.type else np.int64 for i in _inputs(session)
        }
        self._output = _output(session)
        self._pad = int((tokenizer.padding or {}).get("pad_id", 0))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        tokenizer.encode_special_tokens = True  # `[SEP]` in a text is a text's
        found = (tokenizer.token_to_id(name) for name in _UNKNOWN)
        self._unknown = next((token for token in found if token is not None), None)
        self._frame = len(tokenizer.encode(prefix).ids)
        self.dimensions = self.run([self.read(["warm"])[0].ids]).shape[1]

    @classmethod
    def load(cls, row: EmbedderConfig) -> Self:
        """The model of a row: the shipped one, or its folder's. Raises `ModelError` that says what
        is missing."""
        model, tokenizer = files(row)
        told = _SHIPPED if row.model == SHIPPED else _told(tokenizer.parent)
        if row.max_tokens and told.positions and row.max_tokens > told.positions:
            raise ModelError(f"{model} reads {told.positions} tokens at most: lower max_tokens")
        try:
            providers = available()
            session = ort.InferenceSession(
                str(model), session_options(row.threads, providers[0]), providers=providers
            )
            words = Tokenizer.from_file(str(tokenizer))
        except Exception as error:  # the two libraries raise classes of their own
            raise ModelError(f"{model} cannot be loaded: {error}") from error
        return cls(
            session,
            words,
            max_tokens=row.max_tokens or told.max_tokens,
            pooling=row.pooling or told.pooling,
            prefix=row.prefix,
        )

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """The texts as the model sees them. Costs little; releases the interpreter's lock."""
        most = CHARS_PER_TOKEN * self.max_tokens
        # Half a surrogate pair is no text; the tokenizer would refuse it.
        whole = [text.encode(errors="replace").decode() for text in texts]
        found = self._read([text[:most] for text in whole])
        for index, text in enumerate(whole):
            if len(text) > most:
                seen = len(found[index].ids)
                if seen > self.max_tokens:
                    about = seen * len(text) // most
                    found[index] = Reading((), seen, 0, estimated=about)
                else:
                    (found[index],) = self._read([text])
        return found

    def run(
        self, texts: Sequence[tuple[int, ...]], options: ort.RunOptions | None = None
    ) -> Vectors:
        """Vectors of unit length, `(texts, dimensions)`, of texts that were read."""
        longest = max(map(len, texts))
        ids = np.full((len(texts), longest), self._pad, np.int64)
        mask = np.zeros_like(ids)
        for index, tokens in enumerate(texts):
            ids[index, : len(tokens)] = tokens
            mask[index, : len(tokens)] = 1
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: known[name].astype(kind, copy=False) for name, kind in self._inputs.items()}
        output: Any = self._session.run([self._output], feed, options)[0]
        pooled = output if output.ndim == 2 else self._pool(output, mask)
        length = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.ascontiguousarray(pooled / np.maximum(length, _TINY), np.float32)

    def _read(self, texts: Sequence[str]) -> list[Reading]:
        encodings = self._tokenizer.encode_batch_fast([self._prefix + text for text in texts])
        return [self._reading(encoding.ids) for encoding in encodings]

    def _reading(self, ids: list[int]) -> Reading:
        unknown = 0 if self._unknown is None else ids.count(self._unknown)
        return Reading(tuple(ids), len(ids) - self._frame, unknown)

    def _pool(self, output: Any, mask: Any) -> Any:
        if self._pooling == "cls":
            return output[:, 0]
        weights = mask[:, :, None].astype(output.dtype)
        return (output * weights).sum(axis=1) / weights.sum(axis=1)


class _Told(Struct, frozen=True):
    """What a folder says of its model."""

    max_tokens: int = MAX_TOKENS
    """What the model is made for."""
    positions: int | None = None
    """What it can read at all."""
    pooling: Pooling = "mean"


_SHIPPED = _Told(max_tokens=256, positions=512)
"""From the model card of all-MiniLM-L6-v2."""


def files(row: EmbedderConfig) -> tuple[Path, Path]:
    """The graph, and the tokenizer in the same folder or in the one above. Raises `ModelError`."""
    if row.model == SHIPPED:
        return MEANING / "encoder.onnx", MEANING / "tokenizer.json"
    place = Path(row.model)
    if place.suffix == ".onnx":
        models = [place]
    else:
        models = [place / "model.onnx", place / "onnx" / "model.onnx"]
    model = next((path for path in models if path.is_file()), None)
    if model is None:
        raise ModelError(f"there is no {models[0]}: a folder with model.onnx and tokenizer.json")
    for folder in (model.parent, model.parent.parent):
        if (folder / "tokenizer.json").is_file():
            return model, folder / "tokenizer.json"
    raise ModelError(f"there is no tokenizer.json beside {model}")


def _told(folder: Path) -> _Told:
    """From sentence-transformers' own files; each may be missing."""
    limit = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    positions = _json(folder / "config.json").get("max_position_embeddings")
    pooling = _json(folder / "1_Pooling" / "config.json")
    longest = positions if isinstance(positions, int) and positions > 0 else None
    usual = min(MAX_TOKENS, longest or MAX_TOKENS)
    return _Told(
        max_tokens=limit if isinstance(limit, int) and limit > 0 else usual,
        positions=longest,
        pooling="cls" if pooling.get("pooling_mode_cls_token") is True else "mean",
    )


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{path} is not JSON: {error}") from error
    return said if isinstance(said, dict) else {}


def _inputs(session: ort.InferenceSession) -> Sequence[Any]:
    wanted: Sequence[Any] = session.get_inputs()
    strange = {i.name for i in wanted} - _INPUTS
    if strange or not wanted:
        known, found = ", ".join(sorted(_INPUTS)), ", ".join(sorted(strange)) or "nothing"
        raise ModelError(f"a text encoder takes {known}; this graph wants {found}")
    return wanted


def _integers(kind: str) -> type[np.signedinteger[Any]]:
    return np.int32 if kind == "tensor(int32)" else np.int64


def _output(session: ort.InferenceSession) -> str:
    names: list[str] = [output.name for output in session.get_outputs()]
    return next((name for name in (*_POOLED, *_PER_TOKEN) if name in names), names[0])
