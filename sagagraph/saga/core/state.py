"""State: what a saga is, folded from its journal. Frozen; `evolve` makes the next one."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from enum import StrEnum
from urllib.parse import quote

from immutables import Map
from msgspec import Struct, field

from sagagraph.saga.core.events import Blocker, Driver, Fault, ProbeAnswer, Via
from sagagraph.saga.core.status import OperationStatus
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.policy import KeyFormat
from sagagraph.workflow.values import Json

_KEY_NAMESPACE = uuid.UUID("5a6a6e0e-7d0c-5d7e-9a54-0b7d1c2f3a41")


class Stage(StrEnum):
    """The stage of a saga; the public status is derived from it and from the operations."""

    PLANNING = "planning"
    AWAITING_APPROVAL = "awaiting_approval"
    RUNNING = "running"
    COMPENSATING = "compensating"
    REVERSING = "reversing"
    AMENDING = "amending"
    """Committed, with an amendment under way: nothing else may change the saga meanwhile."""
    COMMITTED = "committed"
    COMPENSATED = "compensated"
    REJECTED = "rejected"
    INFEASIBLE = "infeasible"


FINAL = frozenset({Stage.COMMITTED, Stage.COMPENSATED, Stage.REJECTED, Stage.INFEASIBLE})


class UndoCall(StrEnum):
    VOID = "void"
    COMPENSATION = "compensation"


class Undo(Struct, frozen=True):
    """The calls that undo an operation."""

    call: UndoCall
    generation: int = 1
    attempts: int = 0
    """Over all generations."""
    allowed_from: int = 0
    """Attempts that no longer count against the policy: a new worker, or a person, started over."""
    lost: int = 0
    """Attempts of this generation that ended without a definite answer."""
    first_call_at: float = 0.0
    """Of this generation; 0 before it."""


class Operation(Struct, frozen=True):
    """One operation and everything known about its calls. Counters are of the current `generation` unless they say otherwise."""

    spec: OperationSpec
    ordinal: int
    plan_version: int
    status: OperationStatus = OperationStatus.PLANNED
    generation: int = 1
    attempts: int = 0
    total_attempts: int = 0
    """Over all generations."""
    allowed_from: int = 0
    """Those of `total_attempts` that no longer count against the policy."""
    lost: int = 0
    """Attempts that ended without a definite answer."""
    in_flight: bool = False
    """This epoch's worker waits for the answer to a call, forward or back."""
    claiming: bool = False
    """The call in flight is made only to be undone."""
    claims: int = 0
    first_call_at: float = 0.0
    begun_at: float = 0.0
    """The first call of any generation."""
    deadline: float = 0.0
    """The latest of this generation's."""
    not_before: float = 0.0
    probe: ProbeAnswer | None = None
    """The last answer since the last call went out."""
    probed_at: float = 0.0
    """When that answer was asked for."""
    senders: tuple[str, ...] = ()
    """Workers that may still send a call of it, forward or back; noted only where its provider promises to settle."""
    quiet_since: float = 0.0
    """When the last call of it was known to have ended, forward or back; as above."""
    unknown_probes: int = 0
    given_up: bool = False
    removed: bool = False
    """A later plan omits it: it is undone while the saga continues."""
    rejected: bool = False
    """It landed, but a validator found its output INVALID."""
    output: Json = None
    via: Via | None = None
    fault: Fault | None = None
    hold: str = ""
    undo: Undo | None = None
    undo_output: Json = None
    verdicts: tuple[Json, ...] = ()
    ended_at: float = 0.0
    doubted: bool = False
    """Its next call may have been made already: the store was restored since its plan was accepted."""
    owner: str = ""
    """The saga whose id is in its keys, if that is another one: the amendment that brought it in."""

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def has_effect(self) -> bool:
        return self.spec.kind is not ActionKind.READ_ONLY

    @property
    def succeeded(self) -> bool:
        return self.status is OperationStatus.SUCCEEDED and not self.rejected

    @property
    def failed(self) -> bool:
        return self.rejected or self.status in (OperationStatus.FAILED, OperationStatus.VOIDED)

    @property
    def waits_for_person(self) -> bool:
        return self.status in (OperationStatus.HELD, OperationStatus.COMPENSATION_FAILED)

    @property
    def error_code(self) -> str | None:
        return self.fault.code if self.fault else None


class AcceptedPlan(Struct, frozen=True):
    request: Json
    hash: str | None
    content: Json
    cost: Json


