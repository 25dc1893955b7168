"""Solver for sagas of reunions: CP-SAT's plans and repairs, or why there is none, each within its time limit.

It imports the planners when it plans, which in a server is in another process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from sagagraph.domains.reunion.day import as_json
from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.plan import Act, ReunionPlan
from sagagraph.domains.reunion.planning.progress import standing
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.planning.background import nobody
from sagagraph.planning.budget import Budget
from sagagraph.planning.domain import Infeasible, Relaxation

if TYPE_CHECKING:
    from sagagraph.domains.reunion.planning.conflict import Conflict
    from sagagraph.domains.reunion.planning.conflict import Relaxation as Relaxed
    from sagagraph.domains.reunion.planning.solving import Setting

MOST_OTHERS: Final = 2
OTHERS_S: Final = 10.0
PLAN_S: Final = 30.0
FINISH_S: Final = 10.0
FINISH_EFFORT: Final = 0.3
"""For each aim, in CP-SAT's own measure."""
WHY_S: Final = 30.0
_NOT_IN_TIME: Final = "no plan was found in {seconds:g} seconds; it is not proven that there is none"


@dataclass(frozen=True, slots=True)
class Solver:
    """Solver. The preferred plan takes at most `plan_s` seconds of `clock`; the others the same again, but at most `OTHERS_S`. To
    say why there is none takes at most `why_s` more.
    """

    clock: Callable[[], float] = time.monotonic
    plan_s: float = PLAN_S
    why_s: float = WHY_S

    def plan(
        self, problem: ReunionProblem, tell: Callable[[tuple[ReunionPlan, ...]], None] = nobody
    ) -> tuple[ReunionPlan, ...] | Infeasible:
        """Return the plans, the preferred one first. `tell` is called with each better plan on the way, alone."""
        from sagagraph.domains.reunion.planning.planner import choices, plan
        from sagagraph.domains.reunion.planning.solving import Solved, plain

        budget = self._budget(self.plan_s)
        before = budget.left

        def tell_of(actions: tuple[Act, ...]) -> None:
            tell((ReunionPlan.model_construct(problem=problem.name, actions=actions),))

        answer = plan(problem, budget, tell=tell_of)
        if not isinstance(answer, Solved):
            return self._why(problem, plain, is_proof=answer.is_proof)
        tell((answer.plan,))
        as_long_again = self._budget(min(before - budget.left, OTHERS_S))
        return answer.plan, *choices(problem, answer.plan, MOST_OTHERS, as_long_again)

    def finish(self, problem: ReunionProblem, plan: ReunionPlan) -> ReunionPlan | None:
        """Return a plan that keeps as many actions of `plan` as possible, whatever that costs; None: none in time."""
        from sagagraph.domains.reunion.planning.solving import Solved, plain, questions_of, solve

        kept = problem.model_copy(update={"objectives": ()})
        planned = dict(enumerate(plan.actions))
        question = replace(questions_of(kept, plain)[0], planned=planned)
        answer = solve(kept, question, replace(self._budget(FINISH_S), effort=FINISH_EFFORT))
        return answer.plan if isinstance(answer, Solved) else None

    def repair(self, problem: ReunionProblem, plan: ReunionPlan, events: tuple[Event, ...]) -> ReunionPlan | Infeasible:
        """Repair a plan after all events so far; what `plan` began before the latest became known is history."""
        from sagagraph.domains.reunion.planning.repair import Repaired, repair

        answer = repair(problem, plan, events, self._budget(self.plan_s))
        if isinstance(answer, Repaired):
            return answer.solved.plan
        stands = next(standing(problem, plan, events))
        return self._why(stands.problem, stands.setting, is_proof=answer.is_proof)

    def _budget(self, seconds: float) -> Budget:
        return Budget.of(seconds, self.clock)

    def _why(self, problem: ReunionProblem, setting: Setting, *, is_proof: bool) -> Infeasible:
        from sagagraph.domains.reunion.planning.conflict import Why

        if not is_proof:
            return Infeasible((_NOT_IN_TIME.format(seconds=self.plan_s),))
        return _in_words(Why(problem, self._budget(self.why_s), setting).conflict())


def _in_words(conflict: Conflict) -> Infeasible:
    wishes = tuple(each.sentence for each in conflict.requirements)
    relaxations = tuple(
        Relaxation(
            requirement.sentence,
            relaxed.sentence,
            needs=_needs(relaxed),
            change={"problem": as_json(relaxed.problem), "told": None} if relaxed.problem is not None else None,
            together=relaxed.wishes if relaxed.together else (),
        )
        for requirement, relaxed in zip(conflict.requirements, conflict.relaxations, strict=True)
        if relaxed is not None
    )
    together = f"no plan does all of this: {'; '.join(wishes)}"
    return Infeasible((together, *(each.sentence for each in relaxations)), wishes, relaxations)


def _needs(relaxed: Relaxed) -> str | None:
    """Return what would hold instead: a value or, where several things give way, the whole sentence."""
    if relaxed.together:
        return relaxed.sentence.removeprefix("if ")
    return None if relaxed.value is None else str(relaxed.value)
