"""Question to the search: a situation, what of an older plan must stay, and which plans are known already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sagagraph.domains.reunion.planning.model.never_alone import both, keep_apart, keep_company
from sagagraph.domains.reunion.planning.model.objectives import Aims
from sagagraph.domains.reunion.planning.model.presence import Presence
from sagagraph.domains.reunion.planning.model.sequence import Sequence
from sagagraph.domains.reunion.planning.model.situation import Situation
from sagagraph.domains.reunion.planning.model.stability import Keeping, slack_of

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from sagagraph.domains.reunion.plan import Journey, Work

    Action = Journey | Work

Outlook = Callable[[int], Situation]
"""The situation for at most so many journeys."""
Roles = frozenset[tuple[str, str]]
"""Who rides in which vehicle, and who does which task: what people ask about a plan first."""


@dataclass(frozen=True, slots=True)
class Question:
    outlook: Outlook
    planned: Mapping[int, Action] = field(default_factory=dict)
    """Of the older plan: as many as possible are kept, once the objectives are as good as can be."""
    fixed: frozenset[int] = frozenset()
    """Those of `planned` that must be kept."""
    known: tuple[Roles, ...] = ()
    """The plan must differ from any with these roles."""
    foremost: Callable[[Aims], cp_model.LinearExprT] | None = None
    """Aims before the objectives."""

    def model(self, journeys: int) -> tuple[Sequence, list[cp_model.LinearExprT]]:
        """Return the model with its aims in order: objectives, kept actions, soft wishes, and every action as early as
        possible.
        """
        situation = self.outlook(journeys)
        slacks = [slack_of(situation, action) or 0 for action in self.planned.values()]
        sequence = Sequence(situation, journeys + len(situation.tasks), longer=max(slacks, default=0))
        presence = Presence(sequence)
        keep_company(sequence, presence)
        keep_apart(sequence)
        aims = Aims(sequence, presence)
        objectives = [aims.expression(each) for each in situation.objectives]
        for roles in self.known:
            _differ(sequence, roles)
        foremost = [self.foremost(aims)] if self.foremost else []
        return sequence, [*foremost, *objectives, *self._changes(sequence), aims.wishes(), aims.ties()]

    def _changes(self, sequence: Sequence) -> list[cp_model.LinearExprT]:
        if not self.planned:
            return []
        keeping = Keeping(sequence, self.planned)
        for index in self.fixed:
            sequence.model.add(keeping.is_kept[index] == 1)
        kept, promised = sum(keeping.is_kept.values()), sum(keeping.promises)
        return [(len(self.planned) - kept) * (len(keeping.promises) + 1) + len(keeping.promises) - promised]


def roles_of(actions: tuple[Action, ...]) -> Roles:
    return frozenset(
        (name, action.vehicle if action.do == "travel" else action.task) for action in actions for name in action.people
    )


def _differ(sequence: Sequence, roles: Roles) -> None:
    """In somebody's ride or task at least."""
    here, model, steps = sequence.situation, sequence.model, sequence.steps
    different: list[cp_model.LiteralT] = []
    for person, each in enumerate(here.travellers):
        for index, car in enumerate(here.cars):
            rides = model.new_bool_var("")
            together = [both(model, steps.rides[k][person], steps.uses_car[k][index]) for k in range(sequence.count)]
            model.add_max_equality(rides, together)
            different.append(~rides if (each.name, car.name) in roles else rides)
        for task, what in enumerate(here.tasks):
            part = sequence.takes_part[task][person]
            different.append(~part if (each.name, what.name) in roles else part)
    model.add_bool_or(*different)
