"""The model for names: hashed traits of words, a few convolutions, three labels to a word.

Small on purpose: it runs on every request that may leave the device. The table of traits, nearly
all of its weights, is kept as INT8; the rest as FP32.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hybridge.privacy.word_traits import ROWS, TRAITS

OPSET = 17
WIDTH, INNER = 48, 96
HIDDEN_ROW = ROWS - 1
"""Stays empty."""
REACH = (1, 2, 4)
"""How far each layer looks to both sides, in words."""


LONGEST = 160
"""Words of one example."""
PER_BATCH = 4096
"""Words."""
HIDDEN = 0.4
"""Share of words whose own row is left out, so that shape and neighbours have to tell."""
SMOOTHED = 0.05
"""Doubt about each label: without it the model is sure of everything, right or wrong."""
IGNORED = -100
"""The label of a word that teaches nothing."""
Example = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Traits and labels."""


class Table(nn.Module):
    """Rows by number, all of a word's added up."""

    def __init__(self) -> None:
        super().__init__()
        # What was never seen says nothing: its row is as empty as that of what is hidden.
        self.rows = nn.Embedding(ROWS, WIDTH, padding_idx=HIDDEN_ROW)
        nn.init.zeros_(self.rows.weight)

    def forward(self, traits: Tensor) -> Tensor:
        """traits: (words, TRAITS) or (texts, words, TRAITS)."""
        return self.rows(traits).sum(-2)


class SmallTable(nn.Module):
    """The same in INT8, with one scale for all."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        weight = table.rows.weight.detach()
        scale = weight.abs().flatten().kthvalue(int(weight.numel() * 0.9999)).values / 127
        self.register_buffer("rows", (weight / scale).round().clamp(-127, 127).to(torch.int8))
        self.register_buffer("scale", scale)

    def forward(self, traits: Tensor) -> Tensor:
        """As `Table` does."""
        return self.rows[traits].to(torch.float32).sum(-2) * self.scale


class Layer(nn.Module):
    """A word and one on either side, at a distance; added to what was known."""

    def __init__(self, reach: int) -> None:
        super().__init__()
        self.look = nn.Conv1d(INNER, INNER, 3, dilation=reach, padding=reach)
        self.norm = nn.LayerNorm(INNER)

    def forward(self, x: Tensor) -> Tensor:
        """x: (texts, words, INNER)."""
        seen = torch.relu(self.look(x.transpose(1, 2))).transpose(1, 2)
        return self.norm(x + seen)


class Tagger(nn.Module):
    """Three logits per word, in the order of `privacy.name_spans`."""

    def __init__(self) -> None:
        super().__init__()
        self.table: nn.Module = Table()
        self.widen = nn.Linear(WIDTH, INNER)
        self.layers = nn.ModuleList(Layer(reach) for reach in REACH)
        self.tell = nn.Linear(INNER, 3)
        self.drop = nn.Dropout(0.25)

    def forward(self, traits: Tensor) -> Tensor:
        """traits: (texts, words, TRAITS), int64; gives (texts, words, 3)."""
        x = self.drop(torch.relu(self.widen(self.table(traits))))
        for layer in self.layers:
            x = self.drop(layer(x))
        return self.tell(x)


def teach(passes: Sequence[Sequence[Example]], rng: random.Random, seed: int) -> Tagger:
    """A tagger that has seen every pass once."""
    torch.manual_seed(seed)
    tagger = Tagger().train()
    optimiser = torch.optim.Adam(tagger.parameters())
    todo = [batch for examples in passes for batch in _batches(examples, rng)]
    plan = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, len(todo), pct_start=0.1)
    loss = nn.CrossEntropyLoss(ignore_index=IGNORED, label_smoothing=SMOOTHED)
    for step, (traits, labels) in enumerate(todo):
        hidden = torch.rand(traits.shape[:2]) < HIDDEN
        traits[..., 0] = torch.where(hidden, HIDDEN_ROW, traits[..., 0])
        value = loss(tagger(traits).flatten(0, 1), labels.flatten())
        optimiser.zero_grad(set_to_none=True)
        value.backward()
        optimiser.step()
        plan.step()
        if step % 100 == 0:
            sys.stderr.write(f"{step}/{len(todo)} {value.item():.4f}\n")
    return tagger.eval()


def _batches(examples: Sequence[Example], rng: random.Random) -> Iterator[tuple[Tensor, Tensor]]:
    """Of about as many words each, texts of like length together, in random order."""
    lengths = [min(LONGEST, len(labels)) for _, labels in examples]
    order = sorted(range(len(examples)), key=lambda index: lengths[index] + rng.random() * 12)
    groups: list[list[int]] = [[]]
    for index in order:
        if (len(groups[-1]) + 1) * lengths[index] > PER_BATCH:
            groups.append([])
        groups[-1].append(index)
    rng.shuffle(groups)
    for group in groups:
        longest = max(lengths[index] for index in group)
        traits = torch.full((len(group), longest, TRAITS), HIDDEN_ROW)
        labels = torch.full((len(group), longest), IGNORED)
        for row, index in enumerate(group):
            here, length = examples[index], lengths[index]
            traits[row, :length] = torch.from_numpy(here[0][:length])
            labels[row, :length] = torch.from_numpy(here[1][:length])
        yield traits, labels


class _Shipped(nn.Module):
    """From 32-bit rows of one text to the chance of each word to be part of a name."""

    def __init__(self, tagger: Tagger) -> None:
        super().__init__()
        self.tagger = tagger

    def forward(self, traits: Tensor) -> Tensor:
        return torch.softmax(self.tagger(traits[None].long())[0], -1)


def export(tagger: Tagger, path: Path) -> None:
    """Writes the INT8 model: `traits` (words, TRAITS) int32 to `chances` (words, 3) float32."""
    assert isinstance(tagger.table, Table)  # noqa: S101 - it is exported once
    tagger.table = SmallTable(tagger.table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Shipped(tagger),
            (torch.ones(5, TRAITS, dtype=torch.int32),),
            str(path),
            input_names=["traits"],
            output_names=["chances"],
            dynamic_axes={"traits": {0: "words"}, "chances": {0: "words"}},
            opset_version=OPSET,
            dynamo=False,
        )
    onnx.checker.check_model(str(path))
