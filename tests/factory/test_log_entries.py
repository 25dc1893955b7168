from __future__ import annotations

from typing import Any

import pytest

from sagagraph.errors import OperationFailedError
from sagagraph.factory.log_entries import log_entries
from sagagraph.factory.running import Assignment, run_document
from sagagraph.saga.engine.engine import Engine

from .test_running import World, document

pytestmark = pytest.mark.quick
SEATED = {"required": ["ts", "payload"], "properties": {"payload": {"required": ["operation", "seat"]}}}
TIMED = {"required": ["ts", "nodeId", "eventType", "version", "correlationId"]}


async def test_what_the_journal_says_of_a_node_is_compared_with_its_log_schema() -> None:
    """In maps too, and on the way back; of a node without a log schema nothing is wanted."""
    world = World("a", "b", "c", "d", refused={"d": "Full"})
    inner = {"id": "b", "type": "task", "action": "b", "logSchemaRef": "timed"}
    plan = document(
        {"id": "a", "type": "task", "action": "a", "logSchemaRef": "seated"},
        {"id": "m", "type": "map", "items": ["x", "y"], "body": {"nodes": [inner]}, "policyRef": "m"},
        "c",
        "d",
        edges=[("a", "m"), ("m", "c"), ("c", "d")],
        policies={"m": {"loopGuards": {"maxIters": 2}}},
        logSchemas={"seated": SEATED, "timed": TIMED},
    )
    async with Engine.open("memory:") as engine:
        with pytest.raises(OperationFailedError):
            await run_document(engine, "s", Assignment(plan), world.actions)
        found = tuple(log_entries("s", plan, await engine.journal("s")))
    kinds: dict[str, list[Any]] = {}
    for each in found:
        kinds.setdefault(each.entry["correlationId"], []).append(each.entry["eventType"])
    whole = ["StartNode", "EndNode", "Compensate", "Compensate"]
    assert kinds == {"s/a": whole, "s/m[0].b": whole, "s/m[1].b": whole}
    assert {(each.entry["nodeId"], each.misfits) for each in found} == {("a", ("payload.seat is missing",)), ("b", ())}
