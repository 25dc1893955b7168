"""Proposals of a model: schedules and repairs, judged like any other, and finished by the search if they are invalid.

A model is told when a valid schedule is worse than the search's own, so nothing gets worse by asking it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from sagagraph.context.model import Model
from sagagraph.context.slice import Fact, content_hash
from sagagraph.domains.job_shop.planning.dispatching import dispatched
from sagagraph.domains.job_shop.planning.tabu_search import improved
from sagagraph.domains.job_shop.planning.workload import Starts, Workload, makespan_bound
from sagagraph.domains.job_shop.request import Event, JobShop, Moment, Schedule, Slot
from sagagraph.planning.background import in_background
from sagagraph.planning.budget import Budget
from sagagraph.planning.domain import Infeasible, Json, Proposal
from sagagraph.planning.models.limits import Limits
from sagagraph.planning.models.model_planner import Assignment, ModelPlanner
from sagagraph.saga.core.events import Driver, Entry, ModelAsked, SagaBegun
from sagagraph.saga.core.evolve import evolve
from sagagraph.saga.core.state import ModelUse, Saga
from sagagraph.saga.engine.views.view import Cost
from sagagraph.validators.verdict import Verdict, Violation

LARGEST: Final = 6_000
"""Bytes of a shop that a model is asked about; larger ones exceed what a model can keep track of, so the search schedules
them.
"""
_SECONDS: Final = 2.0
"""Seconds for finishing what a model began."""
_INSTRUCTIONS: Final = (
    "Schedule the job shop in the data: say when each step begins, so that the last step ends as early as possible. The steps "
    "of a job are done in their order, and each begins no earlier than the one before it ends. A step is on its machine for its "
    "whole duration, without a break, and a machine has one step at a time. Answer with a list for each job, in their order, "
    "of when its steps begin. Jobs and steps are counted from 1."
)
_REPAIR: Final = (
    " Something has happened. What began before it stands, and is listed: it keeps its start. No other step begins before the "
    "latest event, or while its machine is down. Change as few starts as you can, by as little as you can, and do not let the "
    "last step end later than it must. Of a step that is done more than once, say when it begins last."
)


class Proposed(BaseModel):
    model_config = ConfigDict(extra="forbid")

    reasoning: str = ""
    starts: tuple[tuple[Moment, ...], ...] = Field(max_length=1000)
    """For each job, when its steps begin, in order."""

    @property
    def by_step(self) -> dict[tuple[int, int], int]:
        return {(job, step): at for job, row in enumerate(self.starts, 1) for step, at in enumerate(row, 1)}


@dataclass(frozen=True, slots=True)
class Shop:
    """Shop that a model is to schedule. `weigh` is the quantity to minimise; `solved` is what the search has found for it."""

    facts: Mapping[str, Json]
    workload: Workload
    begun: Schedule
    solved: Starts
    weigh: Callable[[Starts], int]
    judge: Callable[[Json], Verdict]
    is_repair: bool = False

    async def assignment(self, request: Json) -> Assignment | tuple[Proposal, ...] | Infeasible:
        del request  # the shop is that
        solved = (_proposal(self.solved),)
        if not self.workload.tasks or len(json.dumps(dict(self.facts)).encode()) > LARGEST:
            return solved
        facts = tuple(Fact(name, said, critical=True) for name, said in self.facts.items())
        return Assignment(_INSTRUCTIONS + (_REPAIR if self.is_repair else ""), facts, Proposed, solved)

    async def chosen(self, request: Json, answer: BaseModel, assignment: Assignment) -> Proposal | Verdict:
        del request, assignment
        said = Proposed.model_validate(answer).by_step
        verdict = await in_background(self.judge, self._rows(said))
        if not verdict.is_valid:
            return verdict
        starts = [said[task.job, task.step] for task in self.workload.tasks]
        if (worse := self.weigh(starts) - self.weigh(self.solved)) <= 0:
            return _proposal(starts)
        what = "moves more, or ends later, than another repair" if self.is_repair else f"ends {worse} later than another schedule"
        return Verdict.of([Violation(code="NOT_LEAST", message=f"it holds, and {what} that is known")])

    async def finished(self, request: Json, answer: Json) -> tuple[Proposal, ...]:
        """Return the schedule that the search makes of an answer, with steps in the answer's order; none if it is worse than the
        known one.

        An invalid repair is not finished: the search's own repair moves less of what was promised.
        """
        del request
        if self.is_repair:
            return ()
        said = Proposed.model_validate(answer).by_step
        tasks = zip(self.workload.tasks, self.workload.heads, strict=True)
        rule = [said.get((task.job, task.step), head) for task, head in tasks]
        found = await in_background(self._improved, rule)
        return (_proposal(found),) if self.weigh(found) <= self.weigh(self.solved) else ()

    def _improved(self, rule: Starts) -> Starts:
        return improved(self.workload, dispatched(self.workload, rule), Budget.of(_SECONDS), makespan_bound(self.workload))

    def _rows(self, said: Mapping[tuple[int, int], int]) -> list[dict[str, int]]:
        """Return the rows that the validator judges. Steps that do not exist are left for the validator to report."""
        begun, tasks = _latest(self.begun), self.workload.tasks
        takes = {key: (slot.machine, slot.end - slot.start) for key, slot in begun.items()}
        takes |= {(task.job, task.step): (task.machine, task.duration) for task in tasks}
        latest = {*begun.values()} - {begun.get((task.job, task.step)) for task in tasks}
        earlier = [slot.model_dump() for slot in self.begun.values() if slot not in latest]
        machines = ((key, at, *takes.get(key, (0, 0))) for key, at in said.items())
        return earlier + [
            {"job": job, "step": step, "machine": machine, "start": at, "end": at + duration}
            for (job, step), at, machine, duration in machines
        ]


def facts_of(problem: JobShop) -> dict[str, Json]:
    """Return the shop as a model is shown it: for each job its steps, in order."""
    return {"jobs": [[{"machine": step.machine, "duration": step.duration} for step in steps] for steps in problem.jobs]}


def _latest(schedule: Schedule) -> dict[tuple[int, int], Slot]:
    """Return the latest attempt at each step."""
    return {(job, step): slot for (job, step, _attempt), slot in sorted(schedule.items(), key=lambda each: each[0])}


def facts_of_repair(problem: JobShop, promised: Schedule, events: tuple[Event, ...], begun: Schedule) -> dict[str, Json]:
    latest = _latest(promised)
    return {
        **facts_of(problem),
        "what has happened": [each.model_dump(mode="json") for each in events],
        "starts until now": [
            [latest[job, n].start for n in range(1, len(row) + 1) if (job, n) in latest]
            for job, row in enumerate(problem.jobs, 1)
        ],
        "stands": [{"job": slot.job, "step": slot.step, "start": slot.start, "end": slot.end} for slot in begun.values()],
    }


@dataclass(frozen=True, slots=True)
class Asked:
    """Result of asking a model: `starts`, who proposed them, why, and what it cost."""

    starts: Starts
    proposed_by: str
    reasons: tuple[str, ...]
    models: tuple[ModelUse, ...]


async def ask(shop: Shop, model: Model, limits: Limits) -> Asked:
    """Ask a model for a schedule, in at most three rounds. There is no saga, so the cost is counted only here."""
    saga = evolve.begin("jobshop", Entry(1, 1, 0.0, SagaBegun(Driver.WORKFLOW, "jobshop", None)))

    async def record(asked: ModelAsked) -> Saga:
        nonlocal saga
        saga = evolve.evolve(saga, Entry(saga.version + 1, 1, 0.0, asked))
        return saga

    found = await ModelPlanner(model, shop, limits=limits).propose(saga, record)
    best = _proposal(shop.solved) if isinstance(found, Infeasible) else found[0]
    why = (best.reasoning,) if best.reasoning else ()
    return Asked(tuple(best.plan), best.proposed_by, (*why, *best.reasons), tuple(saga.models))  # type: ignore[arg-type]  # starts


def _proposal(starts: Starts) -> Proposal:
    plan = list(starts)
    return Proposal(plan=plan, plan_hash=content_hash(plan), title="a schedule", cost=Cost())
