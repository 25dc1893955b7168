"""A run that ends in a paradox, is overridden by a person and goes on: killed anywhere, by `python -m sagagraph.testing`."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from sagagraph import Engine
from sagagraph.harness.life.records import Override, Person, Records
from sagagraph.harness.loop.convergence import Slice
from sagagraph.harness.loop.running import ParadoxError, run_harness
from sagagraph.harness.registry.loading import load_harness
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.scenario import BodyScenario, Judgement, store_of

HARNESS = Path(__file__).parents[2] / "sagagraph/harness/examples/ad_degradation.yaml"
TODAY = date(2026, 11, 22)
SPEED = "vehicle_speed_kmph_t5"


class Overriding(BodyScenario):
    name = "override"

    async def body(self, engine: Engine, folder: Path) -> None:
        harness = load_harness(HARNESS)
        records = Records(engine.store, harness.id)

        async def fifty_five(seen: Slice, attempt: str) -> Any:
            with (folder / "asked").open("a") as file:
                file.write(f"{attempt}\n")
            return {SPEED: 55}

        try:
            run = await run_harness(engine, harness, "rain", fifty_five, records, TODAY)
        except ParadoxError as paradox:
            given = Override(
                parameter="max_deceleration_limit", before="2", to="3.62", report=paradox.report, by="Bob", role="approver",
                reason="comfort",
            )  # fmt: skip
            await records.override(harness, given, Person("Bob", "approver"), "now")
            run = await run_harness(engine, harness, "rain", fifty_five, records, TODAY)
        (folder / "artifact").write_text(f"{run.end} {run.artifact}")

    async def judge(self, folder: Path) -> Judgement:
        store = await open_store(store_of(folder))
        audit = await Records(store, "ad_degradation").audit(TODAY)
        await store.close()
        artifact = (folder / "artifact").read_text() if (folder / "artifact").exists() else "nothing"
        asked = (folder / "asked").read_text().split() if (folder / "asked").exists() else []
        used = [each["used_by"] for each in audit["overrides"]]
        faults = [
            *([f"overrides used by {used}"] if used != ["rain"] else []),
            *([f"broken links: {audit['broken_links']}"] if audit["broken_links"] else []),
            *([f"it made {artifact}"] if artifact != f"SUCCESS {{'{SPEED}': 55}}" else []),
            *([f"asked {asked}"] if not 1 <= len(asked) <= 2 else []),
        ]
        return Judgement("overridden", tuple(faults))


SCENARIO = Overriding()
