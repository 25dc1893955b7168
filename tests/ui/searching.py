"""A solver of reunions that searches for longer than anybody waits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planning.solver import Solver
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.planning.background import nobody
from sagagraph.planning.domain import Infeasible


@dataclass(frozen=True)
class Searching(Solver):
    """A solver that has a plan at once, and looks for a better one until it is told that it may stop."""

    stop: threading.Event = field(default_factory=threading.Event)
    """Its own: a search that another test told to stop must not go on because this one begins."""

    def plan(self, problem: ReunionProblem, tell: Callable[[tuple[ReunionPlan, ...]], None] = nobody) -> tuple[ReunionPlan, ...]:
        found = Solver.plan(self, problem)
        assert not isinstance(found, Infeasible)
        tell(found[:1])
        assert self.stop.wait(60), "nobody has taken the plan"
        return found
