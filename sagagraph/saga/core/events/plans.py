"""Plans: proposed, judged, approved, accepted, disrupted."""

from __future__ import annotations

from msgspec import Struct

from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.values import Json


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
    remedies: tuple[Json, ...] = ()
    """What can be asked for instead: in words, and as a request."""
    plan_stays: bool = False
    """The request, and the plan, that a changed request was to replace hold again."""


class ApprovalAsked(Struct, frozen=True, omit_defaults=True):
    plan_hash: str


class PlanApproved(Struct, frozen=True, omit_defaults=True):
    plan_hash: str
    by: str
    request: int | None = None
    """The number of the request row that this consumes (docs/protocol.md rule 6)."""


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
    row: int | None = None
    """The number of the request row that this consumes."""


class PlanDisrupted(Struct, frozen=True, omit_defaults=True):
    """Nothing further starts; once what is under way has settled, the plan is repaired or given up."""

    cause: str
    operation: str | None = None


class RepairGivenUp(Struct, frozen=True, omit_defaults=True):
    """The plan that was accepted last stays, and is no longer repaired."""

    reasons: tuple[str, ...]


PlanEvent = (
    PlanProposed
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
)
