"""Events: what can have happened to a saga, in the past tense: the journal's vocabulary.

Events are facts. They carry plain JSON values and workflow types only, so that any journal can be folded by any later release
(docs/protocol.md rules 8 and 10). Instants are seconds since the epoch, UTC.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.values import Json


class Driver(StrEnum):
    """Who decides what comes next."""

    BODY = "body"
    """Python code under `engine.saga`: its operations are planned one by one."""
    WORKFLOW = "workflow"
    """A plan: all operations are known when it is accepted."""
    REVERSAL = "reversal"
    """Undoing a saga whose pivot has landed: forward only, because all of it lies behind that pivot."""


class Via(StrEnum):
    """How an outcome became known."""

    REPLY = "reply"
    PROBE = "probe"
    EVIDENCE = "evidence"
    """A superseded worker wrote down the answer that it still received (docs/protocol.md rule 6)."""
    PERSON = "person"


class ProbeAnswer(StrEnum):
    LANDED = "landed"
    UNDONE = "undone"
    """It landed and was cancelled."""
    ABSENT = "absent"
    MULTIPLE = "multiple"
    UNKNOWN = "unknown"


class Resolution(StrEnum):
    """What a person says of an operation that the machine cannot settle."""

    LANDED = "landed"
    ABSENT = "absent"
    COMPENSATED = "compensated"


class Fault(Struct, frozen=True, omit_defaults=True):
    """The reason why a call ended as it did. `code` is a refusal's code, or the class of the exception."""

    code: str
    message: str


class Blocker(Struct, frozen=True, omit_defaults=True):
    """A lock that is in the way, and which operation of which saga keeps it."""

    key: str
    saga: str
    operation: str


# -- the saga and its plan -------------------------------------------------------------------------------------------


class SagaBegun(Struct, frozen=True, omit_defaults=True):
    driver: Driver
    domain: str
    request: Json
    """A JSON value; the same saga id with another one is a conflict."""
    approved_by: str = ""
    """Who approved in advance any valid plan that is found; usually nobody."""
    provider_id: str = ""
    """The identity of the provider that the saga's domain works with (docs/protocol.md rule 2a); empty where it has none."""
    provider_url: str = ""
    """Its address; empty for the one that runs inside the command."""
    store_epoch: int | None = None
    """The store's at that time; None is the first."""


class ProviderNamed(Struct, frozen=True, omit_defaults=True):
    """The saga's provider is reached at another address, or is named for the first time."""

    provider_id: str
    provider_url: str = ""
    is_assumed: bool = False
    """The journal, of an earlier release, did not name one: it is taken to have been this one all along."""


class SameProviderStated(Struct, frozen=True, omit_defaults=True):
    """Two identities are one provider: a person says so, or (`by` is empty) a provider at the old address now states an id."""

    known_provider: str
    same_provider: str
    by: str = ""


class LeaseTaken(Struct, frozen=True, omit_defaults=True):
    """A worker became the only writer. What an earlier epoch had under way is in doubt from here on."""

    owner: str
    looks_again: bool = True
    """Also looks again at what was held or stuck; false if a person is about to say what became of it."""
    store_epoch: int | None = None
    """The store's at that time. A higher one than before says that the store was restored: what this journal does not show may
    have happened nevertheless (docs/protocol.md rule 11).
    """


class PlanProposed(Struct, frozen=True, omit_defaults=True):
    plan_hash: str
    plan: Json
    cost: Json
    alternatives: tuple[Json, ...] = ()
    reasons: tuple[str, ...] = ()
    proposed_by: str = ""
    """`solver`, or the model's name; empty in journals of releases before 0.3.0."""
    reasoning: str = ""
    """The model's own, in its words."""
    agents: tuple[Json, ...] = ()
    """What each agent of the plan was shown and said, in their order (docs/agents.md)."""


