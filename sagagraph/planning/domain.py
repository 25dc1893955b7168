"""Domains: what a domain offers once it is opened. `entry.py` finds and opens one; docs/domains.md shows how to write one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, runtime_checkable

from sagagraph.errors import InvalidInputError
from sagagraph.saga.core.decide.providers import ProviderHere
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.view import Account, Cost
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
"""Plans and requests as journals hold them; each domain has models of its own for what is in them."""


def object_of(value: Json) -> Mapping[str, Json]:
    """Return a JSON object. Raises `InvalidInputError` for any other value."""
    if not isinstance(value, Mapping):
        raise InvalidInputError("is not a JSON object", field="request")
    return value


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposal of a plan. `plan_hash` covers everything in it that matters; approval is bound to it."""

    plan: Json
    plan_hash: str
    title: str
    cost: Cost
    reasons: tuple[str, ...] = ()
    considered: tuple[str, ...] = ()
    proposed_by: str = "solver"
    """Or the model's name."""
    reasoning: str = ""
    """The model's own, in its words."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Relaxation of one wish of a conflict that suffices while all other wishes hold, or of the fewest together."""

    wish: str
    sentence: str
    needs: str | None = None
    """The least change that suffices. None: dropping the wish alone does not help, and another one does."""
    change: Mapping[str, Json] | None = None
    """The same as fields of the request, in JSON."""
    together: tuple[str, ...] = ()
    """If relaxing it alone does not help: the fewest wishes, including it, that must be relaxed together."""


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No plan meets the request; the reasons say in sentences what cannot be met, and what would help."""

    reasons: tuple[str, ...]
    conflict: tuple[str, ...] = ()
    """A minimal set of wishes that cannot be met together. Empty: nothing is available at all."""
    relaxations: tuple[Relaxation, ...] = ()
    """One for each wish of the conflict."""


@dataclass(frozen=True, slots=True)
class Revision:
    """Revision: the changes that a new plan makes to a saga's operations; see `AcceptPlan`."""

    operations: tuple[OperationSpec, ...]
    removed: tuple[str, ...] = ()
    replaced: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class Provided(Protocol):
    """Domain whose sagas each work with one provider, and only with that one (docs/protocol.md rule 2a)."""

    @property
    def provider_here(self) -> ProviderHere: ...


class Domain(Protocol):
    """Domain. By default, its plans cost nothing, and need no evidence, no amendment and no second approval."""

    name: str

    @property
    def actions(self) -> tuple[Action, ...]: ...

    async def propose(self, request: Json) -> tuple[Proposal, ...] | Infeasible:
        """Propose plans for a JSON request, the preferred one first. Raises `ProviderError` if an outside part fails."""
        ...

    async def repair(self, saga: Saga) -> Proposal | Infeasible:
        """Return, for a disrupted saga or an amendment, the plan that keeps most of what has been done; `Infeasible` if there is
        none.

        The saga is quiet: its operations say what it has done and what failed, and it holds its accepted plan as well.
        """
        ...

    async def evidence(self, saga: Saga) -> Json:
        """Return what validators need to know of the world to judge the proposed plan: JSON, kept in the journal."""
        return {}

    async def validate(self, request: Json, plan: Json, shown: Json) -> Verdict:
        """Judge `plan` independently, whoever made it, by what `evidence` has shown."""
        ...

    def needs_approval(self, saga: Saga) -> bool:
        """Tell whether the proposed plan asks more of people than the accepted one: other costs, other times."""
        return False

    def title(self, plan: Json) -> str:
        """Return the plan in words, its parts separated by semicolons."""
        ...

    def workflow(self, plan: Json) -> tuple[OperationSpec, ...]:
        """Return the plan as executable operations."""
        ...

    def revision(self, saga: Saga) -> Revision:
        """Return the changes that lead from the existing operations to the proposed plan."""
        return Revision(())

    def account(self, saga: Saga) -> Account:
        """Return what the saga costs now, and what it leaves behind."""
        return Account()
