"""Cooking: recipes as the planning graph knows them. Every start is an operation; it waits for what it comes after.

A meal is an open saga until dinner is served (ADR-0013): what happens meanwhile changes its request, and its plan is repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from msgspec import structs
from pydantic import BaseModel, ConfigDict, Field

from sagagraph.context.slice import Fact, content_hash
from sagagraph.domains.recipes.actions import BEGINS, SERVE, Dinner, Kitchen, kitchen_actions, piece_of
from sagagraph.domains.recipes.events import Event, as_known, parse_events
from sagagraph.domains.recipes.plan import Plan, Row, clock, makespan
from sagagraph.domains.recipes.planning.model import Planned
from sagagraph.domains.recipes.planning.planner import Conflict, Situation, plan_or_explain
from sagagraph.domains.recipes.planning.repair import Cooked, nearest, repair
from sagagraph.domains.recipes.request import Meal, parse_meal
from sagagraph.domains.recipes.rules.past import Past
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.domains.recipes.text import described
from sagagraph.errors import InvalidInputError, NotAllowedError
from sagagraph.planning.background import in_background
from sagagraph.planning.budget import Budget
from sagagraph.planning.domain import Domain, Infeasible, Json, Proposal, Revision, object_of
from sagagraph.planning.models.model_planner import Assignment
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.view import Cost
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec

_SECONDS: Final = 20.0
_MOST_STEPS: Final = 40
"""Of a meal that a model is asked about; the solver plans larger ones, which a model does not survey."""
_INSTRUCTIONS: Final = (
    "Cook the meal in the data, complete as early as possible: say when each step starts, in seconds from the beginning. Each row "
    "of the plan is a step, or a piece of one that may be interrupted. A cook does one thing at a time. What goes on alone needs "
    "nobody, but is started by a cook with free hands: not in the middle of another step. One step at a time has an object; an "
    "oven is heated before it is used at that heat. A step starts when all that it comes after has ended, and soon enough after "
    "what it must follow. Every step is done once, in exactly its time."
)
_REPAIR: Final = (
    " Something has happened. What began before it stands, and is listed; leave it out of your plan. Plan only what is left, from "
    "that moment on, and change as few starts as you can."
)


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    recipe: str
    step: int
    duration_s: int
    start_s: int


class Proposed(BaseModel):
    model_config = ConfigDict(extra="forbid")

    reasoning: str = ""
    plan: tuple[_Row, ...] = Field(max_length=2000)

    @property
    def rows(self) -> Plan:
        return tuple(Row(each.step, each.recipe, each.duration_s, each.start_s) for each in self.plan)


class Cooking(Domain):
    name = "recipes"

    def __init__(self, kitchen: Kitchen) -> None:
        self.kitchen = kitchen
        self._cook, self._serve = kitchen_actions(kitchen)

    @property
    def actions(self) -> tuple[Action, ...]:
        return (self._cook, self._serve)

    async def propose(self, request: Json) -> tuple[Proposal, ...] | Infeasible:
        return await self._proposed(request, plan_or_explain)

    async def _proposed(
        self, request: Json, think: Callable[..., Planned | Conflict], *known: Any
    ) -> tuple[Proposal, ...] | Infeasible:
        meal = parse_meal(request)
        found = await in_background(think, Situation(meal), *known, Budget.of(_SECONDS))
        return (
            _infeasible(found) if isinstance(found, Conflict) else (_first(request, Cooked(meal, found.plan, found.lower_bound)),)
        )

    async def repair(self, saga: Saga) -> Proposal | Infeasible:
        """Repair the plan for what has happened since; that dinner is served leaves it as it is."""
        found = await self._repaired(saga)
        return found if isinstance(found, Infeasible) else _next(saga, found)

    async def _repaired(self, saga: Saga) -> Cooked | Infeasible:
        wanted, before = saga.request, accepted(saga)
        if parse_meal(wanted) != parse_meal(saga.plan.accepted and saga.plan.accepted.request):
            return Infeasible(("what is cooked stays as it is: cancel it, and begin again",))
        cooked = cooked_of(before)
        found = await in_background(repair, cooked, _fresh(cooked.meal, wanted, before), Budget.of(_SECONDS))
        return _infeasible(found) if isinstance(found, Conflict) else found

    # -- what a model plans: judged before it counts, and finished by the solver where it does not hold --------------------

    async def assignment(self, request: Json) -> Assignment | tuple[Proposal, ...] | Infeasible:
        solved = await self.propose(request)
        meal = parse_meal(request)
        if isinstance(solved, Infeasible) or len(meal.steps) > _MOST_STEPS:
            return solved
        return Assignment(_INSTRUCTIONS, _facts(meal), Proposed, solved)

    async def chosen(self, request: Json, answer: BaseModel, assignment: Assignment) -> Proposal | Verdict:
        del assignment
        meal, rows = parse_meal(request), Proposed.model_validate(answer).rows
        verdict = validate_plan(meal, [list(row) for row in rows])
        return _first(request, Cooked(meal, rows)) if verdict.is_valid else verdict

    async def finished(self, request: Json, answer: Json) -> tuple[Proposal, ...]:
        """Return the plan in which most steps begin when the model said, at most 2 % longer than the shortest."""
        was = {row.key: row.start for row in Proposed.model_validate(answer).rows if row.start >= 0}
        found = await self._proposed(request, nearest, was)
        return () if isinstance(found, Infeasible) else found

    async def mending(self, saga: Saga) -> Assignment | tuple[Proposal, ...] | Infeasible:
        cooked, before = await self._repaired(saga), accepted(saga)
        if isinstance(cooked, Infeasible):
            return cooked
        if len(cooked.meal.steps) > _MOST_STEPS or cooked.plan == cooked_of(before).plan:
            return (_next(saga, cooked),)
        told = {"what has happened": saga.request["events"], "plan until now": before["plan"], "stands": _begun(saga, cooked)}
        facts = (*_facts(cooked.meal), *(Fact(name, said, critical=True) for name, said in told.items()))
        return Assignment(_INSTRUCTIONS + _REPAIR, facts, Proposed, (_next(saga, cooked),))

    async def mended(self, saga: Saga, answer: BaseModel) -> Proposal | Verdict:
        """What has begun, and what is thrown away, is not for the model to say."""
        cooked = await self._repaired(saga)
        if isinstance(cooked, Infeasible):
            return Verdict.unknown(cooked.reasons[0])
        rows = sorted((*_begun(saga, cooked), *Proposed.model_validate(answer).rows), key=lambda row: row.start)
        found = _next(saga, replace(cooked, plan=tuple(rows), lower_bound=0))
        verdict = await self.validate(saga.request, found.plan, await self.evidence(saga))
        return found if verdict.is_valid else verdict

    # -- judgement and execution -------------------------------------------------------------------------------------------

    async def evidence(self, saga: Saga) -> Json:
        """Return the plan that stood: what of it began before the latest event must not be rewritten."""
        return {"against": accepted(saga)} if saga.plan.accepted else {}

    async def validate(self, request: Json, plan: Json, shown: Json) -> Verdict:
        before: Any = object_of(shown).get("against")
        if before is None:
            return validate_plan(parse_meal(request), plan)
        stood = cooked_of(before)
        meal, fresh = stood.meal, _fresh(stood.meal, request, before)
        for event in fresh:
            meal = as_known(meal, stood.plan, event)
        past = Past(stood.plan, cooked_of(plan).waste, fresh[-1]) if fresh else None
        return validate_plan(meal, plan, past)

    def needs_approval(self, saga: Saga) -> bool:
        """Tell whether something starts at another time, or is thrown away."""
        before, after = cooked_of(accepted(saga)), cooked_of(saga.plan.content)
        return _begins(before) != _begins(after) or before.waste != after.waste

    def title(self, plan: Json) -> str:
        return cooking_title(plan)

    def workflow(self, plan: Json) -> tuple[OperationSpec, ...]:
        content: Any = plan
        cooked, names = cooked_of(content), content["names"]
        specs = [
            self._cook.spec(name, piece_of(cooked.meal, row), depends_on=[names[before] for before in _before(cooked, place)])
            for place, (row, name) in enumerate(zip(cooked.plan, names, strict=True))
        ]
        dinner = self._serve.spec(content["dinner"], Dinner(recipes=tuple(cooked.meal.recipes)), depends_on=names)
        return (*specs, structs.replace(dinner, open_end=not content["meal"].get("served")))

    def revision(self, saga: Saga) -> Revision:
        """What starts as it did stays, and may stop at another time; all else is started anew, or thrown away."""
        content: Any = saga.plan.content
        cooked, version = cooked_of(content), saga.plan.version + 1
        was = {row.begins: row for row in cooked_of(accepted(saga)).plan}
        standing = {each.id: each for each in saga.in_order() if not each.removed}
        fresh = [spec for spec in self.workflow(content) if spec.id not in standing]
        for row, name in zip(cooked.plan, content["names"], strict=True):
            if name in standing and row.duration != was[row.begins].duration:
                piece = piece_of(cooked.meal, row, goes_on=True)
                fresh.append(self._cook.spec(f"{name} until {clock(row.end)}.{version}", piece, depends_on=[name]))
        kept = _begins(cooked)
        removed = [
            name
            for name, each in standing.items()
            if each.spec.action == SERVE or tuple(map(each.spec.inputs.get, BEGINS)) not in kept
        ]
        return Revision(tuple(fresh), tuple(removed))


def cooked_of(content: Any) -> Cooked:
    """A plan as journals hold it; `meal` is the request, with the durations that are known now."""
    rows = (tuple(Row(*row) for row in content.get(name, ())) for name in ("plan", "waste"))
    again = tuple((recipe, step) for recipe, step in content.get("again", ()))
    return Cooked(parse_meal(content["meal"]), next(rows), 0, next(rows), again, tuple(content.get("passed", ())))


def cooking_title(plan: Any) -> str:
    cooked = cooked_of(plan)
    return "; ".join([*cooked.meal.recipes, f"complete after {-(-makespan(cooked.plan) // 60)} minutes"])


def _first(request: Any, cooked: Cooked) -> Proposal:
    return _proposal(request, cooked, {}, "", makespan(cooked.plan))


def _next(saga: Saga, cooked: Cooked) -> Proposal:
    before: Any = accepted(saga)
    named = dict(zip((row.begins for row in cooked_of(before).plan), before["names"], strict=True))
    return _proposal(saga.request, cooked, named, f".v{saga.plan.version + 1}", before["planned_s"])


def _proposal(request: Any, cooked: Cooked, named: Mapping[Any, str], suffix: str, planned: int) -> Proposal:
    """`named`: the operations that stand, by what they start; `suffix`: of all others. `planned`: when dinner was to be."""
    names: list[str] = []
    for place, row in enumerate(cooked.plan):
        earlier = sum(each.key == row.key for each in cooked.plan[:place])
        own = f"{row.recipe}.{row.step}" + (f".{earlier + 1}" if earlier else "") + suffix
        names.append(named.get(row.begins, own))
    content: Any = {
        "meal": {**(request if isinstance(request, Mapping) else {}), **cooked.meal.document()},
        "plan": [list(row) for row in cooked.plan],
        "waste": [list(row) for row in cooked.waste],
        "again": [list(key) for key in cooked.again],
        "passed": list(cooked.passed),
        "names": names,
        "dinner": f"dinner{suffix}",
        "planned_s": planned,
    }
    return Proposal(content, content_hash(content), cooking_title(content), Cost(0, "USD"), cooked.told)


def _infeasible(conflict: Conflict) -> Infeasible:
    sentences = tuple(wish.sentence for wish in conflict.wishes)
    return Infeasible(sentences or ("this cannot be cooked",), sentences)


def accepted(saga: Saga) -> Any:
    return saga.plan.accepted and saga.plan.accepted.content


def _fresh(meal: Meal, request: Any, before: Any) -> tuple[Event, ...]:
    """What has happened since that plan."""
    wanted: Any = object_of(request)
    known = parse_events(meal, before["meal"].get("events", ()))
    return tuple(event for event in parse_events(meal, wanted.get("events", ())) if event not in known)


def reported(saga: Saga, event: object) -> dict[str, Any]:
    """The request of a meal that is being cooked, with what has happened now. Raises `InvalidInputError`, `NotAllowedError`."""
    _check_cooking(saga)
    before, meal = saga.request.get("events", ()), cooked_of(accepted(saga)).meal
    new, latest = parse_events(meal, [event])[0], max((each["at"] for each in before), default=0)
    if new.at < latest:
        raise InvalidInputError(f"it is {clock(latest)} already: nothing becomes known at {clock(new.at)} any more", field="at")
    return {**saga.request, "events": [*before, event]}


def _check_cooking(saga: Saga) -> None:
    if saga.stage is not Stage.RUNNING:
        told = "its plan waits for approval" if saga.stage is Stage.AWAITING_APPROVAL else f"it is {saga.stage.value}"
        raise NotAllowedError(f"nothing is being cooked in saga {saga.id!r}: {told}", saga_id=saga.id)


def served(saga: Saga) -> dict[str, Any]:
    """The request of a meal that is being cooked, once dinner is on the table. Raises `NotAllowedError`."""
    _check_cooking(saga)
    return {**saga.request, "served": True}


def _begins(cooked: Cooked) -> set[tuple[str, int, int]]:
    return {row.begins for row in cooked.plan}


def _begun(saga: Saga, cooked: Cooked) -> Plan:
    latest = max(each["at"] for each in saga.request["events"])
    return tuple(row for row in cooked.plan if row.start < latest)


def _facts(meal: Meal) -> tuple[Fact, ...]:
    limits: Json = {"cooks": meal.cooks, "ready at most so many seconds before the end": dict(meal.warm)}
    steps = {name: [described(step, first=0) for step in steps] for name, steps in meal.recipes.items()}
    return (Fact("recipes", steps, critical=True), Fact("meal", limits, critical=True))


def _before(cooked: Cooked, place: int) -> Iterator[int]:
    """The rows that one waits for: what it comes after, the last work of a cook, and who had its objects last."""
    meal, rows = cooked.meal, cooked.plan
    step = meal.steps[rows[place].key]
    others = [(earlier, meal.steps[row.key]) for earlier, row in enumerate(rows[:place])]
    needed = {step.key, *((step.recipe, number) for number in step.after)}
    found = {earlier for earlier, other in others if other.key in needed}
    worked = [earlier for earlier, other in others if not other.is_autonomous and rows[earlier].end <= rows[place].start]
    for last in (worked, *([earlier for earlier, other in others if name in other.uses] for name in step.uses)):
        found.update(last[-1:])
    yield from sorted(found)
