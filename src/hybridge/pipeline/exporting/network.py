"""A loaded network with one output, and its graph. Needs the extra `export`."""

from __future__ import annotations

import ast
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import onnx
import torch
import transformers
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from hybridge.core.errors import ModelError
from hybridge.pipeline.exporting.folder import Dense, Described

OPSET = 18
"""What PyTorch's exporter writes without a conversion."""
OUTPUTS = {"encoder": "sentence_embedding", "classifier": "logits"}
"""An output called `embedding` makes an invalid graph."""
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class Network(nn.Module):
    """Token ids in, one vector or the logits out."""

    def __init__(self, model: nn.Module, told: Described) -> None:
        super().__init__()
        self.model = model
        self.dense = nn.Sequential(*chain.from_iterable(map(_layers, told.dense)))
        self.told = told

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> Tensor:
        """All of shape `(batch, tokens)`, whole numbers; gives `(batch, width)`."""
        more = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        said = self.model(input_ids=input_ids, attention_mask=attention_mask, **more)
        if self.told.kind == "classifier":
            return said.logits
        states = said.last_hidden_state
        if self.told.pooling == "cls":
            pooled = states[:, 0]
        else:
            mask = attention_mask.unsqueeze(-1).to(states.dtype)
            pooled = (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        led = self.dense(pooled)
        return nn.functional.normalize(led, p=2.0, dim=1) if self.told.unit else led

    def rows(self, ids: Sequence[Sequence[int]], inputs: Sequence[str], pad: int) -> Any:
        """PyTorch's own answer for padded token ids, as an array."""
        longest = max(map(len, ids))
        padded = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in ids])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids])
        known = {"input_ids": padded, "attention_mask": mask, "token_type_ids": padded * 0}
        with torch.no_grad():
            return self(**{name: known[name] for name in inputs}).numpy()


def _layers(dense: Dense) -> Iterator[nn.Module]:
    """A linear layer with its weights, and its activation. Raises `ModelError`."""
    path = dense.folder / "model.safetensors"
    try:
        weights = load_file(path)
        weight, bias = weights["linear.weight"], weights.get("linear.bias")
        layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
        layer.load_state_dict({"weight": weight} | ({} if bias is None else {"bias": bias}))
    except (OSError, KeyError, RuntimeError, SafetensorError) as error:
        raise ModelError(f"{path} holds no dense layer: {error}") from error
    yield layer
    if dense.activation == "Tanh":
        yield nn.Tanh()


def load(folder: Path, told: Described) -> Network:
    """In 32 bits and evaluation mode. No code of the folder is run. Raises `ModelError`."""
    kind = (
        transformers.AutoModelForSequenceClassification
        if told.kind == "classifier"
        else transformers.AutoModel
    )
    try:
        with quiet():
            model, report = kind.from_pretrained(
                folder,
                dtype=torch.float32,
                attn_implementation="eager",
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
    except Exception as error:  # transformers raises whatever its parts do
        raise ModelError(f"{folder} cannot be loaded: {error}") from error
    missing = sorted(name for name in report["missing_keys"] if "pooler." not in name)
    if missing:
        raise ModelError(f"{folder} lacks {len(missing)} weights, {missing[0]} among them")
    return Network(model, told).eval()


def inputs(folder: Path, told: Described) -> tuple[str, ...]:
    """What the graph takes. The second of two texts has a type of its own for classifiers alone;
    the gateway gives encoders one text."""
    if told.kind == "encoder":
        return INPUTS[:2]
    with quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return INPUTS if "token_type_ids" in tokenizer.model_input_names else INPUTS[:2]


def write(network: Network, names: Sequence[str], path: Path) -> None:
    """The graph with free batch and length, its nodes named by the layer. Raises `ModelError`."""
    ids = torch.randint(5, 50, (2, 16))
    example = {name: ids if name == "input_ids" else torch.ones_like(ids) for name in names}
    if "token_type_ids" in example:
        example["token_type_ids"] = torch.zeros_like(ids)
    try:
        with quiet():
            torch.onnx.export(
                network,
                (),
                str(path),
                kwargs=example,
                input_names=list(names),
                output_names=[OUTPUTS[network.told.kind]],
                dynamic_shapes={name: {0: "batch", 1: "tokens"} for name in names},
                opset_version=OPSET,
                dynamo=True,
                external_data=False,
                verbose=False,
            )
    except Exception as error:  # the exporter's own, and the model's
        raise ModelError(f"PyTorch's exporter failed: {_reason(error)}") from error
    graph = onnx.load(path)
    _rename(graph)
    onnx.save(graph, path)


def _reason(error: BaseException) -> str:
    """The first failure in the chain, in one line; what stands above it is general advice."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(f"{type(error).__name__}: {error}".split())[:400]


def _rename(graph: onnx.ModelProto) -> None:
    """`node_MatMul_95` becomes `encoder.layer.0.attention.self.query/MatMul`."""
    taken: set[str] = set()
    for node in graph.graph.node:
        scope = _scope(node)
        name = f"{scope}/{node.op_type}" if scope else node.name
        while name in taken:
            name = f"{name}_"
        node.name = name
        taken.add(name)
        del node.metadata_props[:]  # paths and lines of the machine it was exported on


def _scope(node: onnx.NodeProto) -> str:
    said = next((one.value for one in node.metadata_props if "name_scopes" in one.key), "[]")
    scopes = [scope for scope in ast.literal_eval(said)[:-1] if scope]
    return scopes[-1].removeprefix("model.") if scopes else ""


@contextmanager
def quiet() -> Iterator[None]:
    """The three libraries tell of themselves on every occasion."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    transformers.utils.logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
