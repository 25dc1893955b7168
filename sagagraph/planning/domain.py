"""The Domain protocol. A new domain is a new folder in `domains/` that satisfies it, and one line in `bootstrap.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from sagagraph.saga.action import Action
from sagagraph.saga.model import Saga
from sagagraph.saga.view import Account, Cost
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec


@dataclass(frozen=True, slots=True)
class Proposal:
    """`plan` is JSON; `plan_hash` names all of it that matters, and approval is bound to it."""

    plan: Any
    plan_hash: str
    title: str
    cost: Cost
    reasons: tuple[str, ...] = ()
    considered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No plan meets the request; each reason names a wish that fails and its nearest miss."""

    reasons: tuple[str, ...]


class Domain(Protocol):
    name: str

    @property
    def actions(self) -> tuple[Action, ...]: ...

    async def propose(self, request: Any) -> tuple[Proposal, ...] | Infeasible:
        """Plans for a JSON request, the preferred one first. Raises `ProviderError` when an outside part fails."""
        ...

    async def validate(self, request: Any, plan: Any) -> Verdict:
        """An independent judgement of `plan`, whoever made it."""
        ...

    def title(self, plan: Any) -> str:
        """The plan in words, its parts separated by semicolons."""
        ...

    def workflow(self, plan: Any) -> tuple[OperationSpec, ...]:
        """The plan as executable operations."""
        ...

    def account(self, saga: Saga) -> Account:
        """What the saga costs now, and what it leaves behind."""
        ...
