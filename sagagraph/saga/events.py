"""What can have happened to a saga, in the past tense: the journal's vocabulary.

Events are facts. They carry plain JSON values and workflow types only, so that any journal can be folded by any later release
(PROTOCOL rules 8 and 10). Instants are seconds since the epoch, UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sagagraph.workflow.operation import OperationSpec


class Driver(StrEnum):
    """Who says what comes next."""

    BODY = "body"
    """Python code under `engine.saga`: its operations are planned one by one."""
    WORKFLOW = "workflow"
    """A plan: all operations are known when it is accepted."""
    REVERSAL = "reversal"
    """The undoing of a saga whose pivot has landed: forward only, all of it behind that pivot."""


class Via(StrEnum):
    """How an outcome became known."""

    REPLY = "reply"
    PROBE = "probe"
    EVIDENCE = "evidence"
    """A superseded worker wrote down the answer that it still received (PROTOCOL rule 6)."""
    PERSON = "person"


class ProbeAnswer(StrEnum):
    LANDED = "landed"
    UNDONE = "undone"
    """It landed and was cancelled."""
    ABSENT = "absent"
    MULTIPLE = "multiple"
    UNKNOWN = "unknown"


class Resolution(StrEnum):
    """What a person says of an operation that the machine can not settle."""

    LANDED = "landed"
    ABSENT = "absent"
    COMPENSATED = "compensated"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a call ended as it did. `code` is a refusal's code, or the class of the exception."""

    code: str
    message: str


# -- the saga and its plan -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SagaBegun:
    driver: Driver
    domain: str
    request: Any
    """A JSON value; the same saga id with another one is a conflict."""
    approved_by: str = ""
    """Who approved in advance whatever valid plan is found; nobody, usually."""


@dataclass(frozen=True, slots=True)
class LeaseTaken:
    """A worker became the one writer. Whatever an earlier epoch had under way is in doubt from here on."""

    owner: str
    looks_again: bool = True
    """Also at what was held or stuck; not where a person is about to say what became of it."""


@dataclass(frozen=True, slots=True)
class PlanProposed:
    plan_hash: str
    plan: Any
    cost: Any
    alternatives: tuple[Any, ...] = ()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanJudged:
    plan_hash: str
    verdict: Any
    """The verdict of the independent validators, with its certificates."""


@dataclass(frozen=True, slots=True)
class PlanFoundInfeasible:
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    plan_hash: str


@dataclass(frozen=True, slots=True)
class PlanApproved:
    plan_hash: str
    by: str


@dataclass(frozen=True, slots=True)
class PlanRejected:
    plan_hash: str
    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlanAccepted:
    """The identities of these operations are minted here (PROTOCOL rule 2). `removed` ones are compensated, dependents first."""

    plan_version: int
    operations: tuple[OperationSpec, ...]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OperationPlanned:
    """A body asked for an operation for the first time."""

    operation: OperationSpec


# -- forward ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """The intent: durable before the call goes out (PROTOCOL rule 1)."""

    operation: str
    generation: int
    attempt: int
    key: str
    deadline: float
    claim: bool = False
    """Called again under the same key only to be undone (PROTOCOL rule 3b)."""


@dataclass(frozen=True, slots=True)
class OperationSucceeded:
    operation: str
    output: Any
    via: Via = Via.REPLY
    verdicts: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class OperationRejected:
    """It landed, and a validator found its output INVALID: it does not count, and is undone."""

    operation: str
    output: Any
    fault: Fault
    via: Via
    verdicts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class AttemptRefused:
    """A definite no that may be tried again: under the next generation's key, from `retry_at`."""

    operation: str
    fault: Fault
    retry_at: float


@dataclass(frozen=True, slots=True)
class OperationFailed:
    """Definitely without effect, and not tried again."""

    operation: str
    fault: Fault
    via: Via = Via.REPLY


@dataclass(frozen=True, slots=True)
class AttemptLost:
    """The call ended without a definite answer: the operation is in doubt."""

    operation: str
    fault: Fault
    retry_at: float


@dataclass(frozen=True, slots=True)
class OperationProbed:
    """A probe that settled nothing by itself; the answer LANDED is journalled as `OperationSucceeded`."""

    operation: str
    answer: ProbeAnswer
    detail: str
    retry_at: float
    asked_at: float | None = None
    """Before the question was sent; None: when this was written."""


