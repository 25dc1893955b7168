"""States: of missions and of their tasks, and the only transitions that there are (PRD-102, section 2). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Self, TypeVar

from sagagraph.errors import NotAllowedError


class StateType(StrEnum):
    """What logic looks at; the states are for people."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    TERMINAL = "terminal"


COLUMNS: Final = ("inbox", "assigned", "in_progress", "review", "done")


class _State(StrEnum):
    """State, with its type and the column of a board on which its card lies; for display, never to dispatch by."""

    type: StateType
    column: str

    def __new__(cls, value: str, kind: StateType = StateType.TERMINAL, column: str = "done") -> Self:
        made = str.__new__(cls, value)
        made._value_ = value
        made.type = kind
        made.column = column
        return made

    @property
    def is_terminal(self) -> bool:
        return self.type is StateType.TERMINAL


class RunState(_State):
    PENDING = "pending", StateType.PENDING
    PLANNING = "planning", StateType.PENDING
    AWAITING_APPROVAL = "awaiting_approval", StateType.PENDING
    RUNNING = "running", StateType.RUNNING
    PAUSED = "paused", StateType.PAUSED
    BUDGET_EXCEEDED = "budget_exceeded", StateType.PAUSED
    AWAITING_REVIEW = "awaiting_review", StateType.PAUSED
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TaskState(_State):
    PENDING = "pending", StateType.PENDING, "inbox"
    QUEUED = "queued", StateType.PENDING, "inbox"
    AWAITING_RETRY = "awaiting_retry", StateType.PENDING, "inbox"
    ASSIGNED = "assigned", StateType.RUNNING, "assigned"
    RUNNING = "running", StateType.RUNNING, "in_progress"
    CONTINUING = "continuing", StateType.RUNNING, "in_progress"
    VERIFYING = "verifying", StateType.PAUSED, "review"
    AWAITING_HUMAN = "awaiting_human", StateType.PAUSED, "review"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


S = TypeVar("S", RunState, TaskState)

_R, _T = RunState, TaskState

RUN_TRANSITIONS: Final[Mapping[RunState, frozenset[RunState]]] = {
    _R.PENDING: frozenset({_R.PLANNING, _R.CANCELLED}),
    _R.PLANNING: frozenset({_R.AWAITING_APPROVAL, _R.RUNNING, _R.FAILED, _R.CANCELLED}),
    _R.AWAITING_APPROVAL: frozenset({_R.RUNNING, _R.FAILED, _R.CANCELLED}),
    _R.RUNNING: frozenset({_R.AWAITING_REVIEW, _R.COMPLETED, _R.FAILED, _R.PAUSED, _R.BUDGET_EXCEEDED, _R.CANCELLED}),
    _R.PAUSED: frozenset({_R.RUNNING, _R.CANCELLED}),
    _R.BUDGET_EXCEEDED: frozenset({_R.RUNNING, _R.CANCELLED}),
    _R.AWAITING_REVIEW: frozenset({_R.COMPLETED, _R.RUNNING, _R.FAILED, _R.CANCELLED}),
}

TASK_TRANSITIONS: Final[Mapping[TaskState, frozenset[TaskState]]] = {
    _T.PENDING: frozenset({_T.QUEUED, _T.SKIPPED, _T.CANCELLED}),
    _T.QUEUED: frozenset({_T.ASSIGNED, _T.CANCELLED}),
    _T.ASSIGNED: frozenset({_T.RUNNING, _T.QUEUED, _T.CANCELLED}),
    _T.RUNNING: frozenset({_T.CONTINUING, _T.VERIFYING, _T.AWAITING_RETRY, _T.FAILED, _T.CANCELLED}),
    _T.CONTINUING: frozenset({_T.RUNNING, _T.AWAITING_RETRY, _T.CANCELLED}),
    _T.VERIFYING: frozenset({_T.COMPLETED, _T.AWAITING_RETRY, _T.AWAITING_HUMAN, _T.FAILED, _T.CANCELLED}),
    _T.AWAITING_HUMAN: frozenset({_T.COMPLETED, _T.AWAITING_RETRY, _T.FAILED, _T.CANCELLED}),
    _T.AWAITING_RETRY: frozenset({_T.ASSIGNED, _T.CANCELLED}),
}


def checked_move(table: Mapping[S, frozenset[S]], now: S, then: S, what: str) -> S:
    """Return the state `then`. Raises `NotAllowedError` if `now` does not lead there; nothing has changed then."""
    if then not in table.get(now, frozenset()):
        leads = ", ".join(sorted(table.get(now, ()))) or "nothing: it has ended"
        raise NotAllowedError(f"{what} is {now.value}, which leads to {leads}, not to {then.value}")
    return then
