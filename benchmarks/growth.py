"""How one saga grows: time and bytes an operation, and what folding its journal takes. On SQLite, a fresh file for each size."""

from __future__ import annotations

from typing import Any

from benchmarks import fold
from benchmarks.field import Field
from benchmarks.footprint import file_bytes, journal_bytes
from benchmarks.plan import Plan

STORE = "sqlite"


async def measure(plan: Plan, field: Field) -> dict[str, Any]:
    """For each form a list by size, ascending: `asked` and `done` operations, seconds, bytes that the file grew by.

    `fold`: a journal of the largest size that did not run but was made, with larger inputs and outputs.
    """
    ours: dict[str, Any] = {"form": "keyed", "limit_s": plan.limit_s, "fold_rounds": plan.fold_rounds}
    small = tuple(size for size in plan.growth_sizes if size <= plan.quadratic_up_to)
    json_s, fold_s = zip(*fold.measure(fold.journal(plan.growth_sizes[-1]), plan.fold_rounds).runs, strict=True)
    return {
        "fold": {"operations": plan.growth_sizes[-1], "json_s": json_s, "fold_s": fold_s},
        "sagagraph": [await _grow(plan, field, "sagagraph", size, **ours) for size in plan.growth_sizes],
        "langgraph": [await _grow(plan, field, "langgraph", size, form="list") for size in small],
        "langgraph-delta": [await _grow(plan, field, "langgraph", size, form="delta") for size in plan.growth_sizes],
    }


async def _grow(plan: Plan, field: Field, kind: str, size: int, **arguments: Any) -> dict[str, Any]:
    url = field.databases.fresh(STORE)
    if not await field.enter(kind, STORE, url=url):
        return {"asked": size, "done": 0}
    await field.ask(kind, STORE, "grow", operations=plan.growth_sizes[0], **arguments)  # warms up
    before = file_bytes(url)
    took = await field.ask(kind, STORE, "grow", operations=size, **arguments)
    await field.leave()
    if took is None:
        return {"asked": size, "done": 0}
    saga = took.pop("saga", None)
    stored = {"stored_bytes": journal_bytes(url, saga)} if saga else {}
    return {"asked": size, "done": took.pop("operations"), "file_bytes": file_bytes(url) - before, **stored, **took}
