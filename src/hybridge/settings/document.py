"""A YAML file that remembers where each of its keys stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from hybridge.settings.problems import Loc, Problem, Refused, refuse

_MERGE = "tag:yaml.org,2002:merge"


class Document:
    """Plain data with, for each key, its line and column."""

    def __init__(self, name: str, data: Mapping[str, Any], root: yaml.Node | None = None) -> None:
        self.name = name
        self.data = data
        self._root = root

    def place(self, loc: Loc) -> str:
        """`file:line:column` of the key, or of the nearest thing around it that exists."""
        if self._root is None:
            return self.name
        nearest = [self._root, *self._keys(loc)][-1].start_mark
        return f"{self.name}:{nearest.line + 1}:{nearest.column + 1}"

    def line(self, loc: Loc) -> str | None:
        """`file:line` of the key itself; None where the file does not have it."""
        keys = list(self._keys(loc))
        return f"{self.name}:{keys[-1].start_mark.line + 1}" if len(keys) == len(loc) else None

    def _keys(self, loc: Loc) -> Iterator[yaml.Node]:
        """The nodes that mark a key and what it lies in, as far as they exist, from the top."""
        node = self._root
        for part in loc:
            key, node = _child(node, part)
            if key is None:
                return
            yield key


def read(path: Path) -> Document:
    """Reads a file. Raises `ConfigError` for what is no YAML, and for keys given twice."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise _refused(path, f"cannot be read: {reason}") from error
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        data = {} if root is None else _Builder(str(path), loader).build(root)
    except yaml.MarkedYAMLError as error:
        raise _syntax(path, error) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise _refused(path, f"is not YAML: {error}") from error
    finally:
        loader.dispose()
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise _refused(f"{path}:1:1", "must hold sections such as `server:`, not a single value")
    return Document(str(path), data, root)


class _Builder:
    """Makes plain data of nodes, and refuses keys that are given twice."""

    def __init__(self, name: str, loader: yaml.SafeLoader) -> None:
        self._name = name
        self._loader = loader
        self._built: dict[int, Any] = {}
        self._open: set[int] = set()
        self._problems: list[Problem] = []

    def build(self, root: yaml.Node) -> Any:
        data = self._value(root, ())
        refuse(self._problems)
        return data

    def _value(self, node: yaml.Node, loc: Loc) -> Any:
        if id(node) in self._built:  # an alias
            return self._built[id(node)]
        if id(node) in self._open:
            raise yaml.MarkedYAMLError(None, None, "an alias within itself", node.start_mark)
        self._open.add(id(node))
        if isinstance(node, yaml.MappingNode):
            value: Any = self._mapping(node, loc)
        elif isinstance(node, yaml.SequenceNode):
            value = [self._value(item, (*loc, i)) for i, item in enumerate(node.value)]
        else:
            value = self._loader.construct_object(node)
        self._built[id(node)] = value
        return value

    def _mapping(self, node: yaml.MappingNode, loc: Loc) -> dict[str, Any]:
        self._refuse_twice(node, loc)
        self._loader.flatten_mapping(node)
        return {
            str(key.value): self._value(value, (*loc, str(key.value))) for key, value in node.value
        }

    def _refuse_twice(self, node: yaml.MappingNode, loc: Loc) -> None:
        seen: dict[str, int] = {}
        for key, _ in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if key.tag != _MERGE and name in seen:
                place = f"{self._name}:{line}:{key.start_mark.column + 1}"
                what = f"is given twice, first on line {seen[name]}"
                self._problems.append(Problem(place, (*loc, name), what))
            seen.setdefault(name, line)


def _child(node: yaml.Node | None, part: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    """The node that marks a key's place, and the node of its value."""
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):
            if key.value == part:
                return key, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    return None, None


def _syntax(path: Path, error: yaml.MarkedYAMLError) -> Refused:
    mark = error.problem_mark or error.context_mark
    place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else path
    return _refused(place, " ".join(filter(None, (error.context, error.problem))))


def _refused(place: Path | str, what: str) -> Refused:
    return Refused([Problem(str(place), (), what)])
