"""Meters: they count what the journals say, dashboards and alerts ask for names that exist, and no secret is in them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client import generate_latest

from sagagraph import Call, Engine, action
from sagagraph.errors import OperationHeldError
from sagagraph.operating import meters as module
from sagagraph.operating.meters import Meters
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.engine.views.survey import UNREADABLE, Survey
from sagagraph.saga.stores.memory import MemorySagaStore

DEPLOY = Path(__file__).parents[2] / "deploy"
CANARY = "canary-8d1f"


async def undo(request: str, result: str, call: Call) -> None: ...


@action(compensate=undo)
async def book(request: str, call: Call) -> str:
    if request == "lost":
        raise RuntimeError(CANARY)
    return CANARY


async def _run(engine: Engine, saga_id: str, request: str) -> None:
    async with engine.saga(saga_id) as saga:
        await saga.run(book, request)


async def _told(meters: Meters) -> dict[str, float]:
    lines = generate_latest(meters.registry).decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))}


async def test_meters_count_what_was_journalled_and_how_things_stand() -> None:
    meters = Meters()
    async with Engine.open("memory:", observers=[meters]) as engine:
        await _run(engine, "good", "x")
        for name in ("first", "second"):
            with pytest.raises(OperationHeldError):
                await _run(engine, name, "lost")
        survey = Survey(engine.store)
        partial = await survey.look(0.0, most=1)
        assert sorted(partial.counts.items()) == [(("", "committed"), 1), (("", "held"), 1), (("", "running"), 1)]
        overview = await survey.look(partial.open[0].since + 100, most=10)
        meters.show(overview)
        assert {each.saga_id for each in overview.needing_person} == {"first", "second"}
        assert overview.needing_person[0].saga_id == "first"
        assert 100 <= overview.oldest(OperationStatus.HELD) < 200
    told = await _told(meters)
    assert told['sagagraph_operations_total{action="book",domain="",outcome="succeeded"}'] == 1
    assert told['sagagraph_operations_total{action="book",domain="",outcome="held"}'] == 2
    assert told['sagagraph_calls_total{call="action",outcome="lost",provider=""}'] == 2
    assert told['sagagraph_sagas{domain="",status="held"}'] == 2
    assert told["sagagraph_oldest_held_seconds"] >= 100
    assert told["sagagraph_commit_seconds_count"] > 0
    assert CANARY not in repr(told)


async def test_a_status_that_no_saga_has_any_more_is_nought_and_not_as_it_was() -> None:
    meters = Meters()
    async with Engine.open("memory:", observers=[meters]) as engine:
        with pytest.raises(OperationHeldError):
            await _run(engine, "held", "lost")
        survey = Survey(engine.store)
        meters.show(await survey.look(0.0, 10))
        view = await engine.resolve("held", "book-1", "failed")
        meters.show(await survey.look(0.0, 10))
    told = await _told(meters)
    assert told['sagagraph_sagas{domain="",status="held"}'] == 0
    assert told[f'sagagraph_sagas{{domain="",status="{view.status}"}}'] == 1


async def test_a_figure_that_cannot_be_counted_stops_no_saga(monkeypatch: pytest.MonkeyPatch) -> None:
    meters = Meters()

    def fails(*_told: object) -> None:
        raise TypeError

    monkeypatch.setattr(meters, "_count", fails)
    async with Engine.open("memory:", observers=[meters]) as engine:
        await _run(engine, "good", "x")
        assert (await engine.status("good")).status == "committed"


async def test_a_journal_that_cannot_be_read_waits_for_a_person_and_hides_no_other() -> None:
    store = MemorySagaStore()
    engine = Engine(store)
    for name in ("damaged", "whole"):
        with pytest.raises(OperationHeldError):
            await _run(engine, name, "lost")
    del store._sagas["damaged"].rows[1]
    overview = await Survey(store).look(0.0, 10)
    assert {each.saga_id: each.status for each in overview.needing_person} == {"damaged": UNREADABLE, "whole": "held"}
    await engine.close()


async def test_opentelemetry_hears_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr("opentelemetry.metrics.get_meter", provider.get_meter)
    meters = Meters()
    async with Engine.open("memory:", observers=[meters]) as engine:
        await _run(engine, "good", "x")
        meters.show(await Survey(engine.store).look(0.0, 10))
    data: Any = reader.get_metrics_data()
    found = {each.name: each for scope in data.resource_metrics[0].scope_metrics for each in scope.metrics}
    (point,) = found["sagagraph.operations"].data.data_points
    assert (point.value, point.attributes["outcome"]) == (1, "succeeded")
    assert {"sagagraph.sagas", "sagagraph.commit_seconds", "sagagraph.events"} <= set(found)
    assert CANARY not in repr(data)


def _emitted() -> set[str]:
    counted = {f"{module.PREFIX}_{name}_total" for name in module.COUNTERS}
    timed = {f"{module.PREFIX}_{module.COMMITS}_{each}" for each in ("bucket", "count", "sum")}
    return counted | timed | {f"{module.PREFIX}_{name}" for name in module.GAUGES}


def _labels() -> set[str]:
    return {label for _about, labels in (*module.COUNTERS.values(), *module.GAUGES.values()) for label in labels} | {"le"}


@pytest.mark.parametrize("name", ["grafana.json", "alerts.yml"])
def test_dashboard_and_alerts_ask_only_for_what_is_emitted(name: str) -> None:
    text = (DEPLOY / name).read_text()
    if name.endswith("json"):
        text = "\n".join(target["expr"] for panel in json.loads(text)["panels"] for target in panel["targets"])
    asked = set(re.findall(r"\bsagagraph_\w+", text))
    assert len(asked) > 5
    assert asked <= _emitted()
    grouped = {each.strip() for found in re.findall(r"by \(([\w, ]+)\)", text) for each in found.split(",")}
    assert grouped <= _labels()


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool comes with Debian's package prometheus")
def test_prometheus_itself_can_read_the_alerts() -> None:
    told = subprocess.run(["promtool", "check", "rules", str(DEPLOY / "alerts.yml")], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_every_alert_leads_to_a_chapter_of_the_operators_guide() -> None:
    guide = (DEPLOY.parent / "docs" / "operating.md").read_text()
    chapters = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in re.findall(r"^#+ (.+)$", guide, re.MULTILINE)}
    wanted = set(re.findall(r"docs/operating\.md#([\w-]+)", (DEPLOY / "alerts.yml").read_text()))
    assert wanted
    assert wanted <= chapters, wanted - chapters
