"""Broken promises: which word was believed that the last check has contradicted (docs/protocol.md rule 9). Pure."""

from __future__ import annotations

from sagagraph.saga.core.events import ProbeAnswer, Via
from sagagraph.saga.core.state import Operation, UndoCall
from sagagraph.saga.core.status import OperationStatus


def broken_promise(operation: Operation, answer: ProbeAnswer) -> str:
    """Return what was said and is not so, as a clause; empty if no promise was believed."""
    terms = operation.spec.guarantees
    if answer is ProbeAnswer.MULTIPLE:
        named = "dedup" if terms.dedup_s is not None else "settles" if terms.settles_s is not None else ""
        return f"its provider does not keep {named!r}" if named else ""
    match operation.status:
        case OperationStatus.FAILED if operation.via is Via.PROBE:
            named = "settles" if terms.settles_s is not None else "deadline"
            return f"its provider does not keep {named!r}"
        case OperationStatus.FAILED if operation.fault is not None:
            return f"{operation.fault.code!r} said that nothing had happened"
        case OperationStatus.VOIDED:
            return "its provider does not keep 'void'"
        case OperationStatus.COMPENSATED if operation.undo is not None and operation.undo.call is UndoCall.COMPENSATION:
            return "its compensation said that it was undone"
    return ""
