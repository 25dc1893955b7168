"""What a domain's table of faults holds. Another domain adds a module like `travel.py` and its line in `test_faults.py`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sagagraph.planning.checking import judged_plan
from sagagraph.planning.domain import Domain
from sagagraph.saga.engine.actions import Action
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec


@dataclass
class Case:
    """One plan and all that it is judged by: JSON, free to be changed by a fault."""

    request: Any
    plan: Any
    shown: Any


Specs = list[OperationSpec]


@dataclass(frozen=True)
class Fault:
    """`codes`: any one of them tells of it. One of the two changes is made; a case in which it cannot be made is left out."""

    codes: frozenset[str]
    in_plan: Callable[[Case], None] | None = None
    in_workflow: Callable[[Specs], Specs] | None = None
    needs: Callable[[Case], bool] = field(default=lambda _case: True)


@dataclass(frozen=True)
class Table:
    domain: Domain
    cases: Mapping[str, Case]
    faults: Mapping[str, Fault]

    async def judged(self, case: Case, fault: Fault | None = None) -> Verdict:
        """A copy of the case, with the fault in it."""
        case = copy.deepcopy(case)
        if fault is not None and fault.in_plan is not None:
            fault.in_plan(case)
        domain = self.domain if fault is None or fault.in_workflow is None else _Tampered(self.domain, fault.in_workflow)
        return await judged_plan(domain, case.request, case.plan, case.shown)


class _Tampered:
    """The domain, with a fault in the workflows that it makes of plans."""

    def __init__(self, domain: Domain, change: Callable[[Specs], Specs]) -> None:
        self._domain = domain
        self._change = change

    @property
    def name(self) -> str:
        return self._domain.name

    @property
    def actions(self) -> Sequence[Action]:
        return self._domain.actions

    async def validate(self, request: Any, plan: Any, shown: Any) -> Verdict:
        return await self._domain.validate(request, plan, shown)

    def workflow(self, plan: Any) -> tuple[OperationSpec, ...]:
        return tuple(self._change(list(self._domain.workflow(plan))))
