"""`python -m benchmarks.pseudonyms`: how often values come back that went out as placeholders.

The small local models stand in for a cloud, which copies better: the figures compare forms and
notes with each other, and are a lower bound.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measured import machine, table, write
from benchmarks.pseudonyms.survival import FORMS, Survival, ask
from benchmarks.pseudonyms.tasks import TASKS, Task
from hybridge.core.request import Feature
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.llamacpp import LlamaCpp, spec_of
from hybridge.modelstore.catalogue import CATALOGUE
from hybridge.privacy.pseudonyms.note import Place
from hybridge.settings import load
from hybridge.wiring import fetcher

MODELS = {"qwen2.5-0.5b": ("en", "zh"), "smollm2-135m": ("en",)}
"""With the languages that each is asked in."""
Variant = tuple[str | None, Place]
Results = dict[str, dict[Variant, dict[str, Survival]]]


def main() -> int:
    """Measure, print and keep."""
    asked = _arguments()
    before = machine()
    results = asyncio.run(_measure(asked.models))
    for model, variants in results.items():
        _print(model, variants)
    print(f"\n{write('pseudonyms', {'machine': before, 'rows': list(_rows(results))})}")
    return 0


async def _measure(models: list[str]) -> Results:
    results: Results = {}
    for model in models:
        backend = await _loaded(model)
        tasks = [task for task in TASKS if task.language in MODELS[model]]
        if Feature.TOOLS not in backend.spec.features:
            tasks = [task for task in tasks if "tools" not in task.members]
        try:
            results[model] = {
                variant: await _asked(backend, tasks, variant) for variant in _variants()
            }
        finally:
            await backend.close()
    return results


async def _asked(backend: LlamaCpp, tasks: list[Task], variant: Variant) -> dict[str, Survival]:
    told = {f"{task.name}, {task.language}": await ask(backend, task, *variant) for task in tasks}
    print(f"{backend.spec.name}: {variant} {_shares(told)}", file=sys.stderr, flush=True)
    return told


async def _loaded(model: str) -> LlamaCpp:
    weights: Path = await asyncio.to_thread(fetcher(load(None)).ensure, model)
    row = EdgeBackendConfig(name=model, model=model, context_tokens=1024, slots=1)
    spec = spec_of(row, features=CATALOGUE[model].features, version="")
    return await LlamaCpp.load(spec, weights, row, threads=1)


def _variants() -> Iterator[Variant]:
    yield None, "nowhere"
    for form in FORMS:
        yield form, "nowhere"
        yield form, "system"
    yield next(iter(FORMS)), "last_turn"


def _print(model: str, variants: dict[Variant, dict[str, Survival]]) -> None:
    names = list(next(iter(variants.values())))
    lines = []
    for (form, note), survived in variants.items():
        cells = [f"{survived[name].restored}/{survived[name].wanted}" for name in names]
        lines.append([form or "nothing hidden", note, *_shares(survived), *cells])
    print(f"\n{model}: values that came back, and placeholders copied letter by letter\n")
    print(table(["form", "note", "restored", "literal", *names], lines))


def _shares(survived: dict[str, Survival]) -> list[str]:
    wanted = sum(one.wanted for one in survived.values())
    restored = sum(one.restored for one in survived.values())
    literal = sum(one.literal for one in survived.values())
    return [f"{restored / wanted:.2f}", f"{literal / wanted:.2f}"]


def _rows(results: Results) -> Iterator[dict[str, Any]]:
    for model, variants in results.items():
        for (form, note), survived in variants.items():
            for task, one in survived.items():
                told = {field: getattr(one, field) for field in one.__struct_fields__}
                yield {"model": model, "form": form, "note": note, "task": task, **told}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pseudonyms", description=__doc__)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
