"""Production: a schedule as the planning graph knows it. Every dispatched step is an operation.

A production is an open saga until it is delivered (ADR-0037): events change its request, and its schedule is repaired.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from msgspec import structs
from pydantic import BaseModel, ConfigDict, ValidationError

from sagagraph.context.slice import content_hash
from sagagraph.domains.job_shop.actions import DELIVER, DISPATCH, Dispatch, Floor, Order, floor_actions
from sagagraph.domains.job_shop.monitor import delays
from sagagraph.domains.job_shop.parsing import parse_events
from sagagraph.domains.job_shop.planning.progress import Progress, Stuck
from sagagraph.domains.job_shop.request import Event, JobShop, Schedule, Slot, Step, by_attempt, grown, makespan
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.errors import InvalidInputError, NotAllowedError
from sagagraph.planning.background import in_background
from sagagraph.planning.budget import Budget
from sagagraph.planning.domain import Domain, Infeasible, Json, Proposal, Revision, object_of
from sagagraph.planning.monitor import Foreseen
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.view import Cost
from sagagraph.validators.complaints import in_words
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec

_FLOOR: Final = "floor"
"""The operation that all others come after."""
SECONDS: Final = 30.0


class Request(BaseModel):
    """Request for a production: an instance, and what has become known since it began."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    jobs: tuple[tuple[tuple[int, int], ...], ...]
    """For each step of each job, its machine and its duration."""
    machines: tuple[int, int]
    """The first machine, and the one after the last."""
    seconds: float = SECONDS
    """How long to search for a schedule, or a repair."""
    schedule: tuple[Slot, ...] = ()
    """The schedule to carry out; without it, one is searched for."""
    events: tuple[dict[str, Any], ...] = ()
    delivered: bool = False

    @cached_property
    def problem(self) -> JobShop:
        return JobShop(tuple(tuple(Step(*step) for step in steps) for steps in self.jobs), range(*self.machines))

    @property
    def happened(self) -> tuple[Event, ...]:
        return parse_events(self.problem, list(self.events))


def request_for(problem: JobShop, seconds: float, schedule: Iterable[Slot] = ()) -> dict[str, Any]:
    jobs = tuple(tuple((step.machine, step.duration) for step in steps) for steps in problem.jobs)
    machines = problem.machines.start, problem.machines.stop
    return Request(jobs=jobs, machines=machines, seconds=seconds, schedule=tuple(schedule)).model_dump(mode="json")


class Produced(BaseModel):
    """Production as planned: what journals hold."""

    model_config = ConfigDict(frozen=True)

    request: Request
    schedule: tuple[Slot, ...]
    names: tuple[str, ...] = ()
    """Names of the operations that dispatch the steps."""
    delivery: str = "delivery"
    """The operation that ends the production."""
    told: tuple[str, ...] = ()

    @property
    def slots(self) -> Schedule:
        return by_attempt(self.schedule)

    @property
    def title(self) -> str:
        jobs = len(self.request.jobs)
        return f"{jobs} job{'s' * (jobs != 1)}; {len(self.schedule)} steps; done at {makespan(self.slots)}"


