"""OpenTelemetry spans of one saga while this worker holds it: saga → operation → attempt, probe, void, compensation, validator.

They carry names, numbers and codes, never a payload or the text of an exception.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import Token

from opentelemetry import context as ambient
from opentelemetry.trace import Span, StatusCode, Tracer, set_span_in_context, use_span

from sagagraph.errors import Refused, SagaGraphError, SupersededError
from sagagraph.saga.core.call import Call, Purpose
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.telemetry.around import Around

_NAMES = {Purpose.ACTION: "attempt"}
"""Spans of calls are named after their purpose, but for these."""
_UNDER_WAY = (OperationStatus.STARTED, OperationStatus.IN_DOUBT, OperationStatus.COMPENSATING)
_GOOD = (OperationStatus.SUCCEEDED, OperationStatus.COMPENSATED, OperationStatus.VOIDED, OperationStatus.SKIPPED)
_WAITS = (SagaStatus.HELD, SagaStatus.STUCK)

Attributes = dict[str, str | int]


class RecordedAround(Around):
    """A context whose span is current inside, so that spans made by the code inside become its children."""

    __slots__ = ("_key", "_outcome", "_span", "_token")

    def __init__(self, span: Span, key: str = "outcome") -> None:
        self._span = span
        self._key = key
        self._outcome = OperationStatus.SUCCEEDED.value
        self._token: Token[ambient.Context] | None = None

    def __enter__(self) -> RecordedAround:
        self._token = ambient.attach(set_span_in_context(self._span))
        return self

    def __exit__(self, _kind: object, exc: BaseException | None, _trace: object) -> None:
        if self._token is not None:
            ambient.detach(self._token)
        with suppress(Exception):  # a broken exporter must not make the call look lost
            self._end(exc)

    def _end(self, exc: BaseException | None) -> None:
        if exc is None:
            self._span.set_attribute(self._key, self._outcome)
        else:
            outcome, code = _end_of(exc)
            self._span.set_attributes({self._key: outcome, "fault.code": code})
            self._span.set_status(StatusCode.ERROR, code)
        self._span.end()

    def answered(self, outcome: str, /) -> None:
        self._outcome = outcome


def _end_of(exc: BaseException) -> tuple[str, str]:
    """Return how a call ended that raised, and the code of its fault."""
    if isinstance(exc, Refused):
        return "refused", exc.code
    return "abandoned" if isinstance(exc, asyncio.CancelledError) else "lost", type(exc).__name__


class SagaSpans:
    """Spans of a saga. An operation's span begins with its first call and ends when it is settled; undoing begins another."""

    def __init__(self, tracer: Tracer, saga: Saga) -> None:
        self._tracer = tracer
        self._ids: Attributes = {"saga.id": saga.id, "saga.epoch": saga.epoch}
        self._saga = tracer.start_span(
            "saga", attributes=self._ids | {"saga.driver": saga.driver.value, "saga.domain": saga.domain}
        )
        self._operations: dict[str, Span] = {}
        self._begun: dict[str, Span] = {}
        """The first span of each operation, which may have ended."""

    @property
    def are_recorded(self) -> bool:
        return self._saga.is_recording()

    def entered(self) -> AbstractContextManager[object]:
        """Make the saga's span current inside, even one that is not sampled, so that its callees are not sampled either."""
        if not self._saga.get_span_context().is_valid:
            return nullcontext()
        return use_span(self._saga, record_exception=False, set_status_on_exception=False)

    def call(self, operation: Operation, call: Call) -> Around:
        name = _NAMES.get(call.purpose, call.purpose.value)
        parent = self._parent_of(operation)
        return RecordedAround(self._child(name, parent, operation, {"attempt": call.attempt, "generation": call.generation}))

    def judging(self, operation: Operation, validator: str, version: int) -> Around:
        attributes: Attributes = {"validator.name": validator, "validator.version": version}
        return RecordedAround(self._child("validator", self._parent_of(operation), operation, attributes), "verdict")

    def judging_plan(self, validator: str) -> Around:
        span = self._tracer.start_span(
            "validator", set_span_in_context(self._saga), attributes=self._ids | {"validator.name": validator}
        )
        return RecordedAround(span, "verdict")

    def observe(self, saga: Saga, entries: Iterable[Entry]) -> None:
        for entry in entries:
            name = getattr(entry.event, "operation", None)
            operation = saga.operations.get(name) if isinstance(name, str) else None
            if operation is None:
                continue
            if _is_under_way(operation):
                self._opened(operation)
            elif span := self._operations.pop(operation.id, None):
                _close(span, operation)

    def end(self, saga: Saga, failure: SagaGraphError | None) -> None:
        for name, span in self._operations.items():
            _close(span, saga.operations[name])
        status = status_of(saga)
        self._saga.set_attribute("outcome", status.value)
        if failure is not None:
            self._saga.set_attribute("outcome", "superseded" if isinstance(failure, SupersededError) else "stopped")
            self._saga.set_status(StatusCode.ERROR, type(failure).__name__)
        elif status in _WAITS:
            self._saga.set_status(StatusCode.ERROR, status.value)
        self._saga.end()

    def _parent_of(self, operation: Operation) -> Span:
        """Return the parent span: a last check of what is settled (docs/protocol.md rule 9) belongs to the saga."""
        return self._opened(operation) if _is_under_way(operation) else self._saga

    def _opened(self, operation: Operation) -> Span:
        span = self._operations.get(operation.id)
        if span is None:
            span = self._operations[operation.id] = self._child("operation", self._above(operation), operation, {})
            self._begun.setdefault(operation.id, span)
        return span

    def _above(self, operation: Operation) -> Span:
        """Return what it undoes, the node whose code runs it, or the saga."""
        name = operation.id
        while name not in self._begun:
            name = name.rpartition("/")[0]
            if not name:
                return self._saga
        return self._begun[name]

    def _child(self, name: str, parent: Span, operation: Operation, attributes: Attributes) -> Span:
        spec = operation.spec
        about: Attributes = {"action.name": spec.action, "action.version": spec.action_version, "action.kind": spec.kind.value}
        return self._tracer.start_span(
            name, set_span_in_context(parent), attributes={**self._ids, "operation.id": operation.id, **about, **attributes}
        )


def _is_under_way(operation: Operation) -> bool:
    waits_to_be_tried_again = operation.status is OperationStatus.PLANNED and operation.total_attempts > 0
    return operation.status in _UNDER_WAY or waits_to_be_tried_again


def _close(span: Span, operation: Operation) -> None:
    outcome = "rejected" if operation.rejected and operation.status is OperationStatus.SUCCEEDED else operation.status.value
    span.set_attributes({"outcome": outcome, "attempts": operation.total_attempts})
    if outcome == "rejected" or operation.status not in _GOOD:
        code = operation.error_code or outcome
        span.set_attribute("fault.code", code)
        span.set_status(StatusCode.ERROR, code)
    span.end()
