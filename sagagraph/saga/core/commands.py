"""Commands: what the shell tells the core: answers of calls, requests of people, and what the driver wants next.

`draw` is a random number in [0, 1) for the jitter of a backoff: randomness comes in as an argument (docs/protocol.md rule 10).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sagagraph.saga.core.events import BroughtIn, Fault, ProbeAnswer, Resolution
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.values import Json


class CallKind(StrEnum):
    ACTION = "action"
    VOID = "void"
    COMPENSATION = "compensation"


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


@dataclass(frozen=True, slots=True)
class ActionLost:
    operation: str
    fault: Fault
    draw: float = 0.0


@dataclass(frozen=True, slots=True)
class ActionPaused:
    """It stopped without an outcome, and waits for its body to run it again."""

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
    """An answer says how things stood some time after this; None: just now."""


@dataclass(frozen=True, slots=True)
class ActionMissing:
    """This process does not have the action of an operation that is due."""

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


@dataclass(frozen=True, slots=True)
class UndoLost:
    operation: str
    fault: Fault
    draw: float = 0.0


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """A superseded worker wrote down an acknowledgement that it received after its fence fell."""

    operation: str
    call: CallKind
    key: str
    output: Json


@dataclass(frozen=True, slots=True)
class Verified:
    """The answers of the last probes, by operation."""

    committing: bool
    answers: Mapping[str, ProbeAnswer]
    unverified: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanOperation:
    """A body asks for an operation; an earlier release may have journalled its action as one of `formerly`."""

    spec: OperationSpec
    formerly: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class CompleteBody:
    """The body is through; `asked` are the operations that it asked for in this run of it."""

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


@dataclass(frozen=True, slots=True)
class ChoosePlan:
    """One of the alternatives, rather than the plan that is shown, which is called `shown_title` from now on."""

    plan_hash: str
    shown_title: str


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """`shown`: JSON that it was judged by, beside the request."""

    plan_hash: str
    verdict: Json
    shown: Json = None


@dataclass(frozen=True, slots=True)
class DeclareInfeasible:
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskApproval:
    pass


@dataclass(frozen=True, slots=True)
class ApprovePlan:
    """`plan_hash` None approves the plan that is shown."""

    by: str
    plan_hash: str | None = None


@dataclass(frozen=True, slots=True)
class RejectPlan:
    by: str
    plan_hash: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AcceptPlan:
    """Mints the operations of an approved plan; `removed` ones of an earlier version are compensated.

    `replaced`: removed → new, where something that is kept depended on the removed one. `revisable`: a failure disrupts the plan.
    """

    operations: tuple[OperationSpec, ...]
    removed: tuple[str, ...] = ()
    replaced: Mapping[str, str] = field(default_factory=dict)
    revisable: bool = False


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """A person wishes for something else; `approved_by` approves in advance what comes of it."""

    request: Json
    by: str
    approved_by: str = ""


@dataclass(frozen=True, slots=True)
class GiveUpRepair:
    """No plan is left that keeps anything of the disrupted one."""

    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BeginReversal:
    """`saga` will undo this one; None says that nothing can."""

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
    """`saga` will look for another plan; `request` is its request (`amendments.Amendment`)."""

    saga: str
    request: Json
    by: str
    approved_by: str = ""


@dataclass(frozen=True, slots=True)
class EndAmendment:
    """It ended without having changed anything."""

    saga: str
    reason: str


@dataclass(frozen=True, slots=True)
class AmendSaga:
    """It has committed; see `SagaAmended`."""

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
class Resolve:
    operation: str
    resolution: Resolution
    by: str
    output: Json = None
    request: int | None = None


Command = (
    ActionReplied
    | ActionRefused
    | ActionLost
    | ActionPaused
    | ProbeAnswered
    | ActionMissing
    | UndoReplied
    | UndoRefused
    | UndoLost
    | EvidenceFound
    | Verified
    | PlanOperation
    | CompleteBody
    | RaiseBody
    | ProposePlan
    | ChoosePlan
    | JudgePlan
    | DeclareInfeasible
    | AskApproval
    | ApprovePlan
    | RejectPlan
    | AcceptPlan
    | ChangeRequest
    | GiveUpRepair
    | BeginReversal
    | HoldReversal
    | EndReversal
    | BeginAmendment
    | EndAmendment
    | AmendSaga
    | Cancel
    | Resolve
)