class Production(Domain):
    name = "jobshop"

    def __init__(self, floor: Floor) -> None:
        self._open, self._dispatch, self._deliver = floor_actions(floor)

    @property
    def actions(self) -> tuple[Action, ...]:
        return (self._open, self._dispatch, self._deliver)

    async def propose(self, request: Json) -> tuple[Proposal, ...] | Infeasible:
        asked = checked(request)
        if asked.delivered or asked.events:
            return Infeasible(("nothing can have happened to a production that has not begun",))
        return (_proposal(await in_background(_first, asked)),)

    async def repair(self, saga: Saga) -> Proposal | Infeasible:
        """Repair the schedule for what has happened since; delivering leaves it as it is."""
        before, asked = accepted(saga), checked(saga.request)
        if asked.problem != before.request.problem:
            return Infeasible(("what is produced stays as it is: cancel it, and begin again",))
        found = await in_background(_mended, before, asked)
        return found if isinstance(found, Infeasible) else _proposal(found, saga)

    async def foreseen(self, saga: Saga, news: Json) -> Foreseen:
        """Say which steps an event would end late, and what to repair if it came so."""
        asked = checked(request := reported(saga, news))
        progress = Progress(grown(asked.problem, asked.happened), asked.happened)
        return Foreseen(delays(accepted(saga).slots, progress), request)

    async def evidence(self, saga: Saga) -> Json:
        """Return the old schedule: what began in it before the latest event must not be rewritten."""
        return {"against": saga.plan.accepted.content} if saga.plan.accepted else {}

    async def validate(self, request: Json, plan: Json, shown: Json) -> Verdict:
        asked, rows = checked(request), list(_rows(Produced.model_validate(plan)))
        against = object_of(shown).get("against")
        if against is None or not asked.events:
            return validate_schedule(asked.problem, rows, asked.happened)
        before = Produced.model_validate(against)
        until = asked.happened[-1].at if len(asked.events) > len(before.request.events) else None
        return validate_schedule(asked.problem, rows, asked.happened, against=list(_rows(before)), executed_until=until)

    def needs_approval(self, saga: Saga) -> bool:
        """Tell whether a step that was dispatched begins at another time."""
        before, after = accepted(saga), Produced.model_validate(saga.plan.content)
        return {_begins(slot) for slot in before.schedule} != {_begins(slot) for slot in after.schedule}

    def title(self, plan: Json) -> str:
        return Produced.model_validate(plan).title

    def workflow(self, plan: Json) -> tuple[OperationSpec, ...]:
        produced = Produced.model_validate(plan)
        order = Order(jobs=len(produced.request.jobs))
        starts = [
            self._dispatch.spec(name, Dispatch(**slot.model_dump()), depends_on=before or [_FLOOR])
            for slot, name, before in zip(produced.schedule, produced.names, _before(produced), strict=True)
        ]
        deliver = self._deliver.spec(produced.delivery, order, depends_on=produced.names)
        return (self._open.spec(_FLOOR, order), *starts, structs.replace(deliver, open_end=not produced.request.delivered))

    def revision(self, saga: Saga) -> Revision:
        """Return the changes. What starts as it did stays, and may end at another time; everything else is dispatched again."""
        produced, kept = Produced.model_validate(saga.plan.content), {_begins(slot): slot.end for slot in accepted(saga).schedule}
        standing = {each.id: each.spec for each in saga.in_order() if not each.removed}
        fresh = [spec for spec in self.workflow(saga.plan.content) if spec.id not in standing]
        for slot, name in zip(produced.schedule, produced.names, strict=True):
            if name in standing and slot.end != kept[_begins(slot)]:
                longer = Dispatch(**slot.model_dump(), goes_on=True)
                fresh.append(self._dispatch.spec(f"{name} until {slot.end}.{saga.plan.version + 1}", longer, depends_on=[name]))
        begins = {_begins(slot) for slot in produced.schedule}
        dispatched = {name: Dispatch(**spec.inputs) for name, spec in standing.items() if spec.action == DISPATCH}
        gone = [name for name, each in dispatched.items() if (each.job, each.step, each.start) not in begins]
        ends = [name for name, spec in standing.items() if spec.action == DELIVER]
        return Revision(tuple(fresh), (*gone, *ends), dict.fromkeys(gone, _FLOOR))


def checked(request: object) -> Request:
    """Return the request. Raises `InvalidInputError` that names the field."""
    try:
        asked = Request.model_validate(request)
    except ValidationError as exc:
        field, message = in_words(exc)[0]
        raise InvalidInputError(message, field=field) from exc
    parse_events(asked.problem, list(asked.events))
    return asked


def accepted(saga: Saga) -> Produced:
    """Return the schedule that is being carried out."""
    return Produced.model_validate(saga.plan.accepted and saga.plan.accepted.content)