class ModelAsked(Struct, frozen=True, omit_defaults=True):
    """A model was asked, on behalf of the saga: what that cost, and what came of it."""

    role: str
    """Who asked: an agent's name, or a validator's."""
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float
    cost_usd: float | None = None
    """None where the model's prices are unknown."""
    outcome: str = ""


class PlanJudged(Struct, frozen=True, omit_defaults=True):
    plan_hash: str
    verdict: Json
    """The verdict of the independent validators, with its certificates."""
    shown: Json = None
    """What the validators judged it by, beside the request; a replay shows them the same again."""


class PlanFoundInfeasible(Struct, frozen=True, omit_defaults=True):
    reasons: tuple[str, ...]


class ApprovalAsked(Struct, frozen=True, omit_defaults=True):
    plan_hash: str


class PlanApproved(Struct, frozen=True, omit_defaults=True):
    plan_hash: str
    by: str


class PlanRejected(Struct, frozen=True, omit_defaults=True):
    plan_hash: str
    by: str
    reason: str = ""


class PlanAccepted(Struct, frozen=True, omit_defaults=True):
    """The plan was accepted: its operations get their identities here (docs/protocol.md rule 2). `removed` ones are
    compensated, dependents first.
    """

    plan_version: int
    operations: tuple[OperationSpec, ...]
    removed: tuple[str, ...] = ()
    replaced: dict[str, str] = {}
    """Removed → new: kept operations that depended on the one depend on the other from now on (ADR-0009)."""
    revisable: bool = False
    """A failure before the pivot disrupts this plan; the saga turns back only if the plan cannot be repaired."""


class RequestChanged(Struct, frozen=True, omit_defaults=True):
    """A person asks for something else before the pivot. Any approval, also in advance, was for the old request."""

    request: Json
    by: str
    approved_by: str = ""
    """Who approves the resulting plan in advance."""


class PlanDisrupted(Struct, frozen=True, omit_defaults=True):
    """Nothing further starts; once what is under way has settled, the plan is repaired or given up."""

    cause: str
    operation: str | None = None


class RepairGivenUp(Struct, frozen=True, omit_defaults=True):
    """The plan that was accepted last stays, and is no longer repaired."""

    reasons: tuple[str, ...]


class OperationPlanned(Struct, frozen=True, omit_defaults=True):
    """A body asked for an operation for the first time."""

    operation: OperationSpec


class PrerequisitesAdded(Struct, frozen=True, omit_defaults=True):
    """A body that ran again lets a known operation come after more than before: it is undone before that, too (ADR-0005)."""

    operation: str
    prerequisites: tuple[str, ...]


class ReadingsConfirmed(Struct, frozen=True, omit_defaults=True):
    """Just before the pivot, what the plan rests on was read again and has not changed (docs/protocol.md rule 12)."""

    operations: tuple[str, ...]


class LocksAwaited(Struct, frozen=True, omit_defaults=True):
    """What is to be planned, or to go forward again, waits: these keep what it needs (docs/protocol.md rule 12)."""

    blockers: tuple[Blocker, ...]


class LocksYielded(Struct, frozen=True, omit_defaults=True):
    """A person lets others have what a saga that stands still keeps."""

    by: str


class LocksRetaken(Struct, frozen=True, omit_defaults=True):
    """It has everything again that `yielded_by` had let others have, and goes forward."""

    yielded_by: str


# -- forward ---------------------------------------------------------------------------------------------------------


class AttemptStarted(Struct, frozen=True, omit_defaults=True):
    """The intent: durable before the call goes out (docs/protocol.md rule 1)."""

    operation: str
    generation: int
    attempt: int
    key: str
    deadline: float
    claim: bool = False
    """Called again under the same key only to be undone (docs/protocol.md rule 3b)."""


class OperationDoubted(Struct, frozen=True, omit_defaults=True):
    """The store was restored: a call of it, or of its compensation if it had succeeded, may have gone out that no journal shows
    (docs/protocol.md rule 11).
    """

    operation: str
    since: float
    """The earliest moment of such a call."""
    deadline: float
    """The latest that such a call can have had."""
    given_up: bool = False
    """It is not called any more, only sealed."""


