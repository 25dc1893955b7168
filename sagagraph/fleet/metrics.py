"""Metrics of a worker, in Prometheus' format: the one place where they are declared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class Metrics:
    """Metrics of one worker, in a registry that may have others too."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self._registry = registry or CollectorRegistry()
        self._slots = Gauge("sagagraph_slots", "Sagas that this worker drives at most.", registry=self._registry)
        self._busy = Gauge("sagagraph_slots_busy", "Sagas that it drives now.", registry=self._registry)
        self._drives = Counter("sagagraph_drives", "Drives, by how they ended.", ("outcome",), registry=self._registry)
        self._seconds = Histogram("sagagraph_drive_seconds", "How long a drive took.", registry=self._registry)
        self._looks = Counter("sagagraph_looks", "Looks at what is due.", registry=self._registry)
        self._due = Gauge("sagagraph_due", "Sagas that were due, and free, at the last look.", registry=self._registry)

        limit = "Sagas that a limit kept from being driven at the last look."
        self._held_back = Gauge("sagagraph_held_back", limit, registry=self._registry)

    def held_back(self, sagas: int) -> None:
        self._held_back.set(sagas)

    def serves(self, slots: int) -> None:
        self._slots.set(slots)

    def looked(self, found: int) -> None:
        self._looks.inc()
        self._due.set(found)

    @contextmanager
    def drive(self) -> Iterator[list[str]]:
        """Measure a drive. The list yielded gets the outcome."""
        outcome, began = ["failed"], perf_counter()
        with self._busy.track_inprogress():
            try:
                yield outcome
            finally:
                self._drives.labels(outcome[-1]).inc()
                self._seconds.observe(perf_counter() - began)

    def page(self) -> bytes:
        return generate_latest(self._registry)
