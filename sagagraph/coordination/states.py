"""States: of missions and of their tasks, and the only transitions that there are (PRD-102, section 2). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeVar

from sagagraph.errors import NotAllowedError


class StateType(StrEnum):
    """What logic looks at; the states are for people."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    TERMINAL = "terminal"


class RunState(StrEnum):
    PENDING = "pending"
    PLANNING = "planning"
    AWAITING_APPROVAL = "awaiting_approval"
    RUNNING = "running"
    PAUSED = "paused"
    BUDGET_EXCEEDED = "budget_exceeded"
    AWAITING_REVIEW = "awaiting_review"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def type(self) -> StateType:
        return _RUN_TYPES[self]

    @property
    def is_terminal(self) -> bool:
        return self.type is StateType.TERMINAL


class TaskState(StrEnum):
    PENDING = "pending"
    QUEUED = "queued"
    AWAITING_RETRY = "awaiting_retry"
    ASSIGNED = "assigned"
    RUNNING = "running"
    CONTINUING = "continuing"
    VERIFYING = "verifying"
    AWAITING_HUMAN = "awaiting_human"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"

    @property
    def type(self) -> StateType:
        return _TASK_TYPES[self]

    @property
    def is_terminal(self) -> bool:
        return self.type is StateType.TERMINAL

    @property
    def column(self) -> str:
        """The column of a board on which its card lies; for display, never to dispatch by."""
        return _COLUMNS.get(self, "done")


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

_RUN_TYPES: Final[Mapping[RunState, StateType]] = {
    **dict.fromkeys((_R.PENDING, _R.PLANNING, _R.AWAITING_APPROVAL), StateType.PENDING),
    _R.RUNNING: StateType.RUNNING,
    **dict.fromkeys((_R.PAUSED, _R.BUDGET_EXCEEDED, _R.AWAITING_REVIEW), StateType.PAUSED),
    **dict.fromkeys((_R.COMPLETED, _R.FAILED, _R.CANCELLED), StateType.TERMINAL),
}
_TASK_TYPES: Final[Mapping[TaskState, StateType]] = {
    **dict.fromkeys((_T.PENDING, _T.QUEUED, _T.AWAITING_RETRY), StateType.PENDING),
    **dict.fromkeys((_T.ASSIGNED, _T.RUNNING, _T.CONTINUING), StateType.RUNNING),
    **dict.fromkeys((_T.VERIFYING, _T.AWAITING_HUMAN), StateType.PAUSED),
    **dict.fromkeys((_T.COMPLETED, _T.FAILED, _T.CANCELLED, _T.SKIPPED), StateType.TERMINAL),
}
_COLUMNS: Final[Mapping[TaskState, str]] = {
    **dict.fromkeys((_T.PENDING, _T.QUEUED, _T.AWAITING_RETRY), "inbox"),
    _T.ASSIGNED: "assigned",
    **dict.fromkeys((_T.RUNNING, _T.CONTINUING), "in_progress"),
    **dict.fromkeys((_T.VERIFYING, _T.AWAITING_HUMAN), "review"),
}
COLUMNS: Final = ("inbox", "assigned", "in_progress", "review", "done")


def checked_move(table: Mapping[S, frozenset[S]], now: S, then: S, what: str) -> S:
    """Return the state `then`. Raises `NotAllowedError` if `now` does not lead there; nothing has changed then."""
    if then not in table.get(now, frozenset()):
        leads = ", ".join(sorted(table.get(now, ()))) or "nothing: it has ended"
        raise NotAllowedError(f"{what} is {now.value}, which leads to {leads}, not to {then.value}")
    return then
