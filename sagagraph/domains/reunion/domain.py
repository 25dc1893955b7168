"""Reunion as a domain: plans of a day, their judgement, what people are told about them, and what an event changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from pydantic import BaseModel

from sagagraph.domains.reunion.actions.actions import reunion_actions
from sagagraph.domains.reunion.actions.delivery import INVITE, Delivery
from sagagraph.domains.reunion.actions.outbox import Outbox
from sagagraph.domains.reunion.actions.workflow import day_workflow, revised_workflow
from sagagraph.domains.reunion.day import DayPlan, ReunionRequest, as_json, hash_of, parse_request
from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.parsing import parse_events, parse_moment_of
from sagagraph.domains.reunion.parts import in_words, parts_of, sent_in_words
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planning.agents import ROLES, ReunionTeam
from sagagraph.domains.reunion.planning.measure import reasons
from sagagraph.domains.reunion.planning.monitor import delays
from sagagraph.domains.reunion.planning.solver import Solver
from sagagraph.domains.reunion.proposals import Proposed, assignment_of
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.robustness import slack_told
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError, NotAllowedError
from sagagraph.planning.background import in_background
from sagagraph.planning.domain import Infeasible, Json, Proposal, Revision, object_of
from sagagraph.planning.models.model_planner import Assignment
from sagagraph.planning.monitor import Foreseen
from sagagraph.planning.sketch import current_sketch
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.view import Account, Cost
from sagagraph.validators.concern import Remembered
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec

NAME = "reunion"
Events = tuple[Event, ...]
"""In the order of `at`."""
Plans = tuple[ReunionPlan, ...]


Judge = Callable[..., Verdict]
"""See `validate_plan`."""


class Reunion:
    name = NAME
    roles = ROLES

    def __init__(self, planner: Solver, outbox: Outbox, judge: Judge | None = None, delivery: Delivery | None = None) -> None:
        self.outbox = outbox
        self._delivery = delivery or Delivery()
        self._planner = planner
        self._judge = judge or partial(validate_plan, remembered=Remembered())
        self._actions = {each.name: each for each in (*reunion_actions(outbox), *self._delivery.actions)}

    @property
    def actions(self) -> tuple[Action, ...]:
        return tuple(self._actions.values())

    @property
    def sends_mail(self) -> bool:
        return INVITE in self._actions

    async def propose(self, request: Json) -> tuple[Proposal, ...] | Infeasible:
        wanted = parse_request(request)
        if wanted.events:  # nobody has been told anything, so only the clock binds
            repaired = await self._repaired(wanted, ReunionPlan(problem=wanted.problem.name, actions=()))
            return repaired if isinstance(repaired, Infeasible) else (repaired,)

        def drawn(plans: Plans | Infeasible) -> Json:
            return None if isinstance(plans, Infeasible) else as_json(self._day(plans[0], wanted))

        planned = await current_sketch().seek(partial(self._planner.plan, wanted.problem), drawn)
        if isinstance(planned, Infeasible):
            return planned
        preferred, *others = planned
        return await self._told(wanted, preferred), *[await self._told(wanted, each, preferred) for each in others]

    async def team(self, request: Json) -> ReunionTeam | Infeasible:
        solved = await self.propose(request)
        if isinstance(solved, Infeasible):
            return solved
        wanted = parse_request(request)
        plans = tuple(DayPlan.model_validate(each.plan).plan for each in solved)
        return ReunionTeam(wanted.problem, plans, solved, self._planner.finish, partial(self._told, wanted))

    # -- what a model plans: judged before it counts, and finished by the solver where it does not hold --------------------

    async def assignment(self, request: Json) -> Assignment | tuple[Proposal, ...] | Infeasible:
        solved = await self.propose(request)
        return solved if isinstance(solved, Infeasible) else assignment_of(parse_request(request), solved)

    async def chosen(self, request: Json, answer: BaseModel, assignment: Assignment) -> Proposal | Verdict:
        del assignment
        wanted = parse_request(request)
        plan = Proposed.model_validate(answer).plan_of(wanted.problem.name)
        verdict = await in_background(self._judge, wanted.problem, as_json(plan))
        return await self._told(wanted, plan) if verdict.is_valid else verdict

    async def mending(self, saga: Saga) -> Assignment | tuple[Proposal, ...] | Infeasible:
        wanted, solved = parse_request(saga.request), await self.repair(saga)
        if isinstance(solved, Infeasible) or _stands(saga, wanted):
            return solved if isinstance(solved, Infeasible) else (solved,)
        return assignment_of(wanted, (solved,), accepted_plan(saga).plan)

    async def mended(self, saga: Saga, answer: BaseModel) -> Proposal | Verdict:
        wanted = parse_request(saga.request)
        content = as_json(self._day(Proposed.model_validate(answer).plan_of(wanted.problem.name), wanted))
        verdict = await self.validate(saga.request, content, await self.evidence(saga))
        return self._proposal(DayPlan.model_validate(content).plan, wanted) if verdict.is_valid else verdict

    async def finished(self, request: Json, answer: Json) -> tuple[Proposal, ...]:
        """Return the plan that keeps as much as possible of an invalid answer; none if there is none in time.

        Once something has happened, the solver's own repair keeps more of what people were told.
        """
        wanted = parse_request(request)
        if wanted.events:
            return ()
        began = Proposed.model_validate(answer).plan_of(wanted.problem.name)
        found = await in_background(self._planner.finish, wanted.problem, began)
        return () if found is None else (await self._told(wanted, found),)

    async def _told(self, wanted: ReunionRequest, plan: ReunionPlan, preferred: ReunionPlan | None = None) -> Proposal:
        slack = await in_background(slack_told, wanted.problem, plan)
        return self._proposal(plan, wanted, (*reasons(wanted.problem, plan, preferred), *slack))

    async def repair(self, saga: Saga) -> Proposal | Infeasible:
        """Repair for what has become known; an event that requires nothing, and the end of the day, leave the plan as it is."""
        wanted, accepted = parse_request(saga.request), accepted_plan(saga)
        if _stands(saga, wanted):
            return self._proposal(accepted.plan, wanted)
        return await self._repaired(wanted, accepted.plan)

    async def _repaired(self, wanted: ReunionRequest, plan: ReunionPlan) -> Proposal | Infeasible:
        repaired = await in_background(self._planner.repair, wanted.problem, plan, wanted.known)
        return repaired if isinstance(repaired, Infeasible) else self._proposal(repaired, wanted)

    def _proposal(self, plan: ReunionPlan, wanted: ReunionRequest, why: tuple[str, ...] = ()) -> Proposal:
        day = self._day(plan, wanted)
        content = as_json(day)
        told = (*why, *sent_in_words(day))
        return Proposal(plan=content, plan_hash=hash_of(day), title=reunion_title(content), cost=Cost(), reasons=told)

    def _day(self, plan: ReunionPlan, wanted: ReunionRequest) -> DayPlan:
        return DayPlan.of(plan, wanted, self._delivery.sent(wanted.problem))

    async def with_events(self, saga: Saga, told: Iterable[Json], wished: ReunionProblem | None = None) -> dict[str, Any]:
        """Return the request with what has become known; nothing becomes known before the time on the day's clock."""
        before = parse_request(saga.request)
        problem = wished or before.problem
        known = [as_json(each) for each in before.events]
        now = await self.clock(saga)
        fresh = [each for each in parse_events(problem, known, *told) if each not in before.events]
        for each in fresh:
            if now is not None and each.at < now:
                why = f"the day is at {text_of(now)}: nothing becomes known at {text_of(each.at)} any more"
                raise InvalidInputError(why, field="EVENT.json")
        listed = [*known, *map(as_json, fresh)]
        transcript = before.told if problem == before.problem else None
        changed = {"problem": as_json(problem), "events": listed, "told": transcript}
        request: dict[str, Any] = as_json(parse_request({**saga.request, **changed}))
        return request

    async def clock(self, saga: Saga) -> int | None:
        """Return the time on that day; None before anything has happened."""
        times = (await self.outbox.clock(saga.id), parse_request(saga.request).known_until)
        return max((each for each in times if each is not None), default=None)

    async def foreseen(self, saga: Saga, news: Json) -> Foreseen:
        """Say what an event would delay, and what to repair if it came so."""
        if saga.stage is not Stage.RUNNING:
            raise NotAllowedError(f"saga {saga.id!r} is {saga.stage.value}: no day is under way in it", saga_id=saga.id)
        before, request = parse_request(saga.request), await self.with_events(saga, [news])
        wanted = parse_request(request)
        fresh = [each for each in wanted.events if each not in before.events]
        if len(fresh) != 1:
            raise InvalidInputError("foresee one event at a time that is not known yet", field="FORESEEN")
        return Foreseen(delays(wanted.problem, accepted_plan(saga).plan, wanted.known, fresh[0]), request)

    async def evidence(self, saga: Saga) -> Json:
        """Return the old plan, and until when it was carried out: what began before then must not be rewritten."""
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
            wanted.known,
            against=known.get("against"),
            executed_until=None if until is None else parse_moment_of(wanted.problem, until, "executed_until"),
        )

    def needs_approval(self, saga: Saga) -> bool:
        """Tell whether somebody must be told something different, or somewhere else."""
        before, now = accepted_plan(saga), DayPlan.model_validate(saga.plan.content)
        return before.sent != now.sent or set(parts_of(before)) != set(parts_of(now))

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
    return "; ".join(in_words(act, day.places) for act in day.plan.in_time)


def _stands(saga: Saga, wanted: ReunionRequest) -> bool:
    """Tell whether the plan of the day is not what is wrong: nothing new is known, except that the day is over.

    What became known and is not planned for yet is never forgotten by ending the day.
    """
    if saga.plan.accepted is None:
        return wanted.is_over
    before = parse_request(saga.plan.accepted.request)
    is_known = before.wishes_for_the_same_as(wanted.model_copy(update={"is_over": before.is_over}))
    return is_known or (wanted.is_over and not wanted.events)
