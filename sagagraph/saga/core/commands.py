"""Commands: what the shell tells the core: answers to calls, requests of people, and what the driver wants next.

`draw` is a random number in [0, 1) for the jitter of a backoff: randomness comes in as an argument (docs/protocol.md rule 10).
`after_s` is how long the provider asks to be left alone (`Retry-After`); 0 where it asks for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from sagagraph.saga.core.events import Blocker, BroughtIn, Fault, ModelAsked, ProbeAnswer, Resolution
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.values import Json


class CallKind(StrEnum):
    ACTION = "action"
    VOID = "void"
    COMPENSATION = "compensation"
    ENDED = "ended"
    """Any of them, which ended without an acknowledgement."""


class ActionReplied(Struct, frozen=True):
    operation: str
    output: Json
    verdicts: tuple[Verdict, ...] = ()


class ActionRefused(Struct, frozen=True):
    operation: str
    fault: Fault
    transient: bool = False
    draw: float = 0.0
    after_s: float = 0.0


class ActionLost(Struct, frozen=True):
    """The call ended without a definite answer, or goes on at `sender` without anybody waiting for it any more."""

    operation: str
    fault: Fault
    draw: float = 0.0
    after_s: float = 0.0
    sender: str = ""


class CallsEnded(Struct, frozen=True):
    """Nothing that these senders had under way for the operation goes on."""

    operation: str
    senders: tuple[str, ...]


class ActionPaused(Struct, frozen=True):
    """The action stopped without an outcome, and waits for its body to run it again."""

    operation: str
    reason: str


class ProbeAnswered(Struct, frozen=True):
    operation: str
    answer: ProbeAnswer
    output: Json = None
    detail: str = ""
    verdicts: tuple[Verdict, ...] = ()
    draw: float = 0.0
    asked_at: float | None = None
    """The answer describes things some time after this moment; None: just now."""
    after_s: float = 0.0


class ActionMissing(Struct, frozen=True):
    """This process lacks the action of an operation that is due."""

    operation: str
    reason: str


class UndoReplied(Struct, frozen=True):
    operation: str
    output: Json


class UndoRefused(Struct, frozen=True):
    operation: str
    fault: Fault
    transient: bool = False
    draw: float = 0.0
    after_s: float = 0.0


class UndoLost(Struct, frozen=True):
    operation: str
    fault: Fault
    draw: float = 0.0
    after_s: float = 0.0
    sender: str = ""
    """As of `ActionLost`."""


class EvidenceFound(Struct, frozen=True):
    """A superseded worker wrote down an acknowledgement that it received after losing its fence."""

    operation: str
    call: CallKind
    key: str
    output: Json


class Verified(Struct, frozen=True):
    """Answers of the last probes, by operation."""

    committing: bool
    answers: Mapping[str, ProbeAnswer]
    unverified: tuple[str, ...]


class ReadAgain(Struct, frozen=True):
    """What the readings on which the plan rests say now, or why one could not be had; by operation."""

    outputs: Mapping[str, Json]
    faults: Mapping[str, Fault]


class NameProvider(Struct, frozen=True):
    """The provider that this worker reaches at `url`, for sagas of this domain; `url` is empty for the one inside the command."""

    provider: str
    url: str = ""


class StateSameProvider(Struct, frozen=True):
    """A person says that the provider `now` is the one that the saga knows as `was`."""

    was: str
    now: str
    by: str


class TrustExceptions(Struct, frozen=True):
    """The graph that runs the saga declares that an exception of a node says that nothing happened."""

    graph: str


class PlanOperation(Struct, frozen=True):
    """A body asks for an operation; an earlier release may have journalled its action under one of the names in `formerly`.

    `after`: what a known operation comes after in this run of the body. `insists`: the body names it, so that what cannot hold is
    a conflict; otherwise it only happened before, and the journal knows better.
    """

    spec: OperationSpec
    formerly: tuple[tuple[str, int], ...] = ()
    after: tuple[str, ...] = ()
    insists: bool = False
    locked_out: str = ""
    """Who keeps what it needs: it is planned, and skipped."""


class CompleteBody(Struct, frozen=True):
    """The body has ended; `asked` are the operations that it asked for in this run."""

    asked: frozenset[str]


class RaiseBody(Struct, frozen=True):
    fault: Fault


class ProposePlan(Struct, frozen=True):
    plan_hash: str
    plan: Json
    cost: Json
    alternatives: tuple[Json, ...] = ()
    reasons: tuple[str, ...] = ()
    proposed_by: str = ""
    reasoning: str = ""
    agents: tuple[Json, ...] = ()


class RecordModel(Struct, frozen=True):
    """Record that a model was asked on behalf of the saga."""

    asked: ModelAsked


class ChoosePlan(Struct, frozen=True):
    """Choose one of the alternatives instead of the plan that is shown, which is titled `shown_title` from now on."""

    plan_hash: str
    shown_title: str


class JudgePlan(Struct, frozen=True):
    """Judge a plan. `shown`: the JSON that it was judged by, beside the request."""

    plan_hash: str
    verdict: Json
    shown: Json = None


class DeclareInfeasible(Struct, frozen=True):
    """Report that no plan meets the request. If it was changed while a plan waited for approval, that plan stays."""

    reasons: tuple[str, ...]
    remedies: tuple[Json, ...] = ()


class AskApproval(Struct, frozen=True):
    pass


class ApprovePlan(Struct, frozen=True):
    """Approve a plan; `plan_hash` None approves the plan that is shown. One that is asked for by `request` is refused in the
    journal if it does not fit.
    """

    by: str
    plan_hash: str | None = None
    request: int | None = None


class RejectPlan(Struct, frozen=True):
    by: str
    plan_hash: str | None = None
    reason: str = ""


class AcceptPlan(Struct, frozen=True):
    """Mint the operations of an approved plan; `removed` operations of an earlier version are compensated.

    `replaced`: removed → new, where an operation that is kept depended on the removed one. `revisable`: a failure disrupts the
    plan.
    """

    operations: tuple[OperationSpec, ...]
    removed: tuple[str, ...] = ()
    replaced: Mapping[str, str] = field(default_factory=dict)
    revisable: bool = False


class AwaitLocks(Struct, frozen=True):
    """Others keep what is wanted, and it waits for that."""

    blockers: tuple[Blocker, ...]


class YieldLocks(Struct, frozen=True):
    """A person lets others have what this saga keeps, although it has not ended."""

    by: str


class ChangeRequest(Struct, frozen=True):
    """A person asks for something else; `approved_by` approves the resulting plan in advance. One that is asked for by `row` of
    the requests is refused in the journal if it does not fit.
    """

    request: Json
    by: str
    approved_by: str = ""
    row: int | None = None


class GiveUpRepair(Struct, frozen=True):
    """Report that no plan is left that keeps anything of the disrupted one."""

    reasons: tuple[str, ...]


class BeginReversal(Struct, frozen=True):
    """Begin a reversal: `saga` will undo this one; None means that nothing can."""

    saga: str | None
    reason: str = ""


class HoldReversal(Struct, frozen=True):
    reason: str


class EndReversal(Struct, frozen=True):
    outputs: dict[str, Json]
    residue: tuple[str, ...] = ()


class BeginAmendment(Struct, frozen=True):
    """Begin an amendment: `saga` will look for another plan; `request` is its request (`amendments.Amendment`).

    `row`: as above.
    """

    saga: str
    request: Json
    by: str
    approved_by: str = ""
    row: int | None = None


class EndAmendment(Struct, frozen=True):
    """The amendment ended without having changed anything."""

    saga: str
    reason: str


class AmendSaga(Struct, frozen=True):
    """The amendment has committed; see `SagaAmended`."""

    saga: str
    request: Json
    plan: Json
    plan_hash: str
    cost: Json
    operations: tuple[BroughtIn, ...]
    outputs: dict[str, Json]
    needs: dict[str, tuple[str, ...]]
    reasons: tuple[str, ...] = ()


class Cancel(Struct, frozen=True):
    by: str
    request: int | None = None


class RefuseRequest(Struct, frozen=True):
    """Nobody can do what request number `request` asks, because it cannot be read."""

    request: int
    reason: str


class Resolve(Struct, frozen=True):
    operation: str
    resolution: Resolution
    by: str
    output: Json = None
    request: int | None = None
    because: str = ""


Command = (
    ActionReplied
    | ActionRefused
    | ActionLost
    | CallsEnded
    | ActionPaused
    | ProbeAnswered
    | ActionMissing
    | UndoReplied
    | UndoRefused
    | UndoLost
    | EvidenceFound
    | Verified
    | ReadAgain
    | NameProvider
    | StateSameProvider
    | TrustExceptions
    | PlanOperation
    | CompleteBody
    | RaiseBody
    | ProposePlan
    | ChoosePlan
    | RecordModel
    | JudgePlan
    | DeclareInfeasible
    | AskApproval
    | ApprovePlan
    | RejectPlan
    | AcceptPlan
    | AwaitLocks
    | YieldLocks
    | ChangeRequest
    | GiveUpRepair
    | BeginReversal
    | HoldReversal
    | EndReversal
    | BeginAmendment
    | EndAmendment
    | AmendSaga
    | Cancel
    | RefuseRequest
    | Resolve
)