@dataclass(frozen=True, slots=True)
class OperationGivenUp:
    """No further attempt will be made; since it is in doubt it must be sealed (PROTOCOL rule 3b)."""

    operation: str
    reason: str
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class OperationHeld:
    operation: str
    reason: str


@dataclass(frozen=True, slots=True)
class OperationSkipped:
    operation: str
    reason: str


# -- back ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VoidStarted:
    operation: str
    attempt: int
    key: str
    deadline: float


@dataclass(frozen=True, slots=True)
class OperationVoided:
    operation: str
    output: Any
    via: Via = Via.REPLY


@dataclass(frozen=True, slots=True)
class CompensationStarted:
    operation: str
    generation: int
    attempt: int
    key: str
    deadline: float


@dataclass(frozen=True, slots=True)
class CompensationRefused:
    """A definite no to a compensation that may be tried again, under the next generation's key."""

    operation: str
    fault: Fault
    retry_at: float


@dataclass(frozen=True, slots=True)
class CompensationLost:
    """A compensation or void ended without a definite answer."""

    operation: str
    fault: Fault
    retry_at: float


@dataclass(frozen=True, slots=True)
class OperationCompensated:
    operation: str
    output: Any
    via: Via = Via.REPLY


@dataclass(frozen=True, slots=True)
class CompensationFailed:
    """It can not be undone without a person: the saga will end `stuck`."""

    operation: str
    fault: Fault


# -- people and the end ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CancelRequested:
    by: str
    request: int | None = None
    """The number of the request row that this consumes (PROTOCOL rule 6)."""


@dataclass(frozen=True, slots=True)
class OperationResolved:
    operation: str
    resolution: Resolution
    output: Any
    by: str
    request: int | None = None


@dataclass(frozen=True, slots=True)
class RequestRefused:
    """A request row that does not fit the state any more."""

    request: int
    reason: str


@dataclass(frozen=True, slots=True)
class SagaTurnedBack:
    """From here on the saga compensates."""

    cause: str
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class BodyCompleted:
    """The body ended without an exception; what it did not ask for again is `removed`."""

    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BodyFailed:
    """The body raised after the pivot: nothing is undone, the body must run again or the saga be cancelled."""

    fault: Fault


@dataclass(frozen=True, slots=True)
class SagaCommitted:
    unverified: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SagaCompensated:
    unverified: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReversalBegun:
    """A person's cancel after the pivot: `saga` undoes this one (PROTOCOL rule 5)."""

    saga: str


@dataclass(frozen=True, slots=True)
class ReversalHeld:
    """The reversing saga waits for a person; so does this one, until somebody resumes it."""

    reason: str


@dataclass(frozen=True, slots=True)
class CancelRefused:
    """The pivot has landed and its action has no reverse: the saga goes on forward."""

    reason: str


@dataclass(frozen=True, slots=True)
class SagaReversed:
    """`outputs`: what undoing each operation brought back."""

    outputs: dict[str, Any]
    residue: tuple[str, ...] = ()


Event = (
    SagaBegun
    | LeaseTaken
    | PlanProposed
    | PlanJudged
    | PlanFoundInfeasible
    | ApprovalAsked
    | PlanApproved
    | PlanRejected
    | PlanAccepted
    | OperationPlanned
    | AttemptStarted
    | OperationSucceeded
    | OperationRejected
    | AttemptRefused
    | OperationFailed
    | AttemptLost
    | OperationProbed
    | OperationGivenUp
    | OperationHeld
    | OperationSkipped
    | VoidStarted
    | OperationVoided
    | CompensationStarted
    | CompensationRefused
    | CompensationLost
    | OperationCompensated
    | CompensationFailed
    | CancelRequested
    | OperationResolved
    | RequestRefused
    | SagaTurnedBack
    | BodyCompleted
    | BodyFailed
    | SagaCommitted
    | SagaCompensated
    | ReversalBegun
    | ReversalHeld
    | CancelRefused
    | SagaReversed
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a journal: `version` counts from 1 without gaps, `epoch` is the writer's."""

    version: int
    epoch: int
    at: float
    event: Event