class PlanState(Struct, frozen=True):
    """What was proposed last, and decided. `version` counts accepted plans, from 1."""

    version: int = 0
    hash: str | None = None
    content: Json = None
    cost: Json = None
    verdict: Json = None
    proposals: int = 0
    """How many plans were proposed so far."""
    alternatives: tuple[Json, ...] = ()
    reasons: tuple[str, ...] = ()
    proposed_by: str = ""
    reasoning: str = ""
    agents: tuple[Json, ...] = ()
    """What each agent was shown and said."""
    questions: Mapping[str, int] = field(default_factory=dict)
    """How often each planner, agent or validator has asked a model since the request last changed."""
    approved_by: str | None = None
    approved_in_advance_by: str = ""
    infeasible: tuple[str, ...] = ()
    """Why there is no plan, or no repair of it."""
    remedies: tuple[Json, ...] = ()
    """What can be asked for instead of what has no plan: in words, and as a request."""
    stood: Stood | None = None
    """What waited for approval before the request changed, as long as there is no other plan."""
    accepted: AcceptedPlan | None = None
    """The plan that these operations belong to, whatever has been proposed since."""
    revisable: bool = False
    """It, or what stands of it, may be repaired."""
    disruption: str = ""
    """Why nothing further of it is started until it is repaired, or its repair is given up."""


class Stood(Struct, frozen=True):
    request: Json
    plan: PlanState


class ModelUse(Struct, frozen=True):
    """All that one model was asked by one role."""

    role: str
    model: str
    questions: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cost_usd: float | None = 0.0
    """None once the price of any answer is unknown."""


class Amending(Struct, frozen=True):
    """The amendment under way, with everything needed to begin it if nobody has done so yet."""

    saga: str
    request: Json
    approved_by: str


class Doubt(Struct, frozen=True):
    """The store was restored under an open saga: what this saga did between these two instants is not in its journal."""

    since: float
    """Its last entry before."""
    until: float
    """The first takeover after."""


class Index(Struct, frozen=True):
    """Index for questions of `next_steps` about all operations, so that it need not visit each. Derived; only `evolve` keeps it.

    The members of a set are keyed to their ordinals, which give their order.
    """

    names: Map[int, str] = Map()
    """Ordinal → operation."""
    in_flight: int = 0
    """How many wait for the answer to a call; and so on."""
    calling_forward: int = 0
    waiting_for_person: int = 0
    perhaps_live: int = 0
    """Held or stuck where an effect may stand."""
    locking: Map[str, int] = Map()
    """They keep locks (docs/protocol.md rule 12)."""
    unfinished: int = 0
    """Something is still due for them, going forward."""
    unfinished_before_pivot: int = 0
    """Of these, the ones that the pivot waits for (docs/protocol.md rule 5)."""
    unclosed: int = 0
    """Something of them is live outside, or can become live."""
    fatal: Map[str, int] = Map()
    """They failed, and nobody catches that."""
    due: Map[str, int] = Map()
    """There may be a step for them; for all others there is none before something happens to another operation."""
    unsettled: Map[str, int] = Map()
    """Going forward: how many of its direct prerequisites an operation still waits for; absent where for none."""
    below: Map[str, int] = Map()
    """For what goes back, and its dependents: how many direct dependents are unclosed, or have unclosed ones below them."""
    after_pivot: Map[str, None] = Map()
    """All that depends on the pivot, directly or not."""


class _Outputs(Mapping[str, Json]):
    """A view of the outputs: nothing is copied."""

    def __init__(self, operations: Map[str, Operation]) -> None:
        self._operations = operations

    def __getitem__(self, name: str) -> Json:
        operation = self._operations[name]
        if not operation.succeeded:
            raise KeyError(name)
        return operation.output

    def __iter__(self) -> Iterator[str]:
        return (name for name, operation in self._operations.items() if operation.succeeded)

    def __len__(self) -> int:
        return sum(1 for _name in self)


_NO_OPERATIONS: Map[str, Operation] = Map()
_NO_ALIASES: Map[str, str] = Map()
_NO_DEPENDENTS: Map[str, tuple[str, ...]] = Map()