class OperationSucceeded(Struct, frozen=True, omit_defaults=True):
    operation: str
    output: Json
    via: Via = Via.REPLY
    verdicts: tuple[Json, ...] = ()


class OperationRejected(Struct, frozen=True, omit_defaults=True):
    """It landed, and a validator found its output INVALID: the output does not count, and the operation is undone."""

    operation: str
    output: Json
    fault: Fault
    via: Via
    verdicts: tuple[Json, ...]


class AttemptRefused(Struct, frozen=True, omit_defaults=True):
    """A definite refusal that may be tried again: under the next generation's key, from `retry_at`."""

    operation: str
    fault: Fault
    retry_at: float


class OperationFailed(Struct, frozen=True, omit_defaults=True):
    """Definitely without effect, and not tried again."""

    operation: str
    fault: Fault
    via: Via = Via.REPLY
    verdicts: tuple[Json, ...] = ()


class AttemptLost(Struct, frozen=True, omit_defaults=True):
    """The call ended without a definite answer: the operation is in doubt."""

    operation: str
    fault: Fault
    retry_at: float
    verdicts: tuple[Json, ...] = ()


class OperationProbed(Struct, frozen=True, omit_defaults=True):
    """A probe that settled nothing on its own; the answer LANDED is journalled as `OperationSucceeded`."""

    operation: str
    answer: ProbeAnswer
    detail: str
    retry_at: float
    asked_at: float
    """The moment before the question was sent."""
    verdicts: tuple[Json, ...] = ()


class OperationGivenUp(Struct, frozen=True, omit_defaults=True):
    """No further attempt will be made; since it is in doubt it must be sealed (docs/protocol.md rule 3b)."""

    operation: str
    reason: str
    fault: Fault | None = None


class OperationHeld(Struct, frozen=True, omit_defaults=True):
    operation: str
    reason: str


class OperationSkipped(Struct, frozen=True, omit_defaults=True):
    operation: str
    reason: str


# -- back ------------------------------------------------------------------------------------------------------------


class VoidStarted(Struct, frozen=True, omit_defaults=True):
    operation: str
    attempt: int
    key: str
    deadline: float


class OperationVoided(Struct, frozen=True, omit_defaults=True):
    operation: str
    output: Json
    via: Via = Via.REPLY


class CompensationStarted(Struct, frozen=True, omit_defaults=True):
    operation: str
    generation: int
    attempt: int
    key: str
    deadline: float


class CompensationRefused(Struct, frozen=True, omit_defaults=True):
    """A definite refusal of a compensation that may be tried again, under the next generation's key."""

    operation: str
    fault: Fault
    retry_at: float


class CompensationLost(Struct, frozen=True, omit_defaults=True):
    """A compensation or void ended without a definite answer."""

    operation: str
    fault: Fault
    retry_at: float


class OperationCompensated(Struct, frozen=True, omit_defaults=True):
    operation: str
    output: Json
    via: Via = Via.REPLY


class CompensationFailed(Struct, frozen=True, omit_defaults=True):
    """It cannot be undone without a person: the saga will end `stuck`."""

    operation: str
    fault: Fault


# -- people and the end ----------------------------------------------------------------------------------------------


class CancelRequested(Struct, frozen=True, omit_defaults=True):
    by: str
    request: int | None = None
    """The number of the request row that this consumes (docs/protocol.md rule 6)."""


class OperationResolved(Struct, frozen=True, omit_defaults=True):
    operation: str
    resolution: Resolution
    output: Json
    by: str
    request: int | None = None


class RequestRefused(Struct, frozen=True, omit_defaults=True):
    """A request row that no longer fits the state."""

    request: int
    reason: str


class SagaTurnedBack(Struct, frozen=True, omit_defaults=True):
    """From here on the saga compensates."""

    cause: str
    operation: str | None = None


