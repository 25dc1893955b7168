"""Notes: what a worker learned and could not journal any more, for whoever holds the saga now (docs/protocol.md rule 6)."""

from __future__ import annotations

from sagagraph.saga.core import commands as c
from sagagraph.saga.core.state import Saga, UndoCall, operation_key, undo_key, void_key
from sagagraph.saga.stores.port import Note


def told_by(note: Note) -> c.Command:
    """Return the command by which the new holder takes in what another worker learned."""
    if note.call is c.CallKind.ENDED:
        return c.CallsEnded(note.operation, (note.output,))
    return c.EvidenceFound(note.operation, note.call, note.key, note.output)


def note_of(saga: Saga, command: c.Command, sender: str) -> Note | None:
    """Return what this worker learned. That a call has ended counts where everything settles once it has."""
    match command:
        case c.ActionLost(name, sender="") | c.UndoLost(name, sender="") | c.ActionRefused(name) | c.UndoRefused(name):
            operation = saga.operations[name]
            is_told = operation.spec.guarantees.settles_s is not None
            return Note(name, c.CallKind.ENDED, operation_key(saga.id, operation), sender) if is_told else None
        case c.ActionReplied(name, output):
            operation = saga.operations[name]
            return Note(name, c.CallKind.ACTION, operation_key(saga.id, operation), output)
        case c.UndoReplied(name, output):
            operation = saga.operations[name]
            if operation.undo is None or operation.undo.call is UndoCall.VOID:
                return Note(name, c.CallKind.VOID, void_key(saga.id, operation), output)
            return Note(name, c.CallKind.COMPENSATION, undo_key(saga.id, operation, operation.undo.generation), output)
        case _:
            return None
