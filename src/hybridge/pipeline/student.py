"""A small BERT that imitates a sentence encoder: its vocabulary, first weights, lessons, folder.

Mean pooling, one linear layer into the teacher's space, unit length. Needs the extra `export`.
"""

from __future__ import annotations

import json
import math
import random
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from hybridge.pipeline.both_ends import MOST_TOKENS

Vectors = NDArray[np.float32]

VOCABULARY = 18_000
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SHAPE = {
    "hidden_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "max_position_embeddings": MOST_TOKENS,
    "type_vocab_size": 1,
}
"""BERT-mini's width with half of its layers."""
TOKENS_AT_ONCE = 4096
PEAK, WARM_UP = 1e-3, 0.05
"""Of the learning rate, and the share of all steps until it is reached; it falls as a cosine."""
WORD_SIZE, PLACE_SIZE = 0.05, 0.005
"""Deviations of the first word and position embeddings."""


def vocabulary(texts: Iterable[str]) -> Tokenizer:
    """WordPiece in small letters, every Chinese character alone, wide forms as narrow ones."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.BertNormalizer()])
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=VOCABULARY,
        min_frequency=2,
        limit_alphabet=VOCABULARY // 2,
        special_tokens=[*SPECIAL],
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    ends = [(name, made.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    return made


class Student(nn.Module):
    """Token ids in, vectors of unit length in the teacher's space out."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        config = BertConfig(
            vocab_size=words,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            architectures=["BertModel"],
            **SHAPE,
        )
        # On a CPU the fused attention takes twice as long backwards.
        config._attn_implementation = "eager"  # noqa: SLF001
        self.bert = BertModel(config, add_pooling_layer=False)
        self.dense = nn.Linear(config.hidden_size, width)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Both of shape `(batch, tokens)`; gives `(batch, width)`."""
        states = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        wanted = mask.unsqueeze(-1).float()
        pooled = (states * wanted).sum(1) / wanted.sum(1)
        return nn.functional.normalize(self.dense(pooled).float(), dim=1)

    def begin(self, words: Vectors, targets: Vectors) -> None:
        """Each token starts as its teacher's vector, in the directions that matter most to texts;
        the last layer leads back. The student is a mean of words then, and learns the rest.

        `words`: shape `(vocabulary, width)`; `targets`: of texts.
        """
        size = self.bert.config.hidden_size
        _values, basis = np.linalg.eigh(targets.T @ targets)
        basis = np.ascontiguousarray(basis[:, ::-1][:, :size])
        first = words @ basis
        first *= WORD_SIZE / first.std()
        with torch.no_grad():
            self.bert.embeddings.word_embeddings.weight.copy_(torch.from_numpy(first))
            self.bert.embeddings.position_embeddings.weight.normal_(0.0, PLACE_SIZE)
            self.bert.embeddings.token_type_embeddings.weight.zero_()
            self.dense.weight.copy_(torch.from_numpy(basis))
            self.dense.bias.zero_()


@dataclass(frozen=True, slots=True)
class Lesson:
    """Texts as tokens, and the vectors they are to have."""

    ids: list[list[int]]
    vectors: Vectors

    def batches(self, rng: random.Random | None = None) -> Iterator[list[int]]:
        """Places of texts of like length; in random order with `rng`."""
        lengths = [len(ids) + (rng.uniform(0, 4) if rng else 0) for ids in self.ids]
        order = sorted(range(len(self.ids)), key=lengths.__getitem__)
        found: list[list[int]] = []
        for place in order:
            width = 4 + len(self.ids[place])
            if not found or (len(found[-1]) + 1) * width > TOKENS_AT_ONCE:
                found.append([])
            found[-1].append(place)
        if rng:
            rng.shuffle(found)
        yield from found

    def batch(self, places: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
        """Ids, mask and vectors."""
        rows = [self.ids[place] for place in places]
        longest = max(map(len, rows))
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
        return ids, mask, torch.from_numpy(self.vectors[np.array(places)])


class School:
    """Teaches pass by pass; each leaves a checkpoint, from which the next run goes on."""

    def __init__(self, student: Student, lesson: Lesson, passes: int, seed: int) -> None:
        self.student = student
        self._lesson = lesson
        self._passes = passes
        self._seed = seed
        self._steps = passes * sum(1 for _ in lesson.batches(random.Random(seed)))  # noqa: S311
        self._optimiser = torch.optim.AdamW(
            student.parameters(), lr=PEAK, weight_decay=0.01, fused=True
        )
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimiser, self._rate)
        self.done = 0

    def resume(self, checkpoint: Path) -> None:
        """Goes on where a run stopped, if it left anything."""
        if checkpoint.is_file():
            state: Any = torch.load(checkpoint, weights_only=True)
            self.student.load_state_dict(state["student"])
            self._optimiser.load_state_dict(state["optimiser"])
            self._schedule.load_state_dict(state["schedule"])
            self.done = state["done"]

    def passes(self, checkpoint: Path) -> Iterator[int]:
        """One after the other; the number of each when it is over."""
        while self.done < self._passes:
            self._pass(random.Random(self._seed + self.done))  # noqa: S311 - no secrets here
            self.done += 1
            state = {
                "student": self.student.state_dict(),
                "optimiser": self._optimiser.state_dict(),
                "schedule": self._schedule.state_dict(),
                "done": self.done,
            }
            torch.save(state, checkpoint)
            yield self.done

    def _pass(self, rng: random.Random) -> None:
        batches = list(self._lesson.batches(rng))
        started_s, lately = time.monotonic(), 1.0
        self.student.train()
        for number, places in enumerate(batches, start=1):
            lately += 0.02 * (self._step(places) - lately)
            took_s = time.monotonic() - started_s
            sys.stderr.write(
                f"\rpass {self.done + 1} of {self._passes}: {number} of {len(batches)}, "
                f"cosine {1 - lately:.3f}, {took_s * (len(batches) / number - 1):.0f} s left "
            )
        sys.stderr.write("\n")

    def _step(self, places: Sequence[int]) -> float:
        ids, mask, wanted = self._lesson.batch(places)
        with torch.autocast("cpu", torch.bfloat16):
            given = self.student(ids, mask)
        loss = 1 - (given * wanted).sum(1).mean()
        self._optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
        self._optimiser.step()
        self._schedule.step()
        return float(loss.detach())

    def _rate(self, step: int) -> float:
        warm = WARM_UP * self._steps
        if step < warm:
            return (step + 1) / warm
        return 0.5 + 0.5 * math.cos(math.pi * min(1.0, (step - warm) / (self._steps - warm)))


def cosines(student: Student, lesson: Lesson) -> Vectors:
    """Of each text, between what the student says and what it is to say."""
    student.eval()
    found = np.zeros(len(lesson.ids), np.float32)
    for places in lesson.batches():
        ids, mask, wanted = lesson.batch(places)
        with torch.no_grad():
            found[np.array(places)] = (student(ids, mask) * wanted).sum(1).numpy()
    return found


def save(student: Student, tokenizer: Tokenizer, folder: Path) -> None:
    """In the layout of sentence-transformers, which `hybridge models export` reads."""
    bert, dense = student.bert, student.dense
    for name in ("1_Pooling", "2_Dense"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    bert.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(
        {"linear.weight": dense.weight.detach(), "linear.bias": dense.bias.detach()},
        folder / "2_Dense" / "model.safetensors",
    )
    kinds = ("Transformer", "Pooling", "Dense", "Normalize")
    paths = ("", "1_Pooling", "2_Dense", "3_Normalize")
    special = {f"{name[1:-1].lower()}_token": name for name in SPECIAL}
    files: dict[str, Any] = {
        "modules.json": [
            {
                "idx": place,
                "name": str(place),
                "path": path,
                "type": f"sentence_transformers.models.{kind}",
            }
            for place, (kind, path) in enumerate(zip(kinds, paths, strict=True))
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": dense.in_features,
            "pooling_mode_mean_tokens": True,
        },
        "2_Dense/config.json": {
            "in_features": dense.in_features,
            "out_features": dense.out_features,
            "bias": True,
            "activation_function": "torch.nn.modules.linear.Identity",
        },
        "sentence_bert_config.json": {"max_seq_length": MOST_TOKENS, "do_lower_case": True},
        "special_tokens_map.json": special,
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": MOST_TOKENS,
            **special,
        },
    }
    for name, said in files.items():
        text = json.dumps(said, indent=2, ensure_ascii=False)
        (folder / name).write_text(text + "\n", encoding="utf-8")
