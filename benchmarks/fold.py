"""How long a large saga takes from its stored text to its state, against `json.loads` of the same text, side by side.

`python -m benchmarks.fold` prints the figures.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sagagraph.saga.core import events as e
from sagagraph.saga.core.codec import Record, decode, encode
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.state import Saga
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec

SAGA = "trip"
OPERATIONS = 10_000
RUNS = 9


class Row(NamedTuple):
    """One event as a store keeps it."""

    version: int
    epoch: int
    at: float
    record: Record


@dataclass(frozen=True, slots=True)
class Figures:
    """`json_s` and `fold_s` of each run, one after the other."""

    events: int
    bytes_per_event: float
    runs: tuple[tuple[float, float], ...]

    @property
    def ratios(self) -> tuple[float, ...]:
        return tuple(fold_s / json_s for json_s, fold_s in self.runs)


def journal(operations: int = OPERATIONS) -> list[Row]:
    """A body that ran one operation after the other: each planned, started and succeeded; inputs and outputs of 100 bytes."""
    happened: list[e.Event] = [e.SagaBegun(e.Driver.BODY, "", {"to": "Cologne"})]
    for number in range(operations):
        happened += _one_operation(number)
    return [Row(version, 1, 1_700_000_000.5 + version, encode(event)) for version, event in enumerate(happened, 1)]


def _one_operation(number: int) -> tuple[e.Event, ...]:
    name = f"book-{number}"
    inputs = {"hotel": "Hotel am Dom", "city": "Cologne", "nights": 3, "from": "2025-06-04", "guests": ["Ada Lovelace"]}
    output = {"id": f"r-{number:06}", "state": "confirmed", "price": 412.5, "currency": "EUR", "at": "2025-05-01T12:00:00Z"}
    after = (f"book-{number - 1}",) if number else ()
    return (
        e.OperationPlanned(OperationSpec(name, "book", ActionKind.COMPENSATABLE, inputs, after)),
        e.AttemptStarted(name, 1, 1, f"{SAGA}/{name}/1", 1_700_000_030.25 + number),
        e.OperationSucceeded(name, output),
    )


def folded(rows: Sequence[Row]) -> Saga:
    return fold(SAGA, (e.Entry(version, epoch, at, decode(record, at)) for version, epoch, at, record in rows))


def loaded(rows: Sequence[Row]) -> list[Any]:
    return [json.loads(row.record.data) for row in rows]


def measure(rows: Sequence[Row], runs: int = RUNS) -> Figures:
    size = sum(len(row.record.data.encode()) for row in rows) / len(rows)
    return Figures(len(rows), size, tuple((_seconds(loaded, rows), _seconds(folded, rows)) for _ in range(runs)))


def _seconds(work: Callable[[Sequence[Row]], object], rows: Sequence[Row]) -> float:
    gc.collect()  # what the work before it left is not its to clear up
    begun = time.perf_counter()
    made = work(rows)
    ended = time.perf_counter()
    del made
    return ended - begun


def main() -> None:
    figures = measure(journal())
    json_s, fold_s = (statistics.median(each) for each in zip(*figures.runs, strict=True))
    sys.stdout.write(
        f"{figures.events} events of {figures.bytes_per_event:.0f} bytes: json.loads {json_s * 1000:.0f} ms, "
        f"decode and fold {fold_s * 1000:.0f} ms; ratio {statistics.median(figures.ratios):.2f} "
        f"(best {min(figures.ratios):.2f}, worst {max(figures.ratios):.2f} of {len(figures.runs)} runs)\n"
    )


if __name__ == "__main__":
    main()
