"""Round trips: what other engines' languages keep of documents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from sagagraph.errors import InvalidInputError
from sagagraph.workflow.argo.manifest import manifest
from sagagraph.workflow.argo.reader import read_manifest
from sagagraph.workflow.asl.reader import read_machine
from sagagraph.workflow.asl.writer import state_machine
from sagagraph.workflow.language.checks import findings
from sagagraph.workflow.language.conformance import FEATURES, Kept, kept
from sagagraph.workflow.language.document import Document, document_json, graphs_in, nodes_in

from .documents import documents

PATIENT = settings(max_examples=1000, suppress_health_check=list(HealthCheck))


def types_of(document: Document) -> dict[str, tuple[str, str]]:
    return {each.id: (each.type.value, each.action) for each in nodes_in(document.graph)}


@PATIENT
@given(documents())
def test_both_languages_keep_type_order_and_policy_and_argo_s_models_accept_the_manifest(document: Document) -> None:
    """One after the other of the same documents: drawing them takes longer than either round trip."""
    assert findings(document) == ()
    a_state_machine_keeps_all_of(document)
    a_manifest_keeps_all_of(document)


def a_state_machine_keeps_all_of(document: Document) -> None:
    machine = json.loads(json.dumps(state_machine(document)))
    assert document_json(read_machine(machine)) == document_json(document)
    del machine["Comment"]
    plain = read_machine(machine)
    assert types_of(plain) == types_of(document)
    place = {each.id: number for number, each in enumerate(nodes_in(plain.graph))}
    assert all(place[edge.source] < place[edge.target] for graph in graphs_in(document.graph) for edge in graph.edges)


def a_manifest_keeps_all_of(document: Document) -> None:
    models = pytest.importorskip("hera.workflows.models")
    made = json.loads(json.dumps(manifest(document)))
    models.Workflow.model_validate(made)
    assert document_json(read_manifest(made)) == document_json(document)


def test_argo_s_models_refuse_a_manifest_that_is_none() -> None:
    models = pytest.importorskip("hera.workflows.models")
    with pytest.raises(ValueError, match="validation error"):
        models.Workflow.model_validate({"spec": {"templates": [{"dag": {"tasks": [{}]}}]}})


@pytest.mark.quick
def test_nothing_is_lost_in_either_language() -> None:
    for write, read in ((state_machine, read_machine), (manifest, read_manifest)):
        assert {name for name in FEATURES if kept(name, write, read) is Kept.LOST} == set()


ORDER = {
    "StartAt": "Look",
    "States": {
        "Look": {
            "Type": "Task",
            "Resource": "arn:aws:states:::lambda:invoke",
            "Parameters": {"id.$": "$.order"},
            "ResultPath": "$.done.Look",
            "Next": "Big",
        },
        "Big": {
            "Type": "Choice",
            "Choices": [{"Variable": "$.done.Look.total", "NumericGreaterThan": 9, "Next": "Ask"}],
            "Default": "Ship",
        },
        "Ask": {
            "Type": "Task",
            "Resource": "arn:aws:lambda:us-east-1:000000000000:function:ask",
            "TimeoutSeconds": 60,
            "Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 2, "MaxAttempts": 4, "BackoffRate": 2.0}],
            "Catch": [{"ErrorEquals": ["No"], "Next": "Tell"}],
            "Next": "Ship",
        },
        "Tell": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:tell", "End": True},
        "Ship": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:ship", "End": True},
    },
}


@pytest.mark.quick
def test_a_state_machine_of_somebody_else_is_read() -> None:
    document = read_machine(ORDER)
    assert types_of(document)["Look"] == ("task", "arn:aws:states:::lambda:invoke")
    edges = {(each.source, each.target): each.kind.value for each in document.edges}
    assert edges == {
        ("Look", "Big"): "sequence",
        ("Big", "Ask"): "branch",
        ("Big", "Ship"): "default",
        ("Ask", "Ship"): "sequence",
        ("Ask", "Tell"): "sequence",
    }
    ask = document.policy_of(next(each for each in document.nodes if each.id == "Ask"))
    assert (ask.retry.max_attempts, ask.timeout.seconds, ask.catch[0].handler) == (5, 60, "Tell")  # type: ignore[union-attr]
    assert findings(document) == ()


@pytest.mark.quick
def test_a_machine_that_was_changed_reads_as_it_was_changed() -> None:
    document = read_machine(ORDER)
    machine = state_machine(document)
    machine["States"]["Ask"]["TimeoutSeconds"] = 5
    ask = next(each for each in read_machine(machine).nodes if each.id == "Ask")
    assert read_machine(machine).policy_of(ask).timeout.seconds == 5  # type: ignore[union-attr]


@pytest.mark.quick
@pytest.mark.parametrize(
    "machine",
    [{}, {"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 3, "End": True}}}, {"StartAt": "x", "States": {}}, []],
)
def test_what_documents_do_not_express_is_refused(machine: Any) -> None:
    with pytest.raises(InvalidInputError):
        read_machine(machine)
    with pytest.raises(InvalidInputError):
        read_manifest(machine)


@pytest.mark.quick
def test_an_argo_workflow_of_somebody_else_is_read() -> None:
    text = {
        "metadata": {"generateName": "order-"},
        "spec": {
            "entrypoint": "order",
            "templates": [
                {
                    "name": "order",
                    "dag": {
                        "tasks": [
                            {"name": "look", "template": "run"},
                            {"name": "ship", "template": "run", "dependencies": ["look"]},
                        ]
                    },
                },
                {
                    "name": "run",
                    "container": {"image": "x", "args": ["run"]},
                    "retryStrategy": {"limit": "2"},
                    "activeDeadlineSeconds": 9,
                },
            ],
        },
    }
    document = read_manifest(text)
    assert [(each.source, each.target) for each in document.edges] == [("look", "ship")]
    policy = document.policy_of(document.nodes[0])
    assert (policy.retry.max_attempts, policy.timeout.seconds) == (3, 9)  # type: ignore[union-attr]
    text["spec"]["templates"][0]["dag"]["tasks"][1]["when"] = "{{tasks.look.outputs.result}} == yes"  # type: ignore[index]
    with pytest.raises(InvalidInputError, match="expressions"):
        read_manifest(text)
