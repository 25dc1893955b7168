"""What one operation costs, against the floor and beside the peers: everybody in turn, many rounds, a ratio for each round."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from benchmarks.field import Field
from benchmarks.footprint import head_bytes, journal_bytes
from benchmarks.plan import Plan


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    contender: str
    command: str
    arguments: dict[str, Any]


def cases(plan: Plan) -> tuple[Case, ...]:
    row = {"operations": plan.operations}
    fan = {"operations": plan.parallel, "runs": plan.parallel_runs}
    return (
        Case("shared", "sagagraph", "sequential", row | {"form": "keyed"}),
        Case("alone", "sagagraph", "sequential", row | {"form": "unkeyed"}),
        Case("parallel", "sagagraph", "parallel", fan | {"form": "keyed"}),
        Case("langgraph", "langgraph", "sequential", row),
        Case("langgraph-parallel", "langgraph", "parallel", fan),
        Case("dbos", "dbos", "sequential", row | {"form": "threads"}),
        Case("dbos-async", "dbos", "sequential", row | {"form": "async"}),
        Case("dbos-parallel", "dbos", "parallel", fan),
    )


async def measure(plan: Plan, field: Field) -> dict[str, Any]:
    """Seconds for each store and case, one figure a round. `floor_s` is that of right before and right after it.

    A disk changes its pace, between one moment and the next, by more than what is measured here: where the floor after a case is
    not the floor before it, the round says nothing, and the case gets another one. That is decided by the floors alone.
    """
    stores = field.databases.stores
    size = await _bytes_of_one(plan, field)
    for store in stores:
        for kind in ("floor", "sagagraph", "langgraph", "dbos"):
            await field.enter(kind, store)
    found: dict[str, Any] = {"bytes": size, "stores": {store: {} for store in stores}, "unsteady": dict.fromkeys(stores, 0)}
    give_up_at = perf_counter() + plan.cost_limit_s
    for number in range(2 * plan.rounds + 1):
        if number > 1 and perf_counter() > give_up_at:
            break
        for store in stores:
            seen, is_warm = found["stores"][store], number > 0  # the first round only warms up
            due = [case for case in cases(plan) if not is_complete(seen.get(case.name), plan)]
            found["unsteady"][store] += await _round(plan, field, store, _rotated(due, number), size, seen if is_warm else {})
    await field.leave()
    return found


def is_complete(case: dict[str, list[float]] | None, plan: Plan) -> bool:
    return case is not None and len(case["floor_s"]) >= plan.rounds


async def _round(plan: Plan, field: Field, store: str, due: list[Case], size: int, seen: dict[str, Any]) -> int:
    """Adds what it measured to `seen`. Returns how many cases met a floor that was not steady."""
    unsteady = 0
    before = await _floor(plan, field, store, size) if due else 0.0
    for case in due:
        took = await field.ask(case.contender, store, case.command, **case.arguments)
        if took is None:
            continue
        after = await _floor(plan, field, store, size)
        if is_steady(before, after, plan.steady):
            figures = {
                "floor_s": (before + after) / 2,
                "inside_s": took.get("inside_s", took["seconds"]) / took["operations"],
                "whole_s": took["seconds"] / took["operations"],
            }
            for key, value in figures.items():
                seen.setdefault(case.name, {}).setdefault(key, []).append(value)
        else:
            unsteady += 1
        before = after
    return unsteady


def is_steady(before: float, after: float, times: float) -> bool:
    return max(before, after) <= times * min(before, after)


async def _floor(plan: Plan, field: Field, store: str, size: int) -> float:
    """Seconds a commit."""
    floor = await field.ask("floor", store, "commits", count=plan.floor_commits, size=size)
    if floor is None:
        raise RuntimeError(f"nothing can be measured without a floor: {field.skipped[-1].why}")
    return float(floor["seconds"] / floor["operations"])


async def _bytes_of_one(plan: Plan, field: Field) -> int:
    """What one operation puts into the journal: its events, and the head once."""
    url = field.databases.fresh("sqlite")
    await field.enter("sagagraph", "sqlite", url=url)
    took = await field.ask("sagagraph", "sqlite", "sequential", operations=plan.operations, form="unkeyed")
    await field.leave()
    if took is None:
        raise RuntimeError(f"nothing can be measured: {field.skipped[-1].why}")
    events = journal_bytes(url, took["saga"]) / int(took["operations"])
    return round(events) + head_bytes(url, took["saga"])


def _rotated(every: list[Case], by: int) -> list[Case]:
    """Nobody always runs after the same neighbour's dirty pages."""
    start = by % len(every) if every else 0
    return every[start:] + every[:start]
