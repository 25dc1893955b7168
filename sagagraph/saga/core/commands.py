"""Commands: what the shell tells the core: answers to calls, requests of people, and what the driver wants next.

`draw` is a random number in [0, 1) for the jitter of a backoff: randomness comes in as an argument (docs/protocol.md rule 10).
`after_s` is how long the provider asks to be left alone (`Retry-After`); 0 where it asks for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class ActionReplied:
    operation: str
    output: Json
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class ActionRefused:
    operation: str
    fault: Fault
    transient: bool = False
    draw: float = 0.0
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ActionLost:
    """The call ended without a definite answer, or goes on at `sender` without anybody waiting for it any more."""

    operation: str
    fault: Fault
    draw: float = 0.0
    after_s: float = 0.0
    sender: str = ""


@dataclass(frozen=True, slots=True)
class CallsEnded:
    """Nothing that these senders had under way for the operation goes on."""

    operation: str
    senders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ActionPaused:
    """The action stopped without an outcome, and waits for its body to run it again."""

    operation: str
    reason: str


@dataclass(frozen=True, slots=True)
class ProbeAnswered:
    operation: str
    answer: ProbeAnswer
    output: Json = None
    detail: str = ""
    verdicts: tuple[Verdict, ...] = ()
    draw: float = 0.0
    asked_at: float | None = None
    """The answer describes things some time after this moment; None: just now."""
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ActionMissing:
    """This process lacks the action of an operation that is due."""

    operation: str
    reason: str


@dataclass(frozen=True, slots=True)
class UndoReplied:
    operation: str
    output: Json


@dataclass(frozen=True, slots=True)
class UndoRefused:
    operation: str
    fault: Fault
    transient: bool = False
    draw: float = 0.0
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class UndoLost:
    operation: str
    fault: Fault
    draw: float = 0.0
    after_s: float = 0.0
    sender: str = ""
    """As of `ActionLost`."""


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """A superseded worker wrote down an acknowledgement that it received after losing its fence."""

    operation: str
    call: CallKind
    key: str
    output: Json


@dataclass(frozen=True, slots=True)
class Verified:
    """Answers of the last probes, by operation."""

    committing: bool
    answers: Mapping[str, ProbeAnswer]
    unverified: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadAgain:
    """What the readings on which the plan rests say now, or why one could not be had; by operation."""

    outputs: Mapping[str, Json]
    faults: Mapping[str, Fault]


@dataclass(frozen=True, slots=True)
class NameProvider:
    """The provider that this worker reaches at `url`, for sagas of this domain; `url` is empty for the one inside the command."""

    provider: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class StateSameProvider:
    """A person says that the provider `now` is the one that the saga knows as `was`."""

    was: str
    now: str
    by: str


@dataclass(frozen=True, slots=True)
class TrustExceptions:
    """The graph that runs the saga declares that an exception of a node says that nothing happened."""

    graph: str


@dataclass(frozen=True, slots=True)
class PlanOperation:
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


@dataclass(frozen=True, slots=True)
class CompleteBody:
    """The body has ended; `asked` are the operations that it asked for in this run."""

    asked: frozenset[str]


@dataclass(frozen=True, slots=True)
class RaiseBody:
    fault: Fault


@dataclass(frozen=True, slots=True)
class ProposePlan:
    plan_hash: str
    plan: Json
    cost: Json
    alternatives: tuple[Json, ...] = ()
    reasons: tuple[str, ...] = ()
    proposed_by: str = ""
    reasoning: str = ""
    agents: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordModel:
    """Record that a model was asked on behalf of the saga."""

    asked: ModelAsked


@dataclass(frozen=True, slots=True)
class ChoosePlan:
    """Choose one of the alternatives instead of the plan that is shown, which is titled `shown_title` from now on."""

    plan_hash: str
    shown_title: str


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """Judge a plan. `shown`: the JSON that it was judged by, beside the request."""

    plan_hash: str
    verdict: Json
    shown: Json = None


@dataclass(frozen=True, slots=True)
class DeclareInfeasible:
    """Report that no plan meets the request. If it was changed while a plan waited for approval, that plan stays."""

    reasons: tuple[str, ...]
    remedies: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class AskApproval:
    pass


@dataclass(frozen=True, slots=True)
class ApprovePlan:
    """Approve a plan; `plan_hash` None approves the plan that is shown. One that is asked for by `request` is refused in the
    journal if it does not fit.
    """

    by: str
    plan_hash: str | None = None
    request: int | None = None


@dataclass(frozen=True, slots=True)
class RejectPlan:
    by: str
    plan_hash: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AcceptPlan:
    """Mint the operations of an approved plan; `removed` operations of an earlier version are compensated.

    `replaced`: removed → new, where an operation that is kept depended on the removed one. `revisable`: a failure disrupts the
    plan.
    """

    operations: tuple[OperationSpec, ...]
    removed: tuple[str, ...] = ()
    replaced: Mapping[str, str] = field(default_factory=dict)
    revisable: bool = False


@dataclass(frozen=True, slots=True)
class AwaitLocks:
    """Others keep what is wanted, and it waits for that."""

    blockers: tuple[Blocker, ...]


@dataclass(frozen=True, slots=True)
class YieldLocks:
    """A person lets others have what this saga keeps, although it has not ended."""

    by: str


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """A person asks for something else; `approved_by` approves the resulting plan in advance. One that is asked for by `row` of
    the requests is refused in the journal if it does not fit.
    """

    request: Json
    by: str
    approved_by: str = ""
    row: int | None = None


@dataclass(frozen=True, slots=True)
class GiveUpRepair:
    """Report that no plan is left that keeps anything of the disrupted one."""

    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BeginReversal:
    """Begin a reversal: `saga` will undo this one; None means that nothing can."""

    saga: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class HoldReversal:
    reason: str


@dataclass(frozen=True, slots=True)
class EndReversal:
    outputs: dict[str, Json]
    residue: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BeginAmendment:
    """Begin an amendment: `saga` will look for another plan; `request` is its request (`amendments.Amendment`).

    `row`: as above.
    """

    saga: str
    request: Json
    by: str
    approved_by: str = ""
    row: int | None = None


@dataclass(frozen=True, slots=True)
class EndAmendment:
    """The amendment ended without having changed anything."""

    saga: str
    reason: str


@dataclass(frozen=True, slots=True)
class AmendSaga:
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


@dataclass(frozen=True, slots=True)
class Cancel:
    by: str
    request: int | None = None


@dataclass(frozen=True, slots=True)
class RefuseRequest:
    """Nobody can do what request number `request` asks, because it cannot be read."""

    request: int
    reason: str


@dataclass(frozen=True, slots=True)
class Resolve:
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