class Saga(Struct, frozen=True):
    id: str
    driver: Driver
    domain: str
    request: Json
    stage: Stage
    version: int
    epoch: int
    begun_at: float
    last_at: float
    operations: Map[str, Operation] = _NO_OPERATIONS
    dependents: Map[str, tuple[str, ...]] = _NO_DEPENDENTS
    """Operation → the operations of any plan version that depend on it directly."""
    pivot: str | None = None
    plan: PlanState = PlanState()
    cancel_by: str | None = None
    turned_back_by: str | None = None
    """Why it compensates."""
    body_completed: bool = False
    body_fault: Fault | None = None
    last_request: int = 0
    """The highest request row consumed."""
    reversal: str | None = None
    reversal_hold: str = ""
    amending: Amending | None = None
    amendments: tuple[str, ...] = ()
    """All amendments that were ever begun, in order."""
    amendment_note: str = ""
    """Why the last amendment changed nothing."""
    missing: tuple[str, ...] = ()
    """Operations reported lost outside, which no amendment has replaced since."""
    models: tuple[ModelUse, ...] = ()
    unverified: tuple[str, ...] = ()
    residue: tuple[str, ...] = ()
    begun_in: int = 1
    """The store's epoch when the saga began."""
    store_epoch: int = 1
    """The last epoch of the store that its journal knows."""
    doubt: Doubt | None = None
    redacted: tuple[str, ...] = ()
    """Names under which payloads were made unreadable: nothing can be called with them any more."""
    trusts_exceptions: bool = False
    """An exception of a node says that nothing happened: so its graph declares."""
    holder: str = ""
    """The worker that took it last; empty for one of an earlier release that began it."""
    provider: str = ""
    """The identity of the provider that its domain works with; empty where none is named (docs/protocol.md rule 2a)."""
    provider_url: str = ""
    """Its last known address; empty for the one that runs inside the command."""
    same_providers: Map[str, str] = _NO_ALIASES
    """Identity → the first identity of what is stated to be the same provider."""
    has_read_again: bool = False
    """What its plan rests on was read again, and has not changed."""
    yielded_by: str = ""
    """Who let others have its locks; it takes them again before it goes forward (docs/protocol.md rule 12)."""
    awaits: tuple[Blocker, ...] = ()
    """Who kept what it wanted when it last had to wait for locks."""
    index: Index = Index()

    @property
    def headline_stage(self) -> Stage:
        """The stage in lists: a committed saga that somebody has cancelled is on its way back."""
        return Stage.REVERSING if self.stage is Stage.COMMITTED and self.cancel_by else self.stage

    def in_order(self) -> Iterator[Operation]:
        """The operations in the order in which they were planned."""
        return (self.operations[self.index.names[ordinal]] for ordinal in range(len(self.operations)))

    @property
    def outputs(self) -> Mapping[str, Json]:
        """Outputs of the operations that succeeded."""
        return _Outputs(self.operations)

    @property
    def pivot_operation(self) -> Operation | None:
        return self.operations[self.pivot] if self.pivot else None

    @property
    def pivot_has_landed(self) -> bool:
        pivot = self.pivot_operation
        return pivot is not None and pivot.status is OperationStatus.SUCCEEDED

    @property
    def pivot_is_open(self) -> bool:
        """Whether the pivot may have landed or may yet land: no compensation starts meanwhile (docs/protocol.md rule 5)."""
        pivot = self.pivot_operation
        return pivot is not None and pivot.status in _OPEN_PIVOT


_OPEN_PIVOT = frozenset(
    {
        OperationStatus.STARTED,
        OperationStatus.IN_DOUBT,
        OperationStatus.HELD,
        OperationStatus.COMPENSATING,
        OperationStatus.COMPENSATION_FAILED,
    }
)


def operation_key(saga_id: str, operation: Operation, generation: int | None = None) -> str:
    """Return the identity of an operation's effect: the same for every ambiguous repetition of it (docs/protocol.md rule 2)."""
    return _written(operation, saga_id, str(generation or operation.generation))


def undo_key(saga_id: str, operation: Operation, undo_generation: int) -> str:
    """Return the identity of a compensation, bound to the generation that it undoes."""
    return _written(operation, saga_id, f"{operation.generation}/undo/{undo_generation}")


def void_key(saga_id: str, operation: Operation) -> str:
    """Return the key of a void: the operation's own, by which the provider knows it, or that of the compensation that is one."""
    if not operation.spec.guarantees.void_compensates:
        return operation_key(saga_id, operation)
    return undo_key(saga_id, operation, operation.undo.generation if operation.undo else 1)


def _quoted(part: str) -> str:
    """Quote an id: a slash inside it must not make two keys one."""
    return part if _NEEDS_NO_QUOTES(part) else quote(part, safe=" :~@")


_NEEDS_NO_QUOTES = re.compile(r"[A-Za-z0-9_.~: @-]*").fullmatch


def _written(operation: Operation, saga_id: str, generations: str) -> str:
    path = f"{_quoted(operation.owner or saga_id)}/{_quoted(operation.spec.id)}/{generations}"
    if operation.spec.policy.idempotency_key is KeyFormat.UUID:
        return str(uuid.uuid5(_KEY_NAMESPACE, path))
    return path
