"""Cooking: recipes as the planning graph knows them. Every start is an operation; it depends on what it comes after.

A meal is an open saga until dinner is served (ADR-0013): events change its request, and its plan is repaired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from msgspec import structs
from pydantic import BaseModel, Field

from sagagraph.context.slice import Fact, content_hash
from sagagraph.domains.recipes.actions import COOK, SERVE, Dinner, Kitchen, Piece, Start, kitchen_actions, piece_of
from sagagraph.domains.recipes.events import Event, as_known, parse_events
from sagagraph.domains.recipes.plan import Cooked, Plan, clock, makespan
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.planning.wishes import Conflict, Wish, left_out
from sagagraph.domains.recipes.request import MOST_COOKS, Meal, StepKey, document_of, parse_meal
from sagagraph.domains.recipes.rules.kitchen import Past
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.domains.recipes.text import described
from sagagraph.errors import InvalidInputError, NotAllowedError
from sagagraph.planning.background import in_background
from sagagraph.planning.budget import Budget
from sagagraph.planning.domain import Domain, Infeasible, Json, Proposal, Relaxation, Revision, object_of
from sagagraph.planning.models.model_planner import Assignment
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.view import Cost
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec

_SECONDS: Final = 20.0
_SECONDS_FOR_MORE: Final = 3.0
_KITCHEN: Final = "kitchen"
"""The operation that all others come after."""
_INSTRUCTIONS: Final = (
    "Cook the meal in the data, complete as early as possible: say when each step starts, in seconds from the beginning. A "
    "row of the plan is a step, or a piece of one that may be interrupted. A cook does one thing at a time. What goes on "
    "alone needs nobody, but is started by a cook with free hands: not in the middle of another step. One step at a time "
    "has an object; an oven is heated before it is used at that heat. A step starts when all that it comes after has ended, "
    "and soon enough after what it must follow. Every step is done once, in exactly its time."
)
_REPAIR: Final = (
    " Something has happened. What began before it stands, and is listed; leave it out of your plan. Plan what is left, from "
    "that moment on, and change as few starts as you can."
)


class Proposed(BaseModel, extra="forbid"):
    reasoning: str = ""
    plan: tuple[Start, ...] = Field(max_length=2000)

    @property
    def rows(self) -> Plan:
        return tuple(each.row for each in self.plan)


class Cooking(Domain):
    name = "recipes"

    def __init__(self, kitchen: Kitchen) -> None:
        self.kitchen = kitchen
        self._open, self._cook, self._serve = kitchen_actions(kitchen)

    @property
    def actions(self) -> tuple[Action, ...]:
        return (self._open, self._cook, self._serve)

    async def propose(self, request: Json) -> tuple[Proposal, ...] | Infeasible:
        """Propose the plan, or, for an event that is only supposed and not carried out, what would become of the plan."""
        if isinstance(request, Mapping) and request.get("served"):
            return Infeasible(("dinner has been served: begin another meal",))
        found = await in_background(_first, request)
        if isinstance(found, Cooked):
            return (_proposal(found),)
        why = _infeasible(found, parse_meal(request))
        more = await in_background(_with_more_cooks, request)
        return replace(why, relaxations=(*more, *why.relaxations))

    async def repair(self, saga: Saga) -> Proposal | Infeasible:
        """Repair the plan for what has happened since; serving dinner leaves it as it is."""
        found = await self._repaired(saga)
        return _proposal(found, saga) if isinstance(found, Cooked) else found

    async def _repaired(self, saga: Saga) -> Cooked | Infeasible:
        cooked = accepted(saga)
        if parse_meal(saga.request) != parse_meal(saga.plan.accepted and saga.plan.accepted.request):
            return Infeasible(("what is cooked stays as it is: cancel it, and begin again",))
        found = await in_background(_mended, cooked, _fresh(cooked, saga.request))
        return found if isinstance(found, Cooked) else _infeasible(found)

    # -- what a model plans: judged before it counts, and finished by the solver where it does not hold --------------------

    async def assignment(self, request: Json) -> Assignment | tuple[Proposal, ...] | Infeasible:
        solved = await self.propose(request)
        return solved if isinstance(solved, Infeasible) else _assignment(_INSTRUCTIONS, parse_meal(request), solved)

    async def chosen(self, request: Json, answer: BaseModel, assignment: Assignment) -> Proposal | Verdict:
        del assignment
        found = _proposal(_planned(request, Proposed.model_validate(answer).rows))
        verdict = await self.validate(request, found.plan, {})
        return found if verdict.is_valid else verdict

    async def finished(self, request: Json, answer: Json) -> tuple[Proposal, ...]:
        """Return the plan in which most steps begin when the model said, at most 2 % longer than the shortest."""
        rows = Proposed.model_validate(answer).rows
        found = await in_background(_nearest, request, rows)
        return (_proposal(found),) if found is not None else ()

    async def mending(self, saga: Saga) -> Assignment | tuple[Proposal, ...] | Infeasible:
        cooked, before = await self._repaired(saga), accepted(saga)
        if isinstance(cooked, Infeasible) or cooked.plan == before.plan:
            return cooked if isinstance(cooked, Infeasible) else (_proposal(cooked, saga),)
        told = {"what has happened": saga.request["events"], "plan until now": before.plan, "stands": _begun(saga, cooked)}
        return _assignment(_INSTRUCTIONS + _REPAIR, cooked.meal, (_proposal(cooked, saga),), **told)

    async def mended(self, saga: Saga, answer: BaseModel) -> Proposal | Verdict:
        """Check that the model leaves alone what has begun, and what is thrown away."""
        cooked = await self._repaired(saga)
        if isinstance(cooked, Infeasible):
            return Verdict.unknown(cooked.reasons[0])
        rows = sorted((*_begun(saga, cooked), *Proposed.model_validate(answer).rows), key=lambda row: row.start)
        found = _proposal(cooked.model_copy(update={"plan": tuple(rows)}), saga)
        verdict = await self.validate(saga.request, found.plan, await self.evidence(saga))
        return found if verdict.is_valid else verdict

    # -- judgement and execution -------------------------------------------------------------------------------------------

    async def evidence(self, saga: Saga) -> Json:
        """Return the old plan: what began in it before the latest event must not be rewritten."""
        return {"against": saga.plan.accepted.content} if saga.plan.accepted else {}

    async def validate(self, request: Json, plan: Json, shown: Json) -> Verdict:
        before = object_of(shown).get("against")
        if before is None:
            return validate_plan(parse_meal(request), plan)
        stood = Cooked.model_validate(before)
        meal, fresh = stood.meal, _fresh(stood, request)
        for event in fresh:
            meal = as_known(meal, stood.plan, event)
        return validate_plan(meal, plan, Past(stood.plan, Cooked.model_validate(plan).waste, fresh[-1]) if fresh else None)

    def needs_approval(self, saga: Saga) -> bool:
        """Tell whether something starts at another time, or is thrown away."""
        before, after = accepted(saga), Cooked.model_validate(saga.plan.content)
        is_moved = {row.begins for row in before.plan} != {row.begins for row in after.plan}
        return is_moved or before.waste != after.waste

    def title(self, plan: Json) -> str:
        return Cooked.model_validate(plan).title

    def workflow(self, plan: Json) -> tuple[OperationSpec, ...]:
        cooked = Cooked.model_validate(plan)
        dinner = Dinner(recipes=tuple(cooked.meal.recipes))
        starts = [
            self._cook.spec(name, piece_of(cooked.meal, row), depends_on=[cooked.names[each] for each in before] or [_KITCHEN])
            for row, name, before in zip(cooked.plan, cooked.names, _before(cooked), strict=True)
        ]
        serve = self._serve.spec(cooked.dinner, dinner, depends_on=cooked.names)
        return (self._open.spec(_KITCHEN, dinner), *starts, structs.replace(serve, open_end=not cooked.request.get("served")))

    def revision(self, saga: Saga) -> Revision:
        """Return the changes. What starts as it did stays, and may stop at another time; everything else is started again, or
        thrown away.
        """
        cooked, kept = Cooked.model_validate(saga.plan.content), {row.begins: row.duration for row in accepted(saga).plan}
        standing = {each.id: each.spec for each in saga.in_order() if not each.removed}
        fresh = [spec for spec in self.workflow(saga.plan.content) if spec.id not in standing]
        for row, name in zip(cooked.plan, cooked.names, strict=True):
            if name in standing and row.duration != kept[row.begins]:
                piece = piece_of(cooked.meal, row, goes_on=True)
                fresh.append(self._cook.spec(f"{name} until {clock(row.end)}.{saga.plan.version + 1}", piece, depends_on=[name]))
        begins = {row.begins for row in cooked.plan}
        pieces = {name: Piece(**spec.inputs) for name, spec in standing.items() if spec.action == COOK}
        gone = [name for name, piece in pieces.items() if piece.row.begins not in begins]
        dinners = [name for name, spec in standing.items() if spec.action == SERVE]
        return Revision(tuple(fresh), (*gone, *dinners), {name: _instead(name, pieces, standing, cooked) for name in gone})


def _instead(gone: str, pieces: Mapping[str, Piece], standing: Mapping[str, OperationSpec], cooked: Cooked) -> str:
    """Return what replaces it. What waited for this waits for it to be made again, unless that is later: then for nobody."""
    again = next((place for place, row in enumerate(cooked.plan) if row.key == pieces[gone].row.key), None)
    waiting = (place for place, name in enumerate(cooked.names) if name in standing and gone in standing[name].depends_on)
    return _KITCHEN if again is None or again >= min(waiting, default=again + 1) else cooked.names[again]


def accepted(saga: Saga) -> Cooked:
    """Return the plan that is being carried out."""
    return Cooked.model_validate(saga.plan.accepted and saga.plan.accepted.content)


def reported(saga: Saga, event: object) -> dict[str, Any]:
    """Return the request of a meal that is being cooked, with what has just happened. Raises `InvalidInputError`,
    `NotAllowedError`.
    """
    _check_cooking(saga)
    before = saga.request.get("events", ())
    new, latest = parse_events(accepted(saga).meal, [event])[0], max((each["at"] for each in before), default=0)
    if new.at < latest:
        raise InvalidInputError(f"it is {clock(latest)} already: nothing becomes known at {clock(new.at)} any more", field="at")
    return {**saga.request, "events": [*before, event]}


def served(saga: Saga) -> dict[str, Any]:
    """Return the request of a meal that is being cooked, once dinner is on the table. Raises `NotAllowedError`."""
    _check_cooking(saga)
    return {**saga.request, "served": True}


def _check_cooking(saga: Saga) -> None:
    if saga.stage is not Stage.RUNNING:
        told = "its plan waits for approval" if saga.stage is Stage.AWAITING_APPROVAL else f"it is {saga.stage.value}"
        raise NotAllowedError(f"nothing is being cooked in saga {saga.id!r}: {told}", saga_id=saga.id)


def _first(request: Json) -> Cooked | Conflict:
    from sagagraph.domains.recipes.planning.planner import plan_or_explain

    found = plan_or_explain(Situation(parse_meal(request)), Budget.of(_SECONDS))
    if isinstance(found, Conflict):
        return found
    cooked = _planned(request, found.plan)
    return _mended(cooked, parse_events(cooked.meal, cooked.request.get("events", ())))


def _with_more_cooks(request: Json) -> tuple[Relaxation, ...]:
    """Return the fewest more cooks with whom there is a plan, if one or two are enough; nobody joins once something happened."""
    from sagagraph.domains.recipes.planning.planner import plan_meal

    if document_of(request).get("events"):
        return ()
    meal = parse_meal(request)
    for cooks in range(meal.cooks + 1, min(meal.cooks + 2, MOST_COOKS) + 1):
        if plan_meal(Situation(replace(meal, cooks=cooks)), Budget.of(_SECONDS_FOR_MORE)).plan:
            return (Relaxation(f"{meal.cooks}", f"with {cooks} cooks there is a plan", f"{cooks} cooks", {"cooks": cooks}),)
    return ()


def _mended(cooked: Cooked, events: tuple[Event, ...]) -> Cooked | Conflict:
    from sagagraph.domains.recipes.planning.repair import repair

    return repair(cooked, events, Budget.of(_SECONDS))


def _nearest(request: Json, rows: Plan) -> Cooked | None:
    from sagagraph.domains.recipes.planning.repair import nearest

    found = nearest(Situation(parse_meal(request)), rows, 0, Budget.of(_SECONDS))
    return None if isinstance(found, Conflict) else _planned(request, found.plan)


def _planned(request: Json, plan: Plan) -> Cooked:
    return Cooked(request=document_of(request), plan=plan, planned_s=makespan(plan))


def _proposal(cooked: Cooked, saga: Saga | None = None) -> Proposal:
    """Make the proposal. Operations of the saga's plan are kept if they start as they did; all others have new names."""
    named: dict[Any, str] = {}
    suffix, seen = "", Counter[StepKey]()
    if saga is not None:
        before, suffix = accepted(saga), f".v{saga.plan.version + 1}"
        named = dict(zip((row.begins for row in before.plan), before.names, strict=True))
        known = {**saga.request, **{name: cooked.request[name] for name in ("recipes", "cooks", "warm")}}
        cooked = cooked.model_copy(update={"request": known})
    names: list[str] = []
    for row in cooked.plan:
        seen[row.key] += 1
        part = f".{seen[row.key]}" if seen[row.key] > 1 else ""
        names.append(named.get(row.begins, f"{row.recipe}.{row.step}{part}{suffix}"))
    content = cooked.model_copy(update={"names": tuple(names), "dinner": f"dinner{suffix}"}).model_dump(mode="json")
    return Proposal(content, content_hash(content), cooked.title, Cost(0, "USD"), cooked.told)


