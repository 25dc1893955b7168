"""One step of a fold, as the projections look at it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sagagraph.saga.core.events import Entry, OperationPlanned
from sagagraph.saga.core.state import Operation, Saga


@dataclass(frozen=True, slots=True)
class Step:
    """An entry, and the saga before and after it (the same for the first one)."""

    before: Saga
    entry: Entry
    after: Saga

    def changed(self) -> Iterator[Operation]:
        """The operations that this entry changed, as they are after it."""
        event = self.entry.event
        name = event.operation.id if isinstance(event, OperationPlanned) else getattr(event, "operation", None)
        if name is not None:
            yield self.after.operations[name]
        elif self.after.operations is not self.before.operations:
            for each in self.after.operations.values():
                if self.before.operations.get(each.id) is not each:
                    yield each