class BodyCompleted(Struct, frozen=True, omit_defaults=True):
    """The body ended without an exception; what it did not ask for again is `removed`."""

    removed: tuple[str, ...] = ()


class BodyFailed(Struct, frozen=True, omit_defaults=True):
    """The body raised: the saga turns back; once the pivot has landed, the body runs again instead, or a person cancels."""

    fault: Fault


class SagaCommitted(Struct, frozen=True, omit_defaults=True):
    unverified: tuple[str, ...] = ()


class SagaCompensated(Struct, frozen=True, omit_defaults=True):
    unverified: tuple[str, ...] = ()


class ReversalBegun(Struct, frozen=True, omit_defaults=True):
    """A person's cancel after the pivot: `saga` undoes this one (docs/protocol.md rule 5)."""

    saga: str


class ReversalHeld(Struct, frozen=True, omit_defaults=True):
    """The reversing saga waits for a person; so does this one, until somebody resumes it."""

    reason: str


class CancelRefused(Struct, frozen=True, omit_defaults=True):
    """The pivot has landed and its action has no reverse: the saga continues forward."""

    reason: str


class SagaReversed(Struct, frozen=True, omit_defaults=True):
    """`outputs`: what undoing each operation brought back."""

    outputs: dict[str, Json]
    residue: tuple[str, ...] = ()


class AmendmentBegun(Struct, frozen=True, omit_defaults=True):
    """After the commit, `saga` looks for another plan; until it has ended, nothing else changes this saga (ADR-0011)."""

    saga: str
    request: Json
    """Of that saga."""
    by: str
    approved_by: str = ""
    """Who approves the resulting plan in advance."""


class AmendmentEnded(Struct, frozen=True, omit_defaults=True):
    """It did not commit, and nothing of it stands: everything is as it was."""

    saga: str
    reason: str


class BroughtIn(Struct, frozen=True, omit_defaults=True):
    """An operation of an amendment that its parent takes over, or that was undone there: its keys stay the amendment's."""

    operation: OperationSpec
    generation: int
    attempts: int
    output: Json
    is_undone: bool = False
    undo_output: Json = None


class SagaAmended(Struct, frozen=True, omit_defaults=True):
    """`saga` has committed: its bookings are now this saga's, and what it undid is undone. `outputs`: what undoing returned."""

    saga: str
    plan_version: int
    request: Json
    plan: Json
    plan_hash: str
    cost: Json
    operations: tuple[BroughtIn, ...]
    outputs: dict[str, Json]
    needs: dict[str, tuple[str, ...]] = {}
    """Kept operation → what it comes after from now on, besides the prerequisites that still stand."""
    reasons: tuple[str, ...] = ()
    """For the new plan."""


class FieldsRedacted(Struct, frozen=True, omit_defaults=True):
    """Earlier payload values under these names were made unreadable, here and in what belongs to the journal."""

    fields: tuple[str, ...]
    by: str


Event = (
    SagaBegun
    | ProviderNamed
    | SameProviderStated
    | LeaseTaken
    | PlanProposed
    | ModelAsked
    | PlanJudged
    | PlanFoundInfeasible
    | ApprovalAsked
    | PlanApproved
    | PlanRejected
    | PlanAccepted
    | RequestChanged
    | PlanDisrupted
    | RepairGivenUp
    | OperationPlanned
    | PrerequisitesAdded
    | ReadingsConfirmed
    | LocksAwaited
    | LocksYielded
    | LocksRetaken
    | AttemptStarted
    | OperationDoubted
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
    | AmendmentBegun
    | AmendmentEnded
    | SagaAmended
    | FieldsRedacted
)

Events = tuple[Event, ...]


class Entry(Struct, frozen=True, omit_defaults=True):
    """One line of a journal: `version` counts from 1 without gaps, `epoch` is the writer's."""

    version: int
    epoch: int
    at: float
    event: Event
