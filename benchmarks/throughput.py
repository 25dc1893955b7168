"""Many sagas at once: operations a second, in one process and in several on one store, beside DBOS."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Any

from benchmarks.field import Field
from benchmarks.plan import Plan

_KINDS = ("sagagraph", "dbos")
_FORMS = {"sagagraph": ("keyed",), "dbos": ("threads", "async")}


async def measure(plan: Plan, field: Field) -> dict[str, Any]:
    """For each store, number of workers and contender: operations a second, one figure a round."""
    found: dict[str, Any] = {}
    for store in field.databases.stores:
        for workers in (1, plan.workers):
            found.setdefault(store, {})[str(workers)] = await _measured(plan, field, store, workers)
    return found


async def _measured(plan: Plan, field: Field, store: str, workers: int) -> dict[str, Any]:
    """All wait, warm, in processes of their own; each kind works in turn, the other one idle."""
    forms: dict[str, str] = {}
    rates: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    for kind in _KINDS:
        url = field.databases.fresh(store)
        entered = [await field.enter(kind, store, url=url, number=number) for number in range(workers)]
        if all(entered):
            forms[kind] = await _faster_form(plan, field, store, kind, workers)
    for number in range(plan.saga_rounds):
        for kind in _KINDS if number % 2 == 0 else reversed(_KINDS):
            if kind in forms and (rate := await _rate(plan.sagas, plan, field, store, kind, workers, forms[kind])):
                rates[kind].append(rate)
    await field.leave()
    return {kind: {"form": forms.get(kind, ""), "operations_per_s": each} for kind, each in rates.items()}


async def _faster_form(plan: Plan, field: Field, store: str, kind: str, workers: int) -> str:
    """Warms up, and lets a contender that comes in two forms use the one that is faster here."""
    few = max(plan.sagas // 10, workers)
    rates = {form: await _rate(few, plan, field, store, kind, workers, form) for form in _FORMS[kind]}
    return max(rates, key=lambda form: rates[form])


async def _rate(sagas: int, plan: Plan, field: Field, store: str, kind: str, workers: int, form: str) -> float:
    """0 if one of the workers failed."""
    share = {"sagas": sagas // workers, "steps": plan.steps, "form": form}
    begun = perf_counter()
    took = await asyncio.gather(*(field.ask(kind, store, "many", number=number, **share) for number in range(workers)))
    seconds = perf_counter() - begun
    done = [each["operations"] for each in took if each is not None]
    return sum(done) / seconds if len(done) == workers else 0.0
