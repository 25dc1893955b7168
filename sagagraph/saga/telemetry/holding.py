"""Telemetry: where the engine reports what happens to its sagas. Costs next to nothing while nobody listens.

A failure in somebody's exporter or log processor must not stop a saga: only that line or span is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from sagagraph.errors import JournalError, SagaGraphError, StoreError
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.telemetry.around import UNRECORDED, Around
from sagagraph.saga.telemetry.log import SagaLog, logger
from sagagraph.validators.protocol import Validator

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from sagagraph.saga.telemetry.spans import SagaSpans


@cache
def _has_spans() -> bool:
    """Tell whether OpenTelemetry, an extra, is installed: without it there are log lines only."""
    return find_spec("opentelemetry") is not None


class Telemetry:
    """Telemetry of one engine. It looks for listeners whenever the lease of a saga is taken."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        self._tracer = tracer
        self._held: dict[str, Holding] = {}
        """Those that somebody listens to."""
        self._has_lost_database = False
        self._stumbled_over = ""

    def begin(self, saga: Saga, owner: str) -> Holding:
        holding = Holding(self._ended, self._has_lost_database)
        self._has_lost_database = False
        with suppress(Exception):
            holding.begin(self._tracer, saga, owner)
        if holding.has_listeners:
            self._held[saga.id] = holding
        return holding

    def _ended(self, saga_id: str, failure: SagaGraphError | None) -> None:
        self._held.pop(saga_id, None)
        if isinstance(failure, StoreError) and not isinstance(failure, JournalError):
            self._has_lost_database = True

    def stumbled(self, exc: Exception) -> None:
        """Note a failure of the engine itself, which goes on. The same one is not told twice in a row."""
        if (what := repr(exc)) == self._stumbled_over:
            return
        self._stumbled_over = what
        with suppress(Exception):
            if (found := logger()) is not None:
                found.error("engine stumbled", error=type(exc).__name__)

    def call(self, operation: Operation, call: Call) -> Around:
        """Enter the context around the call of an action, a probe, a void or a compensation."""
        holding = self._held.get(call.saga_id)
        return UNRECORDED if holding is None else holding.around(lambda spans: spans.call(operation, call))

    def judging(self, saga: Saga, operation: Operation, validator: Validator) -> Around:
        """Enter the context around the judgement of an operation's output."""
        holding = self._held.get(saga.id)
        if holding is None:
            return UNRECORDED
        return holding.around(lambda spans: spans.judging(operation, validator.name, validator.version))

    def judging_plan(self, saga: Saga, validator: str) -> Around:
        holding = self._held.get(saga.id)
        return UNRECORDED if holding is None else holding.around(lambda spans: spans.judging_plan(validator))


class Holding:
    """One saga while this worker holds it."""

    def __init__(self, on_end: Callable[[str, SagaGraphError | None], None], has_lost_database: bool) -> None:
        self._on_end = on_end
        self._finds_database_again = has_lost_database
        self._log: SagaLog | None = None
        self._spans: SagaSpans | None = None
        self._entered: AbstractContextManager[object] = nullcontext()
        self._failure: SagaGraphError | None = None

    def begin(self, tracer: Tracer | None, saga: Saga, owner: str) -> None:
        if _has_spans():
            self._begin_spans(tracer, saga)
        found = logger()
        if found is not None:
            self._log = SagaLog(found, saga)
            if self._finds_database_again:
                self._log.recovered()
            self._log.begin(saga, owner)

    def _begin_spans(self, tracer: Tracer | None, saga: Saga) -> None:
        from opentelemetry.trace import get_tracer

        from sagagraph.saga.telemetry.spans import SagaSpans

        spans = SagaSpans(tracer or get_tracer("sagagraph"), saga)
        self._entered = spans.entered()
        self._spans = spans if spans.are_recorded else None

    @property
    def has_listeners(self) -> bool:
        return self._log is not None or self._spans is not None

    def entered(self) -> AbstractContextManager[object]:
        """Make the saga's span current inside; enter it once."""
        return self._entered

    def observe(self, saga: Saga, entries: tuple[Entry, ...], /) -> None:
        with suppress(Exception):
            if self._spans is not None:
                self._spans.observe(saga, entries)
        with suppress(Exception):
            if self._log is not None:
                self._log.observe(saga, entries)

    def around(self, begin: Callable[[SagaSpans], Around]) -> Around:
        with suppress(Exception):
            if self._spans is not None:
                return begin(self._spans)
        return UNRECORDED

    def failed(self, exc: SagaGraphError) -> None:
        """Note that work on the saga ended before the saga did."""
        self._failure = exc
        with suppress(Exception):
            if self._log is not None:
                self._log.failed(exc)

    def end(self, saga: Saga) -> None:
        self._on_end(saga.id, self._failure)
        with suppress(Exception):
            if self._spans is not None:
                self._spans.end(saga, self._failure)
        with suppress(Exception):
            if self._log is not None and self._failure is None:
                self._log.end(saga)