def _infeasible(conflict: Conflict, meal: Meal | None = None) -> Infeasible:
    """Return why there is no plan and, of a `meal` that has not begun, what would help."""
    sentences = tuple(wish.sentence for wish in conflict.wishes)
    helps = conflict.wishes if meal is not None and conflict.is_irreducible else ()
    relaxations = tuple(_relaxation(meal, wish) for wish in helps if meal is not None)
    return Infeasible(sentences or ("this cannot be cooked",), sentences, relaxations)


def _relaxation(meal: Meal, wish: Wish) -> Relaxation:
    change = {name: value for name, value in left_out(meal, wish).document().items() if name in ("recipes", "warm")}
    return Relaxation(wish.sentence, f"there is a plan if it need not be that {wish.sentence}", change=change)


def _assignment(instructions: str, meal: Meal, solved: tuple[Proposal, ...], **told: Any) -> Assignment:
    steps = {name: [described(step, first=0) for step in steps] for name, steps in meal.recipes.items()}
    told |= {"recipes": steps, "cooks": meal.cooks, "ready at most so many seconds before the end": dict(meal.warm)}
    return Assignment(instructions, tuple(Fact(name, said, critical=True) for name, said in told.items()), Proposed, solved)


def _fresh(cooked: Cooked, request: Any) -> tuple[Event, ...]:
    """Return what has happened since that plan."""
    known = parse_events(cooked.meal, cooked.request.get("events", ()))
    return tuple(event for event in parse_events(cooked.meal, request.get("events", ())) if event not in known)


def _begun(saga: Saga, cooked: Cooked) -> Plan:
    latest = max(each["at"] for each in saga.request["events"])
    return tuple(row for row in cooked.plan if row.start < latest)


def _before(cooked: Cooked) -> Iterator[list[int]]:
    """Return, for each row, those that it waits for: what it comes after, the last work of a cook, and who had its
    objects last.
    """
    steps = [cooked.meal.steps[row.key] for row in cooked.plan]
    for place, (row, step) in enumerate(zip(cooked.plan, steps, strict=True)):
        others = list(enumerate(steps[:place]))
        needed = {step.key, *((step.recipe, number) for number in step.after)}
        found = {earlier for earlier, other in others if other.key in needed}
        worked = [earlier for earlier, other in others if not other.is_autonomous and cooked.plan[earlier].end <= row.start]
        for last in (worked, *([earlier for earlier, other in others if name in other.uses] for name in step.uses)):
            found.update(last[-1:])
        yield sorted(found)
