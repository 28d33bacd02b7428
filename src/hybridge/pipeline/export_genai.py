"""Exports a model to a folder of ONNX Runtime GenAI, for the engine `ortgenai`.

    python -m hybridge.pipeline.export_genai MODEL --precision int8 --out FOLDER

`MODEL` is a .gguf file or a folder in Hugging Face's layout (config.json, safetensors, tokenizer).
Needs the extras `export-genai` and `ortgenai`. A GGUF file is unpacked to full precision first,
which takes eight times its room on the disk for a while, and what its own quantisation lost stays
lost; the folder of the model's maker is the better source.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from hybridge.core.errors import ModelError

_MODULE = "hybridge.pipeline.export_genai"
PRECISIONS = ("int4", "int8", "fp32")
_OPTIONS = (
    "int4_accuracy_level=4",  # products of 8-bit numbers, which CPUs are fast at
    "prune_lm_head=true",  # of a prompt only the last token's logits are wanted
    "hf_token=false",
)
_NEEDED = ("onnxruntime_genai", "torch", "transformers", "onnx_ir")
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


def export(model: Path, out: Path, precision: str) -> Path:
    """Makes the folder `out`, which must not be there yet. Raises `ModelError`.

    It appears when it is complete: a run that fails or is broken off leaves none.
    """
    _check(model, out, precision)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".export-") as made:
        source = model if model.is_dir() else _unpacked(model, Path(made) / "source")
        built = Path(made) / "built"
        _run(
            *("-m", "onnxruntime_genai.models.builder"),
            *("-i", str(source), "-o", str(built), "-p", precision, "-e", "cpu"),
            *("-c", str(Path(made) / "cache"), "--extra_options", *_OPTIONS),
        )
        shutil.move(built, out)
    return out


def _check(model: Path, out: Path, precision: str) -> None:
    if precision not in PRECISIONS:
        raise ModelError(f"precision: {precision} is none of {', '.join(PRECISIONS)}")
    if not model.exists():
        raise ModelError(f"{model} is not there")
    if not model.is_dir() and model.suffix != ".gguf":
        raise ModelError(f"{model} is neither a .gguf file nor a folder in Hugging Face's layout")
    if model.is_dir() and not (model / "config.json").is_file():
        raise ModelError(f"{model} has no config.json: it is no folder in Hugging Face's layout")
    if out.exists():
        raise ModelError(f"{out} is there already; name another folder or remove it")
    needed = (*_NEEDED, *(("gguf", "accelerate") if not model.is_dir() else ()))
    if missing := [name for name in needed if find_spec(name) is None]:
        raise ModelError(
            f"exporting to `ortgenai` needs {', '.join(missing)}: "
            'pip install "hybridge[export-genai,ortgenai]"'
        )


def _unpacked(gguf: Path, folder: Path) -> Path:
    """The model of a GGUF file in Hugging Face's layout, at full precision."""
    _run("-m", _MODULE, "--unpack", str(gguf.resolve()), str(folder))
    return folder


def unpack(gguf: Path, folder: Path) -> None:
    """In a process of its own: its memory is given back before the builder takes as much again."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place, name = str(gguf.parent), gguf.name
    model = AutoModelForCausalLM.from_pretrained(place, gguf_file=name, dtype=torch.float32)
    config, weights = model.config, {k: v.clone() for k, v in model.state_dict().items()}
    if hasattr(config, "quantization_config"):
        del config.quantization_config  # that of the file; the weights are no longer packed
    whole = type(model)(config)
    whole.load_state_dict(weights)
    whole.tie_weights()
    whole.save_pretrained(folder)
    AutoTokenizer.from_pretrained(place, gguf_file=name).save_pretrained(folder)


def _run(*arguments: str) -> None:
    """A step in a process of its own. Raises `ModelError` with its last words."""
    environment = {**os.environ, **_OFFLINE}
    done = subprocess.run(  # noqa: S603 - this interpreter, with arguments and no shell
        (sys.executable, *arguments), env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"code {done.returncode}"]
        raise ModelError(f"the export failed: {last[0]}")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", type=Path, nargs="?")
    parser.add_argument("--precision", choices=PRECISIONS, default="int8")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--unpack", type=Path, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.unpack:
        unpack(*given.unpack)
        return
    if given.model is None or given.out is None:
        parser.error("MODEL and --out are needed")
    try:
        folder = export(given.model, given.out, given.precision)
    except ModelError as error:
        raise SystemExit(f"error: {error}") from error
    size = sum(file.stat().st_size for file in folder.iterdir())
    sys.stdout.write(f"{folder}: {size / 1e6:.0f} MB; engine: ortgenai, model: {folder}\n")


if __name__ == "__main__":
    main()
