"""Upcasting: events of earlier schemas, read step by step from one schema version to the next (docs/protocol.md rule 10).

Journals are never rewritten; an event is lifted each time that it is read. To change what is stored:

1. Change the event's class in `events`. (A new field with a default needs no more than that, and no new schema version.)
2. Count `SCHEMA_VERSION` up, to n+1.
3. Add to `UPCASTERS`, under the event's name in schema n and the version n, a function that makes the data of n+1 out of that
   of n. It is given the JSON object, to change and return, and the instant at which the event was appended (seconds since the
   epoch, UTC). It must not need anything else: a journal reads the same at any time and place.
4. An event that gets another name stands in `RENAMED` too, from (old name, n) to its name in n+1.
5. Add journals of the release before it to the tests, written by that release (`tests/saga/journals`).
"""

from __future__ import annotations

from collections.abc import Callable

from sagagraph.workflow.values import Json

SCHEMA_VERSION = 2

Upcaster = Callable[[dict[str, Json], float], dict[str, Json]]


def _asked_when_written(data: dict[str, Json], at: float) -> dict[str, Json]:
    return {"asked_at": at, **data}


UPCASTERS: dict[tuple[str, int], Upcaster] = {
    ("OperationProbed", 1): _asked_when_written,
}
RENAMED: dict[tuple[str, int], str] = {}


def is_current(name: str, version: int) -> bool:
    """Tell whether the event reads as it stands: it has not changed since that schema."""
    return not any((name, each) in UPCASTERS or (name, each) in RENAMED for each in range(version, SCHEMA_VERSION))


def upcast(name: str, version: int, data: dict[str, Json], at: float) -> tuple[str, dict[str, Json]]:
    """Return the event's name and data in the present schema."""
    for each in range(version, SCHEMA_VERSION):
        step = UPCASTERS.get((name, each))
        data = data if step is None else step(data, at)
        name = RENAMED.get((name, each), name)
    return name, data
