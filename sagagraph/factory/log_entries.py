"""Log entries: what a workflow's journal says of each node, in ALAS's form, and whether that is what its log schema wants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from sagagraph.saga.core import events as e
from sagagraph.saga.engine.views.document import entry_json
from sagagraph.workflow.language.document import Document, nodes_in
from sagagraph.workflow.language.schemas import misfits

_TYPES: Final[dict[type[Any], str]] = {
    e.AttemptStarted: "StartNode",
    e.OperationSucceeded: "EndNode",
    e.OperationFailed: "EndNode",
    e.OperationGivenUp: "EndNode",
    e.OperationSkipped: "EndNode",
    e.OperationRejected: "ValidateFail",
    e.AttemptRefused: "Retry",
    e.AttemptLost: "Timeout",
    e.CompensationStarted: "Compensate",
    e.OperationCompensated: "Compensate",
    e.CompensationFailed: "Compensate",
}


@dataclass(frozen=True, slots=True)
class LogEntry:
    """Log entry of a node, and why it is not as the node's log schema wants it, if it is not."""

    entry: dict[str, Any]
    misfits: tuple[str, ...]


def log_entries(saga_id: str, document: Document, journal: Iterable[e.Entry]) -> Iterator[LogEntry]:
    """Yield the entries of nodes that have a log schema."""
    nodes = {each.id: each for each in nodes_in(document.graph)}
    for each in journal:
        operation, kind = getattr(each.event, "operation", None), _TYPES.get(type(each.event))
        if kind is None or not isinstance(operation, str):
            continue
        node = nodes[max((name for name in nodes if operation == name or operation.endswith(f"].{name}")), key=len)]
        schema = document.log_schemas.get(node.log_schema_ref)
        if schema is None:
            continue
        told = entry_json(each)
        said = {
            "ts": told["at"],
            "nodeId": node.id,
            "eventType": kind,
            "payload": told["data"],
            "version": each.version,
            "correlationId": f"{saga_id}/{operation}",
        }
        yield LogEntry(said, tuple(misfits(said, schema)))
