"""Templates: plans for goals of known kinds, and routines made of missions that were completed (PRD-102, sections 6 and 13)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sagagraph.coordination.core.likeness import by_words, says, topic_of
from sagagraph.coordination.core.matching import Similarity
from sagagraph.coordination.core.mission import Mission
from sagagraph.coordination.core.plan import MissionPlan, plan_json, read_plan
from sagagraph.coordination.core.states import RunState
from sagagraph.errors import NotAllowedError
from sagagraph.workflow.values import Json

LEAST_ALIKE: Final = 0.85
ROUTINE: Final = "Routine: "
_LONGEST_NAME: Final = 100


class Template(Struct, frozen=True, omit_defaults=True):
    """Template. A goal is of its kind if it has a word of each group of `signs` and none of `but_not`; texts of `plan` may hold
    `{topic}` and `{goal}`.
    """

    name: str
    description: str
    plan: dict[str, Json]
    signs: tuple[tuple[str, ...], ...] = ()
    but_not: tuple[str, ...] = ()
    source: str = ""
    """The mission that it was made of."""

    def likeness(self, goal: str, similarity: Similarity) -> float:
        """Return how sure it is that the goal is of this kind, from 0 to 1."""
        alike = similarity(goal, self.description)
        if any(says(goal, each) for each in self.but_not):
            return alike if self.source else 0.0
        held = sum(any(says(goal, sign) for sign in group) for group in self.signs)
        return max(alike, held / len(self.signs) if self.signs else 0.0)

    def plan_for(self, goal: str) -> MissionPlan:
        told = {"{topic}": topic_of(goal), "{goal}": goal}
        return replace(read_plan(_filled(self.plan, told)), template=self.name)


@cache
def seeds() -> tuple[Template, ...]:
    """Return the templates that come with the package."""
    found = sorted((files(__package__) / "templates").iterdir(), key=lambda each: each.name)
    return tuple(template_from(json.loads(each.read_text(encoding="utf-8"))) for each in found if each.name.endswith(".json"))


def template_from(value: Any) -> Template:
    return msgspec.convert(value, Template)


def matched(goal: str, templates: Iterable[Template], similarity: Similarity = by_words) -> Template | None:
    """Return the template for a goal, routines first; None if it is of no known kind, or of several alike."""
    scores = [(each.likeness(goal, similarity), bool(each.source), len(each.signs), each) for each in templates]
    sure = sorted((each for each in scores if each[0] > LEAST_ALIKE), key=lambda each: (each[1], each[0], each[2]), reverse=True)
    return sure[0][3] if sure else None


def _filled(value: Any, told: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for mark, text in told.items():
            value = value.replace(mark, text)
        return value
    if isinstance(value, Mapping):
        return {name: _filled(each, told) for name, each in value.items()}
    return [_filled(each, told) for each in value] if isinstance(value, list | tuple) else value


def routine_of(mission: Mission, known: Iterable[Template] = ()) -> Template:
    """Make a template of a completed mission: its structure, and no data of it. Raises `NotAllowedError` for any other one."""
    if mission.state is not RunState.COMPLETED or mission.plan is None:
        raise NotAllowedError(f"mission {mission.id!r} is {mission.state.value}: only a completed one becomes a routine")
    topic = topic_of(mission.goal)
    marks = {mission.goal: "{goal}", topic: "{topic}"}
    agents = {each.spec.order: each.agent for each in mission.tasks.values() if each.agent_type == "roster"}
    plan = replace(
        mission.plan,
        tasks=tuple(replace(each, agent=agents.get(each.order, "")) for each in mission.plan.tasks),
        template="",
        model="",
        prompt_version="",
    )
    origin = next((each for each in known if each.name == mission.plan.template), None)
    name = ROUTINE + mission.goal[:_LONGEST_NAME]
    signs, but_not = (origin.signs, origin.but_not) if origin else ((), ())
    return Template(name, mission.goal, _filled(plan_json(plan), marks), signs, but_not, source=mission.id)


def owner_of(mission_id: str) -> str:
    """Return the prefix of the missions of one visitor of the app; empty for those of the command line."""
    return mission_id.partition("mission-")[0] if "mission-" in mission_id else ""
