"""Turns good JSON into bad: seeded, so that what was found once is found again."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**30, -0.0, 0.5, 1e308, 1e-320, "", " ", "a",
    "\x00", "\ud83d", "\U0001f468\u200d\U0001f469", "北京" * 9, "a" * 3000, "data:", "data:image/png;base64,AAAA",
    "http://[", "auto", "tool", "stream", [], [[]], [None], [0], {}, {"": {}}, {"type": None}, {"type": "text"},
    {"role": "user"}, [{"type": "text", "text": 1}], [{"type": "image_url"}], {"url": 5}, "NaN", "-1", "10",
)  # fmt: skip
"""Values that have broken gateways."""
_NOISE = b'{}[]",:\\\x00\xff\xc3 \n\r0-eE.+'


def mutated(good: Any, random: Random) -> bytes:
    """The JSON of `good` after one to four changes to its tree, or to its bytes."""
    tree = copy.deepcopy(good)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        tree = random.choice(_ON_TREES)(tree, random)
    data = json.dumps(tree, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")
    if random.random() < 0.02:
        depth = random.choice((500, 5_000, 100_000))
        data = (
            data.replace(b'"', b'"' + b"[" * depth, 1)
            if random.random() < 0.3
            else b'{"model":' + b"[" * depth
        )
    return _torn(data, random) if random.random() < 0.1 else data


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every container with every key or index in it."""
    found: list[tuple[Any, Any]] = []
    left = [tree]
    while left:
        node = left.pop()
        pairs = (
            node.items()
            if isinstance(node, dict)
            else enumerate(node)
            if isinstance(node, list)
            else ()
        )
        for key, value in pairs:
            found.append((node, key))
            left.append(value)
    return found


def _somewhere(change: Callable[[Any, Any, Random], None]) -> Callable[[Any, Random], Any]:
    def changed(tree: Any, random: Random) -> Any:
        places = _places(tree)
        if not places:
            return random.choice(ODD)
        change(*random.choice(places), random)
        return tree

    return changed


def _replace(node: Any, key: Any, random: Random) -> None:
    node[key] = copy.deepcopy(random.choice(ODD))


def _drop(node: Any, key: Any, random: Random) -> None:
    del node[key]


def _rename(node: Any, key: Any, random: Random) -> None:
    if isinstance(node, dict):
        node[random.choice(("", "x", key.upper(), key + "s", "type", "\ud800", "content"))] = (
            node.pop(key)
        )


def _repeat(node: Any, key: Any, random: Random) -> None:
    node[key] = [node[key]] * random.choice((1, 2, 12))


def _bury(node: Any, key: Any, random: Random) -> None:
    for _ in range(random.choice((1, 30, 150))):
        node[key] = [node[key]] if random.random() < 0.5 else {"a": node[key]}


def _swap(node: Any, key: Any, random: Random) -> None:
    if isinstance(node, dict) and len(node) > 1:
        other = random.choice(list(node))
        node[key], node[other] = node[other], node[key]


_ON_TREES = tuple(
    map(_somewhere, (_replace, _replace, _replace, _drop, _rename, _repeat, _bury, _swap))
)


def _torn(data: bytes, random: Random) -> bytes:
    cut = bytearray(data)
    for _ in range(random.choice((1, 3, 20))):
        at = random.randrange(len(cut) + 1)
        match random.randrange(3):
            case 0:
                del cut[at : at + random.randrange(9)]
            case 1:
                cut[at:at] = bytes(random.choices(_NOISE, k=random.randrange(1, 5)))
            case _:
                cut = cut[:at] or bytearray(b"{")
    return bytes(cut)
