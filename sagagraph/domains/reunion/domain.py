"""Reunion as a domain: plans of a day, their judgement, what people are told of them, and what an event changes."""

from __future__ import annotations

from typing import Protocol

from sagagraph.domains.reunion.actions.actions import reunion_actions
from sagagraph.domains.reunion.actions.outbox import Outbox
from sagagraph.domains.reunion.actions.workflow import day_workflow, revised_workflow
from sagagraph.domains.reunion.day import DayPlan, ReunionRequest, as_json, hash_of, parse_request
from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.parsing import parse_moment_of
from sagagraph.domains.reunion.parts import in_words, parts_of
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planning.explanation import reasons
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.robustness import slack_told
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.domains.reunion.times import text_of
from sagagraph.planning.background import in_background
from sagagraph.planning.domain import Infeasible, Json, Proposal, Revision, object_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.view import Account, Cost
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec

NAME = "reunion"
Events = tuple[Event, ...]
"""In the order of `at`."""


class ReunionPlanner(Protocol):
    """A planner that may take its time: it is called in a separate thread."""

    def plan(self, problem: ReunionProblem) -> tuple[ReunionPlan, ...] | Infeasible:
        """Return plans, the preferred one first."""
        ...

    def repair(self, problem: ReunionProblem, plan: ReunionPlan, events: Events) -> ReunionPlan | Infeasible:
        """Repair a plan after all events so far; what `plan` began before the latest became known is history."""
        ...


class Judge(Protocol):
    """See `validate_plan`."""

    def __call__(
        self,
        problem: ReunionProblem,
        plan: object,
        events: Events = (),
        *,
        against: object = None,
        executed_until: int | None = None,
    ) -> Verdict: ...


class Reunion:
    name = NAME

    def __init__(self, planner: ReunionPlanner, outbox: Outbox, judge: Judge = validate_plan) -> None:
        self.outbox = outbox
        self._planner = planner
        self._judge = judge
        self._actions = {each.name: each for each in reunion_actions(outbox)}

    @property
    def actions(self) -> tuple[Action, ...]:
        return tuple(self._actions.values())

    async def propose(self, request: Json) -> tuple[Proposal, ...] | Infeasible:
        wanted = parse_request(request)
        if wanted.events:  # nobody has been told anything, so only the clock binds
            repaired = await self._repaired(wanted, ReunionPlan(problem=wanted.problem.name, actions=()))
            return repaired if isinstance(repaired, Infeasible) else (repaired,)
        planned = await in_background(self._planner.plan, wanted.problem)
        if isinstance(planned, Infeasible):
            return planned
        preferred = planned[0]
        offers = []
        for each in planned:
            why = reasons(wanted.problem, each, None if each is preferred else preferred)
            slack = await in_background(slack_told, wanted.problem, each)
            offers.append(_proposal(each, wanted, (*why, *slack)))
        return tuple(offers)

    async def repair(self, saga: Saga) -> Proposal | Infeasible:
        """Repair for what has become known; an event that requires nothing, and the end of the day, leave the plan as it is."""
        wanted, accepted = parse_request(saga.request), accepted_plan(saga)
        if wanted.is_over or _said_before(saga, wanted):
            return _proposal(accepted.plan, wanted)
        return await self._repaired(wanted, accepted.plan)

    async def _repaired(self, wanted: ReunionRequest, plan: ReunionPlan) -> Proposal | Infeasible:
        events = tuple(sorted(wanted.events, key=lambda event: event.at))
        repaired = await in_background(self._planner.repair, wanted.problem, plan, events)
        return repaired if isinstance(repaired, Infeasible) else _proposal(repaired, wanted)

    async def evidence(self, saga: Saga) -> Json:
        """Return the plan that stood, and until when it was carried out: what began before then must not be rewritten."""
        until = parse_request(saga.request).known_until
        if saga.plan.accepted is None or until is None:
            return {}
        return {"against": as_json(accepted_plan(saga).plan), "executed_until": text_of(until)}

    async def validate(self, request: Json, plan: Json, shown: Json) -> Verdict:
        """Validate by concerns, each with slices of its own (rules/validator.py)."""
        wanted, known = parse_request(request), object_of(shown)
        until = known.get("executed_until")
        return self._judge(
            wanted.problem,
            object_of(plan)["plan"],
            tuple(sorted(wanted.events, key=lambda event: event.at)),
            against=known.get("against"),
            executed_until=None if until is None else parse_moment_of(wanted.problem, until, "executed_until"),
        )

    def needs_approval(self, saga: Saga) -> bool:
        """Tell whether somebody must be told something different."""
        return set(parts_of(accepted_plan(saga))) != set(parts_of(DayPlan.model_validate(saga.plan.content)))

    def title(self, plan: Json) -> str:
        return reunion_title(plan)

    def workflow(self, plan: Json) -> tuple[OperationSpec, ...]:
        return day_workflow(DayPlan.model_validate(plan), self._actions)

    def revision(self, saga: Saga) -> Revision:
        return revised_workflow(saga, DayPlan.model_validate(saga.plan.content), self._actions)

    def account(self, _saga: Saga) -> Account:
        """Return an empty account: nobody is paid, and what was said can be taken back."""
        return Account()


def accepted_plan(saga: Saga) -> DayPlan:
    return DayPlan.model_validate(saga.plan.accepted and saga.plan.accepted.content)


def reunion_title(plan: Json) -> str:
    day = DayPlan.model_validate(plan)
    acts = sorted(day.plan.actions, key=lambda act: (act.start, act.end))
    return "; ".join(f"{text_of(act.start)} to {text_of(act.end)} {in_words(act, day.places)}" for act in acts)


def _said_before(saga: Saga, wanted: ReunionRequest) -> bool:
    """Tell whether something failed and nothing new is known: then the plan of the day is not what is wrong."""
    return saga.plan.accepted is not None and parse_request(saga.plan.accepted.request).wishes_for_the_same_as(wanted)


def _proposal(plan: ReunionPlan, wanted: ReunionRequest, why: tuple[str, ...] = ()) -> Proposal:
    day = DayPlan.of(plan, wanted)
    content = as_json(day)
    return Proposal(plan=content, plan_hash=hash_of(day), title=reunion_title(content), cost=Cost(), reasons=why)
