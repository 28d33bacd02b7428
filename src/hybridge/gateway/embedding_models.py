"""Which embedding model a request means, and whether that model can do it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hybridge.core.embedding import EmbedderSpec, EmbeddingRequest
from hybridge.core.errors import PrivacyNoLocalPath, UnknownModel, Unsupported
from hybridge.core.request import AUTO, Request, Tier
from hybridge.routing.constraints import device_only
from hybridge.routing.language import CHINESE, JAPANESE, KOREAN, MIXED, NONE, OTHER, language_of
from hybridge.routing.tokens import measure

READ_CHARS = 4000
"""Characters of a text in which its script is looked for."""
_WRITTEN = {
    CHINESE: "Chinese",
    MIXED: "Chinese and Latin letters",
    JAPANESE: "Japanese",
    KOREAN: "Korean",
    OTHER: "a script that is not Latin",
}


class Roster:
    """The embedding models by the names that a caller can give."""

    def __init__(self, specs: Sequence[EmbedderSpec], auto: str) -> None:
        self.specs = tuple(specs)
        names = {spec.model: spec for spec in reversed(specs)} | {s.name: s for s in specs}
        self._named = names | {AUTO: names[auto]}

    def meant(self, model: str) -> EmbedderSpec:
        """By its own name first, then by its model's. Raises `UnknownModel` that lists them."""
        if model not in self._named:
            rows = (f"{s.name} ({s.model})" if s.name != s.model else s.name for s in self.specs)
            raise UnknownModel(
                f"no embedding model is called {model!r}; known: {', '.join((AUTO, *rows))}",
                param="model",
                code="model_not_found",
            )
        return self._named[model]

    def readers(self, language: str, request: Request) -> list[str]:
        """The models that read a language and that the request may be sent to."""
        private = device_only(request)
        return [
            spec.name
            for spec in self.specs
            if _reads(spec, language) and (_is_here(spec) or not private)
        ]


def check_possible(asked: EmbeddingRequest, spec: EmbedderSpec) -> None:
    """Raises `Unsupported` for token ids or a length that this model cannot do."""
    if not asked.texts and not spec.reads_tokens:
        raise Unsupported(
            f"{spec.name} reads text, not token ids: their meaning belongs to another model's "
            "tokenizer. Send `input` as strings",
            param="input",
            code="unsupported_input",
        )
    if asked.dimensions in (None, spec.dimensions) or spec.shortens:
        return
    raise Unsupported(
        f"{spec.name} gives {spec.dimensions} dimensions and no fewer: leave `dimensions` out, "
        "or name a model that can shorten its vectors",
        param="dimensions",
        code="dimensions_not_possible",
    )


def check_private(asked: EmbeddingRequest, spec: EmbedderSpec, roster: Roster) -> None:
    """Raises `PrivacyNoLocalPath` where a request that may not leave this device would have to."""
    if _is_here(spec) or not device_only(asked.request):
        return
    here = [other.name for other in roster.specs if _is_here(other)]
    way_out = (
        f"on this device there is {', '.join(here)}, whose vectors cannot be compared with it"
        if here
        else "no embedding model is on this device"
    )
    raise PrivacyNoLocalPath(
        f"the request may not leave this device, and {spec.name} is elsewhere; {way_out}"
    )


def check_languages(asked: EmbeddingRequest, spec: EmbedderSpec, roster: Roster) -> None:
    """Raises for a text in a script that the model cannot read, of which it would make a vector
    without a meaning: `Unsupported` with those that can, or `PrivacyNoLocalPath` where only models
    elsewhere can and the text may not go there."""
    if spec.languages is None:
        return
    for index, text in enumerate(asked.texts):
        language = _language(text)
        if not _reads(spec, language):
            _refuse(asked, asked.place(index), language, spec, roster)


def _refuse(
    asked: EmbeddingRequest, place: str, language: str, spec: EmbedderSpec, roster: Roster
) -> None:
    others = roster.readers(language, asked.request)
    said = f"`{place}` is written in {_WRITTEN[language]}, which {spec.name} cannot read"
    if others:
        way_out = f"name a model that can: {', '.join(others)}"
    elif any(_reads(other, language) for other in roster.specs):
        raise PrivacyNoLocalPath(f"the request may not leave this device, and here {said}")
    else:
        way_out = "no model here can; the operator can add one to embeddings.backends"
    raise Unsupported(f"{said}: {way_out}", param=place, code="unsupported_language")


def _is_here(spec: EmbedderSpec) -> bool:
    return not spec.leaves_device and spec.tier is Tier.EDGE


def _reads(spec: EmbedderSpec, language: str) -> bool:
    """Text in two scripts needs a model that reads both: any that reads Chinese reads Latin."""
    if spec.languages is None or language == NONE:
        return True
    return (CHINESE if language == MIXED else language) in spec.languages


def _language(text: str) -> str:
    return NONE if text.isascii() else language_of(measure(text[:READ_CHARS]))
