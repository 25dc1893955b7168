"""Proposals of models for reunions: what a model is asked, and the form of its answer."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from sagagraph.context.slice import Fact
from sagagraph.domains.reunion.day import ReunionRequest, as_json
from sagagraph.domains.reunion.plan import Journey, ReunionPlan, Work
from sagagraph.planning.domain import Proposal
from sagagraph.planning.models.model_planner import Assignment

LARGEST: Final = 6_000
"""Bytes of a reunion that a model is asked about; larger ones exceed what a model can keep track of, so the solver plans them."""
_INSTRUCTIONS: Final = (
    "Plan the reunion in the data: who rides with whom and when, and who does what and when. Its actions are journeys "
    '("do": "travel", one road of travel_minutes each) and tasks ("do": "task"); start and end are times as in the data. '
    "Everybody stays where they are while they do nothing. A journey takes at least the minutes of its road, begins where its "
    "vehicle, driver and riders are by then, and has a driver who may drive it; riders are not the driver. Nobody acts before "
    "they are available (from plus exit_minutes), or does two things at once. Every task is done at its place, in its window, "
    "for its minutes; what is watched always has somebody at its place. Everybody is at the place of each goal by its time. "
    "Use only names that are in the data. Leave room for delays."
)


_REPAIR: Final = (
    "Something has happened: change as little of the plan until now as you can. What began before the latest event became known "
    "stands as it was."
)


class _Journey(Journey, extra="forbid"):
    pass


class _Work(Work, extra="forbid"):
    pass


class Proposed(BaseModel, extra="forbid"):
    reasoning: str = ""
    actions: tuple[Annotated[_Journey | _Work, Field(discriminator="do")], ...]

    def plan_of(self, problem: str) -> ReunionPlan:
        acts = [each.model_dump(mode="json") for each in self.actions]
        return ReunionPlan.model_validate({"problem": problem, "actions": acts})


def assignment_of(
    wanted: ReunionRequest, solved: tuple[Proposal, ...], standing: ReunionPlan | None = None
) -> Assignment | tuple[Proposal, ...]:
    """Return the assignment. `standing`: the plan that was being carried out when the events became known."""
    told: dict[str, Any] = {
        "reunion": wanted.problem.model_dump(mode="json", exclude={"people": {"__all__": {"mail"}}})
    }  # no model needs it
    if wanted.events and standing is not None:
        told |= {"what has happened": [as_json(each) for each in wanted.events], "plan until now": as_json(standing)}
    if len(json.dumps(told).encode()) > LARGEST or (wanted.events and standing is None):
        return solved
    facts = tuple(Fact(name, said, critical=True) for name, said in told.items())
    return Assignment(_INSTRUCTIONS if standing is None else f"{_INSTRUCTIONS} {_REPAIR}", facts, Proposed, solved)
