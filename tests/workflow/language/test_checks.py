from __future__ import annotations

import json
from typing import Any

import pytest

from sagagraph.errors import InvalidInputError
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.language.checks import findings
from sagagraph.workflow.language.document import document_json, document_schema, read_document
from sagagraph.workflow.language.schemas import clash, misfits

pytestmark = pytest.mark.quick


def task(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "task", "action": f"do_{name}", **more}


def edge(source: str, target: str, **more: Any) -> dict[str, Any]:
    return {"from": source, "to": target, **more}


def codes(**document: Any) -> set[str]:
    return {each.code for each in findings(read_document({"name": "w", **document}))}


TYPED = {"output": {"type": "object", "properties": {"fare": {"type": "number"}}}}
IF_CHEAP = {"kind": "output", "operation": "a", "path": ["fare"], "comparison": "<", "value": 9}
UNDONE = {"compensation": {"handler": "x", "safeReinvoke": False}}

FAULTY: dict[str, tuple[str, dict[str, Any]]] = {
    "a circle": ("W1", {"nodes": [task("a"), task("b")], "edges": [edge("a", "b"), edge("b", "a")]}),
    "an output that comes later": (
        "W1",
        {"nodes": [task("a", params={"x": {"$from": "b", "path": []}}), task("b")], "edges": [edge("a", "b")]},
    ),
    "a branch without a guard": ("W2", {"nodes": [task("a"), task("b")], "edges": [edge("a", "b", kind="branch")]}),
    "a guard on a field that there is not": (
        "W2",
        {
            "nodes": [task("a", io=TYPED), task("b")],
            "edges": [edge("a", "b", kind="branch", guard={**IF_CHEAP, "path": ["fair"]})],
        },
    ),
    "a guard of another type": (
        "W2",
        {
            "nodes": [task("a", io=TYPED), task("b")],
            "edges": [edge("a", "b", kind="branch", guard={**IF_CHEAP, "value": "nine"})],
        },
    ),
    "a default without a choice": ("W2", {"nodes": [task("a"), task("b")], "edges": [edge("a", "b", kind="default")]}),
    "a choice that leads nowhere": ("W2", {"nodes": [{"id": "c", "type": "choice"}]}),
    "an unknown policy": ("V1", {"nodes": [task("a", policyRef="none")]}),
    "outputs that do not fit": (
        "W4",
        {
            "nodes": [task("a", io=TYPED), task("b", io={"input": {"type": "object", "required": ["date"]}})],
            "edges": [edge("a", "b")],
        },
    ),
    "a compensation that may not be repeated": ("W5", {"nodes": [task("a")], "policies": {"default": UNDONE}}),
    "a retry without back-off": ("V2", {"nodes": [task("a")], "policies": {"p": {"retry": {"maxAttempts": 3}}}}),
    "a time limit of nothing": ("V3", {"nodes": [task("a")], "policies": {"p": {"timeout": {"seconds": 0}}}}),
    "a map without end": ("V5", {"nodes": [{"id": "m", "type": "map", "items": [1], "body": {"nodes": [task("a")]}}]}),
    "keys that collide": ("V6", {"nodes": [task("a")], "policies": {"p": {"idempotencyKey": {"template": "always"}}}}),
    "two nodes of one id": ("FORM", {"nodes": [task("a"), task("a")]}),
    "a handler without an edge": (
        "FORM",
        {"nodes": [task("a"), task("b")], "policies": {"default": {"catch": [{"errors": ["*"], "handler": "b"}]}}},
    ),
    "a disruption without a repair": (
        "REPAIR",
        {
            "nodes": [task("a"), task("b")],
            "edges": [edge("a", "b")],
            "meta": {"disruptions": [{"kind": "delay", "nodes": ["b"]}]},
        },
    ),
    "a repair that reaches too far": (
        "REPAIR",
        {
            "nodes": [task("a", repair={"edits": ["time"], "radius": 1}), task("b"), task("c")],
            "edges": [edge("a", "b", repairable="time"), edge("b", "c", repairable="time")],
            "meta": {"disruptions": [{"kind": "delay", "nodes": ["a"]}]},
        },
    ),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_every_rule_finds_what_breaks_it(fault: str) -> None:
    code, document = FAULTY[fault]
    assert code in codes(**document)


def test_what_breaks_no_rule_has_no_findings() -> None:
    sound = {
        "nodes": [task("a", io=TYPED), {"id": "c", "type": "choice"}, task("b"), task("d")],
        "edges": [
            edge("a", "c", repairable="time"),
            edge("c", "b", kind="branch", guard=IF_CHEAP),
            edge("c", "d", kind="default"),
        ],
        "policies": {"default": {"retry": {"maxAttempts": 3}, "backoff": {"mode": "fixed"}, "timeout": {"seconds": 9}}},
        "meta": {"disruptions": [{"kind": "delay", "nodes": ["a"]}, {"kind": "failure", "nodes": ["b"]}]},
    }
    assert codes(**sound) == set()


def test_what_can_be_undone_comes_before_the_pivot() -> None:
    document = read_document({"name": "w", "nodes": [task("a"), task("b")], "edges": [edge("a", "b")]})
    kinds = {"do_a": ActionKind.PIVOT, "do_b": ActionKind.COMPENSATABLE}
    assert [each.code for each in findings(document, kinds)] == ["W1"]
    assert findings(document, {"do_a": ActionKind.COMPENSATABLE, "do_b": ActionKind.PIVOT}) == ()


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ([], "workflow"),
        ({"name": "w", "nodes": [{"id": "a", "type": "tsk"}]}, "workflow.nodes[0].type"),
        ({"name": "w", "nodes": [], "edgs": []}, "workflow"),
        ({"name": "w", "nodes": [task("a")], "edges": [edge("a", "a", guard="fare < 9")]}, "workflow.edges[0].guard"),
    ],
)
def test_an_unusable_document_is_refused_and_the_place_named(value: Any, field: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        read_document(value)
    assert refused.value.field == field


def test_a_document_is_read_and_written_without_loss_and_has_a_schema() -> None:
    value = {"name": "w", "nodes": [task("a", io=TYPED)], "policies": {"p": {"timeout": {"seconds": 9.0}}}}
    assert json.loads(json.dumps(document_json(read_document({"Workflow": value})))) == value
    assert {"Node", "Edge", "PolicyTerms", "Graph"} <= document_schema()["$defs"].keys()


def test_values_and_forms() -> None:
    assert list(misfits({"fare": True}, TYPED["output"])) == ["fare is no number"]
    assert list(misfits([1, "x"], {"type": "array", "items": {"type": "integer"}})) == ["[1] is no integer"]
    assert clash({"type": "integer"}, {"type": "number"}) is None
    assert clash({"type": "string"}, {"type": "number"}) == "string where number is wanted"
