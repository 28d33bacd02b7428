"""Makes the tiny model beside this file: 125,000 weights that know a few answers by heart.

    python tests/tiny_genai/make.py

Needs torch, transformers, tokenizers, onnx-ir and onnxruntime-genai. A few minutes on one core.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

MODEL = Path(__file__).parent / "model"
STORY = "The dragon flew over the hill, and then "
ANSWERS = {
    "Count.": "One two three four five six seven eight nine ten.",
    "Count from 1 to 9.": "1, 2, 3, 4, 5, 6, 7, 8, 9.",
    "Say hi.": "Hi there, my friend!",
    "Name three colours.": "Red, green and blue.",
    "Repeat this: 你好，世界。🙂 naïve": "你好，世界。🙂 naïve",
    "What is the capital of France?": "Paris is the capital of France.",
    "Tell me a very long story about a dragon.": STORY * 60,
}
TEMPLATE = (
    "{% if tools %}<|im_start|>system\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}"
    "Call one as <tool_call>JSON</tool_call><|im_end|>\n{% endif %}"
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
STEPS, BATCH, LENGTH = 900, 16, 160


def turns(question: str, answer: str) -> str:
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n{answer}<|im_end|>"


def tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """Bytes, and a few pieces of words."""
    found = Tokenizer(models.BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=384, special_tokens=MARKS, initial_alphabet=sorted(alphabet), show_progress=False
    )
    texts = [text for pair in ANSWERS.items() for text in pair]
    found.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=found,
        bos_token=MARKS[1],
        eos_token=MARKS[2],
        pad_token=MARKS[2],
        unk_token=MARKS[0],
    )
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    return fast


def train(fast: PreTrainedTokenizerFast, folder: Path) -> None:
    torch.manual_seed(0)
    random.seed(0)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        tie_word_embeddings=False,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=2,
    )
    model = LlamaForCausalLM(config)
    rows = [fast(turns(*pair), add_special_tokens=False).input_ids for pair in ANSWERS.items()]
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    for step in range(STEPS):
        batch = torch.full((BATCH, LENGTH), 2)
        labels = torch.full((BATCH, LENGTH), -100)
        for place in range(BATCH):
            row = random.choice(rows)
            row = torch.tensor(row[:LENGTH])
            batch[place, : len(row)] = row
            labels[place, : len(row)] = row
        loss = model(input_ids=batch, attention_mask=torch.ones_like(batch), labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 100 == 99:
            print(step + 1, round(loss.item(), 4))
    model.save_pretrained(folder)


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        source, cache = Path(made) / "source", Path(made) / "cache"
        train(tokenizer(source), source)
        shutil.rmtree(MODEL, ignore_errors=True)
        options = ["int4_accuracy_level=4", "hf_token=false", "prune_lm_head=true"]
        builder = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", str(source)]
        builder += ["-o", str(MODEL), "-p", "int8", "-e", "cpu", "-c", str(cache)]
        subprocess.run([*builder, "--extra_options", *options], check=True, capture_output=True)
    print(sum(file.stat().st_size for file in MODEL.iterdir()), "bytes")


if __name__ == "__main__":
    main()
