"""Runs in Presidio's environment: a JSON string a line in, findings and milliseconds out.

Its pattern recognisers with their context words, on the tokens of a blank spaCy pipeline, as the
product does without a language model; and nothing that asks the network.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

import spacy  # type: ignore[import-not-found]
import tldextract  # type: ignore[import-not-found]
from presidio_analyzer import AnalyzerEngine, RecognizerRegistry  # type: ignore[import-not-found]
from presidio_analyzer.nlp_engine import (  # type: ignore[import-not-found]
    NlpArtifacts,
    NlpEngine,
)
from presidio_analyzer.predefined_recognizers import (  # type: ignore[import-not-found]
    SpacyRecognizer,
)

SCORE = 0.4
"""What its recogniser of telephone numbers gives them; guesses without context score less."""


class Tokens(NlpEngine):  # type: ignore[misc]
    """Words and their lower-case forms, no entities."""

    def __init__(self) -> None:
        self._blank = spacy.blank("en")

    def load(self) -> None:
        """Nothing to load."""

    def is_loaded(self) -> bool:
        return True

    def process_text(self, text: str, language: str) -> NlpArtifacts:
        words = self._blank(text)
        lemmas = [word.lower_ for word in words]
        return NlpArtifacts([], words, [word.idx for word in words], lemmas, self, language)

    def process_batch(
        self, texts: Iterable[str], language: str, **_: Any
    ) -> Iterator[tuple[str, NlpArtifacts]]:
        return ((text, self.process_text(text, language)) for text in texts)

    def is_stopword(self, word: str, language: str) -> bool:  # noqa: ARG002 - its interface
        return bool(self._blank.vocab[word].is_stop)

    def is_punct(self, word: str, language: str) -> bool:  # noqa: ARG002
        return bool(self._blank.vocab[word].is_punct)

    def get_supported_entities(self) -> list[str]:
        return []

    def get_supported_languages(self) -> list[str]:
        return ["en"]


def main() -> None:
    """Answer until the input ends."""
    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=())  # the list that it brings
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    registry.recognizers = [r for r in registry.recognizers if not isinstance(r, SpacyRecognizer)]
    engine = AnalyzerEngine(registry=registry, nlp_engine=Tokens(), supported_languages=["en"])
    engine.analyze("warm up", language="en")
    for line in sys.stdin:
        text = json.loads(line)
        started_s = time.perf_counter()
        found = engine.analyze(text, language="en", score_threshold=SCORE)
        took_ms = 1000 * (time.perf_counter() - started_s)
        spans = [(result.entity_type, result.start, result.end) for result in found]
        print(json.dumps({"found": spans, "took_ms": took_ms}))


if __name__ == "__main__":
    main()