def reported(saga: Saga, event: object, seconds: float | None = None) -> dict[str, Any]:
    """Return the request of a production under way, with what has just happened. `seconds`: how long to search for repairs from
    now on; None: as long as before. Raises `InvalidInputError`, `NotAllowedError`.
    """
    _check_under_way(saga)
    asked = checked(saga.request)
    happened = asked.happened
    new, latest = parse_events(grown(asked.problem, happened), event)[0], max((each.at for each in happened), default=0)
    if new.at < latest:
        raise InvalidInputError(f"it is {latest} already: nothing becomes known at {new.at} any more", field="at")
    return {**saga.request, "seconds": seconds or asked.seconds, "events": [*saga.request.get("events", ()), event]}


def delivered(saga: Saga) -> dict[str, Any]:
    """Return the request of a production under way, once it is delivered. Raises `NotAllowedError`."""
    _check_under_way(saga)
    return {**saga.request, "delivered": True}


def _check_under_way(saga: Saga) -> None:
    if saga.stage is not Stage.RUNNING:
        told = "its schedule waits for approval" if saga.stage is Stage.AWAITING_APPROVAL else f"it is {saga.stage.value}"
        raise NotAllowedError(f"nothing is produced in saga {saga.id!r}: {told}", saga_id=saga.id)


def _first(asked: Request) -> Produced:
    from sagagraph.domains.job_shop.planning.planner import makespan_in_words, plan
    from sagagraph.domains.job_shop.planning.workload import schedule_of, workload_of

    if asked.schedule:
        given = _in_time(by_attempt(asked.schedule))
        return Produced(request=asked, schedule=given, told=("as it was given",))
    workload = workload_of(asked.problem)
    found = plan(workload, Budget.of(asked.seconds))
    told = (makespan_in_words(found.makespan, found.lower_bound),)
    return Produced(request=asked, schedule=_in_time(schedule_of(workload, found.starts)), told=told)


def _mended(before: Produced, asked: Request) -> Produced | Infeasible:
    from sagagraph.domains.job_shop.planning.repair import repair

    known = len(before.request.events)
    if len(asked.events) == known:
        return before.model_copy(update={"request": asked})
    found = repair(asked.problem, before.slots, asked.happened, Budget.of(asked.seconds), known)
    if isinstance(found, Stuck):
        sentences = tuple(found.sentences.values())
        return Infeasible(sentences, sentences)
    radius = found.edit_radius
    told = (
        f"done at {found.makespan}; by waiting, at {makespan(found.waiting)}",
        f"{radius.places} steps change their places on their machines; {radius.operations} begin at another time",
    )
    return Produced(request=asked, schedule=_in_time(found.schedule), told=told)


def _in_time(schedule: Schedule) -> tuple[Slot, ...]:
    return tuple(sorted(schedule.values(), key=lambda slot: (slot.start, slot.end, slot.step, slot.job)))


def _rows(produced: Produced) -> Sequence[Mapping[str, int]]:
    return [slot.model_dump() for slot in produced.schedule]


def _begins(slot: Slot) -> tuple[int, int, int]:
    return slot.job, slot.step, slot.start


def _before(produced: Produced) -> list[list[str]]:
    """Return, for each step, the operations that it waits for: the previous one of its job, and of its machine."""
    of_job: dict[int, str] = {}
    on_machine: dict[int, str] = {}
    found: list[list[str]] = []
    for slot, name in zip(produced.schedule, produced.names, strict=True):
        last = (of_job.get(slot.job), on_machine.get(slot.machine))
        found.append(sorted({each for each in last if each is not None}))
        of_job[slot.job] = on_machine[slot.machine] = name
    return found


def _proposal(produced: Produced, saga: Saga | None = None) -> Proposal:
    """Make the proposal. Operations of the saga's plan are kept if they start as they did; all others have new names."""
    named: dict[tuple[int, int, int], str] = {}
    suffix = ""
    if saga is not None:
        before, suffix = accepted(saga), f".v{saga.plan.version + 1}"
        named = dict(zip(map(_begins, before.schedule), before.names, strict=True))
    names = [named.get(_begins(slot), f"job {slot.job} step {slot.step}{suffix}") for slot in produced.schedule]
    content = produced.model_copy(update={"names": tuple(names), "delivery": f"delivery{suffix}"}).model_dump(mode="json")
    return Proposal(content, content_hash(content), produced.title, Cost(0, "USD"), produced.told)
