"""The file of rules: its shape, and errors that say what to change."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from hybridge.core.config import Section
from hybridge.core.errors import ConfigError
from hybridge.core.request import Feature
from hybridge.routing.language import LANGUAGES
from hybridge.routing.signs import SIGNS
from hybridge.routing.tasks import TASKS

SHIPPED = Path(__file__).with_name("routing_rules.json")


class Condition(Section):
    """`when`: every field that is there must hold."""

    tasks: tuple[str, ...] | None = None
    """One of these is asked for."""
    languages: tuple[str, ...] | None = None
    """The last user turn is in one of these."""
    keywords: tuple[str, ...] | None = Field(default=None, min_length=1)
    """One of these words occurs in what is asked."""
    also: tuple[str, ...] | None = Field(default=None, min_length=1)
    """And one of these too."""
    reasoning: Literal["none", "any"] | tuple[str, ...] | None = None
    """`none`: no sign that it needs reasoning. `any`: at least one. A list: one of these."""
    features: tuple[Feature, ...] | None = None
    """The request needs one of these of a backend."""
    max_tokens_at_most: int | None = Field(default=None, ge=1)
    """The caller limits the answer to so many tokens or fewer."""
    chars_below: int | None = Field(default=None, ge=1)
    """The last user turn has fewer characters."""
    chars_at_least: int | None = Field(default=None, ge=0)
    tokens_below: int | None = Field(default=None, ge=1)
    """The last user turn has fewer tokens, as estimated."""
    tokens_at_least: int | None = Field(default=None, ge=0)
    prompt_tokens_below: int | None = Field(default=None, ge=1)
    """Everything that is sent, history and system text included, has fewer tokens."""

    @field_validator("tasks", "languages", "reasoning")
    @classmethod
    def _known(cls, value: Any, info: Any) -> Any:
        known = {"tasks": TASKS, "languages": LANGUAGES, "reasoning": SIGNS}[info.field_name]
        for name in value if isinstance(value, tuple) else ():
            if name not in known:
                raise ValueError(f"{name!r} is not known{nearest(name, known)}")
        return value

    @field_validator("keywords", "also")
    @classmethod
    def _said(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value is not None and not all(word.strip() for word in value):
            raise ValueError("an empty keyword would be found everywhere; take it out")
        return value

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.model_fields_set:
            raise ValueError('it says nothing; to match every request, write "chars_at_least": 0')
        return self


class RuleSpec(Section):
    """One rule as it is written."""

    name: str = Field(min_length=1)
    """Unique; shown in the decision."""
    why: str = ""
    """A few words for the decision's reasons."""
    when: Condition
    route: Literal["edge", "cloud"] | None = None
    """Settles the request: it is not scored."""
    score_min: float | None = Field(default=None, ge=1, le=10)
    """Does not settle it: it is scored, and the score raised to at least this."""

    @model_validator(mode="after")
    def _one_effect(self) -> Self:
        if (self.route is None) == (self.score_min is None):
            raise ValueError("give it either `route` or `score_min`, one of the two")
        return self


class RuleFile(Section):
    """The whole file."""

    version: Literal[1]
    """Of this format."""
    rules: tuple[RuleSpec, ...]
    """In order: the first that matches and has a `route` settles the request."""


def read(path: Path) -> tuple[RuleSpec, ...]:
    """The rules in a file. Raises `ConfigError` that names file, rule, field and way out."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror}); "
            "correct `routing.rules`, or leave it out for the shipped rules"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8; save it as UTF-8") from error
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{path}:{error.lineno}:{error.colno}: is not JSON: {error.msg}"
        ) from error
    try:
        rules = RuleFile.model_validate_json(json.dumps(content)).rules
    except ValidationError as error:
        faults = (_fault(path, content, dict(fault)) for fault in error.errors())
        raise ConfigError("\n".join(dict.fromkeys(faults))) from error
    return _unique(path, rules)


def nearest(name: object, known: tuple[str, ...] | list[str]) -> str:
    """The way out for a word that is not known."""
    close = difflib.get_close_matches(str(name), known, n=1)
    return (
        f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(filter(None, known))}"
    )


def _unique(path: Path, rules: tuple[RuleSpec, ...]) -> tuple[RuleSpec, ...]:
    names = [rule.name for rule in rules]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{path}: rule {name!r}: name: is used twice; rename one of the two")
    return rules


def _fault(path: Path, content: Any, fault: Mapping[str, Any]) -> str:
    """One line: file, rule, field, what is wrong, way out."""
    where = [str(part) for part in fault["loc"]]
    known: list[str] = list(RuleFile.model_fields)
    prefix = str(path)
    if where[:1] == ["rules"] and len(where) > 1:
        prefix += f": rule {_called(content, int(where[1]))}"
        where = where[2:]
        known = list(Condition.model_fields if where[:1] == ["when"] else RuleSpec.model_fields)
    kind, field = fault["type"], ".".join(part for part in where if not part.startswith("literal["))
    if kind == "extra_forbidden":
        return f"{prefix}: {field}: is not a field{nearest(where[-1], known)}"
    said = "is missing" if kind == "missing" else str(fault["msg"]).removeprefix("Value error, ")
    return f"{prefix}: {field}: {said}" if field else f"{prefix}: {said}"


def _called(content: Any, index: int) -> str:
    try:
        return repr(content["rules"][index]["name"])
    except (KeyError, TypeError):
        return f"number {index + 1}"
