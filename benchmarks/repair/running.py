"""One case of the benchmark, from the blow to the figures."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.repair.cases import TRIPS
from benchmarks.repair.judge import faults_of
from benchmarks.repair.measure import change_of
from benchmarks.repair.trips import struck

if TYPE_CHECKING:
    from benchmarks.repair.disruptions import Disruption


def case_of(task: tuple[int, Disruption]) -> dict[str, Any]:
    number, disruption = task
    return asyncio.run(_struck(number, disruption))


async def _struck(number: int, disruption: Disruption) -> dict[str, Any]:
    """One disruption: repaired, and, where that is asked for, begun again on a world of its own."""
    trip = TRIPS[number]
    with tempfile.TemporaryDirectory() as folder:
        outcome = await struck(Path(folder) / "repair", trip.request, disruption)
        case: dict[str, Any] = {
            "trip": number,
            "disruption": str(disruption),
            "blows": len(disruption.blows),
            "status": outcome.status,
            "faults": await faults_of(outcome),
            "repairs": [
                [each.best and each.best.kept, each.proposed and each.proposed.kept, each.held] for each in outcome.repairs
            ],
            "repair": change_of(outcome),
            "again": None,
        }
        if trip.starts_again and outcome.repairs:
            again = await struck(Path(folder) / "again", trip.request, disruption, repairs=False, asks_oracle=False)
            case["again"] = {"status": again.status, "starts": len(again.sagas), **change_of(again)}
            case["faults"] += [f"started again: {fault}" for fault in await faults_of(again)]
        return case
