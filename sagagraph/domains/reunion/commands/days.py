"""`sagagraph reunion begin`, `event`, `day`, `messages`: a day carried out as a saga."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sagagraph.cli import render
from sagagraph.cli.approval import approved_or_not
from sagagraph.cli.beginning import new_id, started
from sagagraph.cli.operating.settling import resume
from sagagraph.cli.options import PERSON, Options
from sagagraph.cli.session import acting, checked_id, domain_of, exit_code, show
from sagagraph.cli.telling import tell
from sagagraph.cli.terminal import interruptible
from sagagraph.domains.reunion.commands.problems import Source, tell_beside, tell_suggestions, told
from sagagraph.domains.reunion.day import DayPlan, ReunionRequest, parse_request
from sagagraph.domains.reunion.day import as_json as model_json
from sagagraph.domains.reunion.domain import NAME, accepted_plan
from sagagraph.domains.reunion.parsing import parse_events, parse_moment_of, parse_problem
from sagagraph.domains.reunion.rules.facts.case import Case
from sagagraph.domains.reunion.rules.facts.simulation import Whereabouts, in_words, whereabouts
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError, NotAllowedError, UnknownSagaError
from sagagraph.files import json_file
from sagagraph.registry import model_of, open_engine, require_entry, surroundings
from sagagraph.saga.core.events import SagaBegun
from sagagraph.saga.core.state import FINAL

if TYPE_CHECKING:
    from sagagraph.saga.engine.engine import Engine
    from sagagraph.saga.engine.views.view import SagaView


async def begin(options: Options, source: Source, saga_id: str | None, on: date | None, *, approved: bool) -> int:
    name = new_id(NAME) if saga_id is None else checked_id(saga_id)
    if saga_id is not None and not source.is_named:
        return await resume(options, saga_id, wait=True)
    said = (await told(source, model_of(options.settings))).with_common_sense(source.common_sense)
    if not options.as_json:
        tell_beside(said)
        tell_suggestions(said.problem)
    wanted = ReunionRequest(problem=said.problem, day=on or datetime.now().astimezone().date(), told=said.transcript)
    async with acting(options, NAME, create=True) as opened:
        request = await _as_begun(opened.engine, name, wanted)
        view = await started(options, opened, name, request, approved=approved)
    return show(options, view)


async def event(options: Options, saga_id: str, files: Sequence[Path], problem: Path | None, *, approved: bool) -> int:
    told = [json_file(each, "EVENT.json") for each in files]
    domain = await domain_of(options, saga_id, only=NAME)
    with interruptible(saga_id):
        async with acting(options, domain) as opened:
            saga = await opened.engine.load(saga_id)
            wished = None if problem is None else parse_problem(json_file(problem, "--problem"))
            if saga.stage in FINAL:
                raise NotAllowedError(f"saga {saga.id!r} is {saga.stage.value}: that day is no longer open", saga_id=saga.id)
            wanted = await opened.domain.with_events(saga, told, wished)
            approver = f"{PERSON}, --yes" if approved else None
            view = await opened.graph.change(saga_id, wanted, by=PERSON, approved_by=approver)
            is_heard = (await opened.engine.load(saga_id)).request == wanted
            view = await approved_or_not(options, opened, view)
    code = show(options, view)
    return code if is_heard else max(code, 1)


async def _as_begun(engine: Engine, saga_id: str, wanted: ReunionRequest) -> Any:
    """Reword the request as the saga began, if it asks for the same: then the saga is resumed."""
    with suppress(UnknownSagaError):
        first = (await engine.journal(saga_id))[0].event
        if isinstance(first, SagaBegun) and isinstance(first.request, dict) and first.domain == NAME:
            with suppress(InvalidInputError):
                if parse_request(first.request).wishes_for_the_same_as(wanted):
                    return first.request
    return model_json(wanted)


async def day(options: Options, saga_id: str, at: str | None) -> int:
    domain = await domain_of(options, saga_id, only=NAME)
    with interruptible(saga_id):
        async with acting(options, domain) as opened:
            saga, outbox = await opened.engine.load(saga_id), opened.domain.outbox
            if saga.plan.accepted is None:
                raise NotAllowedError(f"saga {saga.id!r} has no plan that was accepted: approve one first", saga_id=saga.id)
            request, plan = parse_request(saga.request), accepted_plan(saga)
            now = await opened.domain.clock(saga)
            if at is not None:
                to = parse_moment_of(request.problem, at, "--at")
                if now is not None and to < now:
                    raise InvalidInputError(f"the day is at {text_of(now)} already, and never goes back", field="--at")
                await outbox.advance(saga_id, to)
                now = to
            now = now or plan.begins or 0
            view = await opened.engine.status(saga_id)
            goals = (goal for person in request.problem.people for goal in request.problem.goals_of(person))
            is_over = now >= max([plan.ends or 0, *(goal.by for goal in goals)])
            if is_over and view.status.value == "running":
                over = model_json(request.model_copy(update={"is_over": True}))
                view = await opened.graph.change(saga_id, over, by="the clock")
    return _show_day(options, view, now, request, plan)


async def messages(options: Options, saga_id: str) -> int:
    async with open_engine(options.settings) as engine:
        await engine.load(saga_id)
        async with surroundings(options.settings, engine.store) as around, require_entry(NAME).open(around) as domain:
            found = await domain.outbox.messages(saga_id)
    lines = (f"{each.kind}: {each.text}".replace("\n", "\n    ") for each in found)
    return tell({"messages": [asdict(each) for each in found]}, lines, as_json=options.as_json)


def _show_day(options: Options, view: SagaView, now: int, request: ReunionRequest, plan: DayPlan) -> int:
    found = list(whereabouts(Case.of(request.problem, model_json(plan.plan), request.known).simulation, now))
    if options.as_json:
        render.print_json({"at": text_of(now), **_where_json(found), "saga": view})
    else:
        render.stdout.print(f"it is {text_of(now)}", markup=False)
        for each in found:
            render.stdout.print(f"  {in_words(each)}", markup=False)
        render.print_saga(view)
    return exit_code(view)


def where(problem: Path, plan: Path, at: str, events: list[Path], *, as_json: bool) -> int:
    known = parse_problem(json_file(problem, "PROBLEM"))
    moment = parse_moment_of(known, at, "--at")
    happened = parse_events(known, *(json_file(each, "--event") for each in events))
    case = Case.of(known, json_file(plan, "PLAN"), happened)
    if case.plan.fault:
        raise InvalidInputError(case.plan.fault, field="PLAN")
    for each in case.plan.broken:
        render.stderr.print(f"action {each.index} is left out: it cannot be read", markup=False)
    found = list(whereabouts(case.simulation, moment))
    return tell({"at": text_of(moment), **_where_json(found)}, map(in_words, found), as_json=as_json)


def _where_json(found: list[Whereabouts]) -> dict[str, list[dict[str, Any]]]:
    """Return where everybody is. `place` is null while travelling, and if the plan contradicts itself (`places` has the
    candidates).
    """

    def told(each: Whereabouts) -> dict[str, Any]:
        way = each.journey
        return {
            "name": each.name,
            "place": each.places[0] if len(each.places) == 1 else None,
            "places": each.places,
            "between": way and [way.from_, way.to],
            "elapsed": way and each.elapsed,
            "minutes": way and way.end - way.start,
            "vehicle": way and way.vehicle,
            "tasks": each.tasks,
            "available": each.is_available,
        }

    return {
        "people": [told(each) for each in found if not each.is_vehicle],
        "vehicles": [told(each) for each in found if each.is_vehicle],
    }
