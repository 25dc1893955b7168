"""Meters: what happens to the sagas of one process, as counters and gauges for Prometheus and OpenTelemetry.

Everything is derived from what is journalled, after it is durable: the engine counts nothing itself, and a program without meters
pays nothing. Labels are names that the program chose (domain, action, provider, model), never anything that somebody said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from sagagraph.saga.core import events as e
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.engine.views.survey import Overview

PREFIX: Final = "sagagraph"
COUNTERS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "operations": ("Operations that were settled.", ("domain", "action", "outcome")),
    "calls": ("Calls that were answered, or lost.", ("provider", "call", "outcome")),
    "lease_takeovers": ("Leases of sagas that this process took from another, or again.", ("domain",)),
    "events": ("Events that this process journalled.", ("domain",)),
    "model_tokens": ("Tokens that models read and wrote.", ("model", "direction")),
    "model_cost_dollars": ("What models cost, by the prices in the settings.", ("model",)),
}
GAUGES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "sagas": ("Sagas in the store.", ("domain", "status")),
    "oldest_held_seconds": ("For how long an operation has been held, at most.", ()),
    "oldest_in_doubt_seconds": ("For how long it has not been known what became of a call, at most.", ()),
    "oldest_stuck_seconds": ("For how long an operation could not be undone, at most.", ()),
}
COMMITS: Final = "commit_seconds"
_COMMITS_ABOUT: Final = "From the moment when something happened until it was durable."
_OLDEST: Final = {
    "oldest_held_seconds": OperationStatus.HELD,
    "oldest_in_doubt_seconds": OperationStatus.IN_DOUBT,
    "oldest_stuck_seconds": OperationStatus.COMPENSATION_FAILED,
}
_SETTLED: Final[Mapping[type[Any], str]] = {
    e.OperationSucceeded: "succeeded",
    e.OperationFailed: "failed",
    e.OperationRejected: "rejected",
    e.OperationHeld: "held",
    e.OperationSkipped: "skipped",
    e.OperationCompensated: "compensated",
    e.OperationVoided: "voided",
    e.CompensationFailed: "compensation failed",
}
_ANSWERED: Final[Mapping[type[Any], tuple[str, str]]] = {
    e.OperationSucceeded: ("action", "done"),
    e.AttemptRefused: ("action", "refused"),
    e.OperationFailed: ("action", "refused"),
    e.AttemptLost: ("action", "lost"),
    e.OperationCompensated: ("compensation", "done"),
    e.CompensationRefused: ("compensation", "refused"),
    e.CompensationLost: ("compensation", "lost"),
    e.OperationProbed: ("probe", "unsettled"),
}


class Meters:
    """Meters of one process; an observer of its engine."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.registry = CollectorRegistry()
        self._clock = clock
        self._counters = {
            name: Counter(f"{PREFIX}_{name}", about, labels, registry=self.registry) for name, (about, labels) in COUNTERS.items()
        }
        self._gauges = {
            name: Gauge(f"{PREFIX}_{name}", about, labels, registry=self.registry) for name, (about, labels) in GAUGES.items()
        }
        self._commits = Histogram(f"{PREFIX}_{COMMITS}", _COMMITS_ABOUT, registry=self.registry)
        self._otel = _otel_instruments() if find_spec("opentelemetry") else {}
        self._shown: set[tuple[str, str]] = set()

    def __call__(self, saga: Saga, entries: tuple[Entry, ...]) -> None:
        """Count what has been journalled. A failure loses a figure, and never stops a saga."""
        with suppress(Exception):
            self._observe(saga, entries)

    def _observe(self, saga: Saga, entries: tuple[Entry, ...]) -> None:
        self._add("events", len(entries), domain=saga.domain)
        self._commits.observe(seconds := max(0.0, self._clock() - entries[0].at))
        if self._otel:
            self._otel[COMMITS].record(seconds)
        for entry in entries:
            self._count(saga, entry.event)

    def show(self, overview: Overview) -> None:
        """Show how things stand in the store."""
        counts = dict.fromkeys(self._shown, 0) | dict(overview.counts)
        self._shown = set(counts)
        for (domain, status), number in counts.items():
            self._set("sagas", number, domain=domain, status=status)
        for name, status in _OLDEST.items():
            self._set(name, overview.oldest(status))

    def _count(self, saga: Saga, event: e.Event) -> None:
        name = getattr(event, "operation", "")  # of what a body plans, that is its specification
        operation = saga.operations.get(name) if isinstance(name, str) else None
        if operation is not None and (outcome := _SETTLED.get(type(event))):
            self._add("operations", domain=saga.domain, action=operation.spec.action, outcome=outcome)
        if operation is not None and operation.has_effect and (answer := _ANSWERED.get(type(event))):
            call, outcome = answer
            self._add("calls", provider=saga.provider or "", call=call, outcome=outcome)
        if isinstance(event, e.LeaseTaken):
            self._add("lease_takeovers", domain=saga.domain)
        if isinstance(event, e.ModelAsked):
            self._add("model_tokens", event.tokens_in, model=event.model, direction="in")
            self._add("model_tokens", event.tokens_out, model=event.model, direction="out")
            self._add("model_cost_dollars", event.cost_usd or 0.0, model=event.model)

    def _add(self, name: str, amount: float = 1, **labels: str) -> None:
        self._counters[name].labels(**labels).inc(amount)
        if self._otel:
            self._otel[name].add(amount, labels)

    def _set(self, name: str, value: float, **labels: str) -> None:
        gauge = self._gauges[name]
        (gauge.labels(**labels) if labels else gauge).set(value)
        if self._otel:
            self._otel[name].set(value, labels)


def _otel_instruments() -> dict[str, Any]:
    """Return an instrument for each; they cost next to nothing where the program has set up no provider of meters."""
    from opentelemetry.metrics import get_meter

    meter = get_meter(PREFIX)
    counters = {name: meter.create_counter(f"{PREFIX}.{name}", description=about) for name, (about, _) in COUNTERS.items()}
    gauges = {name: meter.create_gauge(f"{PREFIX}.{name}", description=about) for name, (about, _) in GAUGES.items()}
    return {**counters, **gauges, COMMITS: meter.create_histogram(f"{PREFIX}.{COMMITS}", "s", _COMMITS_ABOUT)}
