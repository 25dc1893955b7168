"""Conflict: why a problem has no plan: a set of requirements that cannot be met together, though dropping any one would help."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from sagagraph.domains.reunion.planning.model.search import Unsolved
from sagagraph.domains.reunion.planning.requirement import Requirement, by_goal, by_person, requirements_of
from sagagraph.domains.reunion.planning.solving import Setting, first_plan, is_impossible, plain, questions_of
from sagagraph.domains.reunion.request import Change, ReunionProblem
from sagagraph.planning.budget import Budget

SECONDS_A_QUESTION: Final = 4.0


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Relaxation: the least by which a requirement would have to give way, all others kept: to `value`, or altogether if that is
    None.
    """

    sentence: str
    value: Any = None
    together: tuple[tuple[str, Any], ...] = ()
    """If relaxing it alone does not help: what else has to give way with it, and to what."""
    is_least: bool = True
    """Whether it is proven that no less would do; otherwise the time ran out."""
    problem: ReunionProblem | None = None
    """The problem with all that has to give way."""
    wishes: tuple[str, ...] = ()
    """The sentences of all that has to give way."""


@dataclass(frozen=True, slots=True)
class Conflict:
    requirements: tuple[Requirement, ...]
    relaxations: tuple[Relaxation | None, ...]
    """One for each requirement; None: none was found in time."""
    is_irreducible: bool
    """Whether it is proven that none of them could be left out of the conflict: otherwise the time ran out."""


class Why:
    """Search for the conflict of `problem` in `setting`."""

    def __init__(self, problem: ReunionProblem, budget: Budget, setting: Setting = plain) -> None:
        self._problem = by_person(problem)
        self._budget = budget
        self._setting = setting
        self._all = requirements_of(self._problem)
        self._is_sure = True

    def conflict(self) -> Conflict:
        core = self._irreducible()
        is_sure = self._is_sure
        return Conflict(core, tuple(self._relaxation(each) for each in core), is_sure)

    def _irreducible(self, given_up: tuple[Requirement, ...] = ()) -> tuple[Requirement, ...]:
        """Leave out whatever the rest conflicts without: first halves, then smaller and smaller parts, and single requirements
        last (a deletion filter in blocks). Goals are examined last, so that they explain the conflict if possible.
        """
        core = [each for each in self._all if each not in given_up]
        size = max(1, len(core) // 2)
        while True:
            position = len(core)
            while position > 0:
                block = core[max(0, position - size) : position]
                rest = [each for each in core if each not in block]
                if self._plan_with([each.without for each in self._all if each not in rest]) is False:
                    core = rest
                position = min(len(core), position - len(block))
            if size == 1:
                return tuple(core)
            size = max(1, size // 2)

    def _plan_with(self, changes: list[Change]) -> bool | None:
        """Tell whether there is a plan; None: nothing is proven in time, so the conflict may be larger than necessary, and the
        relaxation not the least.
        """
        problem = self._problem
        for change in changes:
            problem = change(problem)
        part = self._budget.part(SECONDS_A_QUESTION)
        usual, free = questions_of(problem, self._setting)
        if not isinstance(first_plan(usual, part), Unsolved):
            return True
        if is_impossible(problem, self._setting, part):
            return False
        if isinstance(first_plan(free, part), Unsolved):
            self._is_sure = False
            return None
        return True

    def _relaxation(self, requirement: Requirement) -> Relaxation | None:
        """Return the least relaxation of it and, if that does not help, of it together with related requirements in the
        conflict.
        """
        self._is_sure = True
        given_up = [requirement]
        while self._plan_with([each.without for each in given_up]) is False:
            core = self._irreducible(tuple(given_up))
            alike = [each for each in core if each.name.rpartition(".")[2] == requirement.name.rpartition(".")[2]]
            if not core or not self._budget.left:
                return None
            given_up.append((alike or core)[0])
        values: list[Any] = []
        sentences: list[str] = []
        changes = [each.without for each in given_up]
        for number, each in enumerate(given_up):
            changes[number], value, sentence = self._least(each, [*changes[:number], *changes[number + 1 :]])
            values.append(value)
            sentences.append(sentence)
        names = [each.name for each in given_up]
        problem = by_goal(reduce(lambda told, change: change(told), changes, self._problem))
        together, wishes = tuple(zip(names[1:], values[1:], strict=True)), tuple(each.sentence for each in given_up)
        return Relaxation("if " + " and ".join(sentences), values[0], together, self._is_sure, problem, wishes)

    def _least(self, requirement: Requirement, others: list[Change]) -> tuple[Change, Any, str]:
        """Return the smallest change that makes a plan possible, found by bisection."""
        scale = requirement.scale
        enough = 1
        while scale is not None and enough < scale.most and not self._plan_with([*others, scale.at(enough)]):
            enough = min(2 * enough, scale.most)
        if scale is None or (enough == scale.most and not self._plan_with([*others, scale.at(enough)])):
            return requirement.without, None, f"it need not be that {requirement.sentence}"
        too_little = enough // 2
        while enough - too_little > 1:
            middle = (too_little + enough) // 2
            if self._plan_with([*others, scale.at(middle)]):
                enough = middle
            else:
                too_little = middle
        return scale.at(enough), scale.value(enough), scale.sentence(enough)


def conflict_json(conflict: Conflict) -> list[dict[str, Any]]:
    told = []
    for each, relaxed in zip(conflict.requirements, conflict.relaxations, strict=True):
        relax: dict[str, Any] | None = None
        if relaxed is not None:
            relax = {"to": relaxed.value, "sentence": relaxed.sentence, "least": relaxed.is_least}
            if relaxed.together:
                relax["together"] = [{"requirement": name, "to": value} for name, value in relaxed.together]
        told.append({"requirement": each.name, "sentence": each.sentence, "relax": relax})
    return told
