"""`sagagraph reunion begin, event, day, …`: a reunion carried out as a saga, and what leads up to it."""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sagagraph.bootstrap import model_of, open_engine, open_outbox
from sagagraph.cli import output, sagas
from sagagraph.cli import reunion as places
from sagagraph.cli.approval import approved_or_not
from sagagraph.cli.door import EXIT, PERSON, Door, acting, asked, checked_id, domain_of, interruptible
from sagagraph.cli.files import json_file
from sagagraph.cli.reunion import Json, reunion
from sagagraph.context.model import Model
from sagagraph.domains.reunion.checks.case import Case
from sagagraph.domains.reunion.circumstances import Circumstances
from sagagraph.domains.reunion.suggestions import accept, suggestions
from sagagraph.domains.reunion.day import DayPlan, ReunionRequest, parse_request
from sagagraph.domains.reunion.day import as_json as _json
from sagagraph.domains.reunion.domain import NAME, accepted_plan
from sagagraph.domains.reunion.outbox import Message, Outbox
from sagagraph.domains.reunion.parsing import parse_events, parse_moment_of, parse_plan, parse_problem
from sagagraph.domains.reunion.problem import ReunionProblem
from sagagraph.domains.reunion.text.revision import meaning_of, with_said
from sagagraph.domains.reunion.text.rewording import reworded
from sagagraph.domains.reunion.realm import read_realm
from sagagraph.domains.reunion.shipped import SHIPPED, shipped
from sagagraph.domains.reunion.transcript import Transcript
from sagagraph.domains.reunion.times import text_of
from sagagraph.domains.reunion.whereabouts import in_words, whereabouts
from sagagraph.errors import InvalidInputError, NotAllowedError, UnknownSagaError
from sagagraph.saga.events import SagaBegun
from sagagraph.saga.model import FINAL

if TYPE_CHECKING:
    from sagagraph.saga.engine import Engine
    from sagagraph.saga.model import Saga
    from sagagraph.saga.view import SagaView

__all__ = ["reunion"]

ALL, NONE = "all", "none"

SagaId = Annotated[str, typer.Argument(metavar="SAGA")]
Store = Annotated[str, typer.Option("--store", envvar="SAGAGRAPH_STORE", help="sqlite:///FILE, postgresql://… or memory:")]
Text = Annotated[str | None, typer.Argument(metavar="TEXT", help="The reunion in sentences.")]
Problem = Annotated[Path | None, typer.Option("--problem", metavar="FILE.json", help="The reunion as a logistics problem.")]
Shipped = Annotated[str | None, typer.Option("--shipped", metavar="NAME", help="One of `sagagraph reunion problems`.")]
CommonSense = Annotated[
    str, typer.Option("--common-sense", metavar="all|none|IDS", help="What to add of what people forget; ids with commas.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Approve what comes of it.")]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a problem comes from: exactly one of them."""

    text: str | None
    problem: Path | None
    shipped: str | None
    common_sense: str

    @property
    def is_named(self) -> bool:
        return any(each is not None for each in (self.text, self.problem, self.shipped))


@dataclass(frozen=True, slots=True)
class Said:
    """A problem, and how it was told, where it was told in sentences."""

    problem: ReunionProblem
    transcript: Transcript | None = None
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    def with_common_sense(self, wanted: str) -> Said:
        if wanted == NONE:
            return self
        proposed = [each.id for each in suggestions(self.problem)]
        ids = proposed if wanted == ALL else [each.strip() for each in wanted.split(",")]
        transcript = self.transcript and self.transcript.model_copy(update={"added": tuple(ids)})
        return replace(self, problem=accept(self.problem, ids), transcript=transcript)


@reunion.command()
def problems(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]")] = None, _store: Store = "", as_json: Json = False
) -> None:
    """The problems that come with SagaGraph, or one of them as a file has it."""
    if name is not None:
        output.print_json(_json(shipped(name)))
    elif as_json:
        output.print_json({"problems": [{"name": each, "about": about} for each, about in SHIPPED.items()]})
    else:
        for each, about in SHIPPED.items():
            output.stdout.print(f"{each}: {about}", markup=False)


@reunion.command()
def read(
    text: Text = None,
    problem: Problem = None,
    common_sense: CommonSense = NONE,
    store: Store = "",
    as_json: Json = False,
) -> None:
    """What sentences (or a file) say of a reunion, as a problem; what is missing is asked for."""
    said = asyncio.run(_said(Source(text, problem, None, common_sense), model_of(Door(store, "", as_json).settings)))
    document = {
        "problem": _json(said.with_common_sense(common_sense).problem),
        "notes": said.notes,
        "unread": said.unread,
        "suggestions": [{"id": each.id, "sentence": each.sentence} for each in suggestions(said.problem)],
    }
    if not as_json:
        _tell_beside(said)
    output.print_json(document if as_json else document["problem"])


@reunion.command()
def realm(
    file: Annotated[Path, typer.Argument(metavar="INSTANCE.json")],
    limit: Annotated[bool, typer.Option("--limit/--no-limit", help="Keep the limit of a campus tour (P1).")] = True,
    _store: Store = "",
    _as_json: Json = False,
) -> None:
    """An instance of REALM-Bench (P1 to P4) as a problem, its events, and what it asks for that a problem can not say."""
    instance = read_realm(json_file(file, "INSTANCE.json"), max_duration=limit)
    events = [_json(each) for each in instance.events]
    output.print_json({"problem": _json(instance.problem), "events": events, "unsaid": instance.unsaid})


@reunion.command()
def begin(
    text: Text = None,
    problem: Problem = None,
    shipped: Shipped = None,
    saga_id: Annotated[str | None, typer.Option("--saga-id", metavar="ID", help="Begin that saga, or resume it.")] = None,
    day: Annotated[
        datetime | None, typer.Option("--day", formats=["%Y-%m-%d"], metavar="DATE", help="Of times that have none; today.")
    ] = None,
    common_sense: CommonSense = NONE,
    yes: Yes = False,
    store: Store = "",
    as_json: Json = False,
) -> None:
    """Plan a reunion and, after approval, tell everybody their part."""
    source = Source(text, problem, shipped, common_sense)
    _end(_begin(Door(store, "", as_json), source, saga_id, day.date() if day else None, approved=yes))


@reunion.command()
def event(
    saga: SagaId,
    files: Annotated[list[Path], typer.Argument(metavar="EVENT.json…")],
    problem: Annotated[
        Path | None, typer.Option("--problem", metavar="FILE.json", help="What is wished from now on, where that changes too.")
    ] = None,
    yes: Yes = False,
    store: Store = "",
    as_json: Json = False,
) -> None:
    """Tell an open day what has become known: it is repaired, and whose part changes is told anew."""
    _end(_event(Door(store, "", as_json), saga, files, problem, approved=yes))


@reunion.command()
def day(
    saga: SagaId,
    at: Annotated[str | None, typer.Option("--at", metavar="HH:MM", help="Let it become that late.")] = None,
    store: Store = "",
    as_json: Json = False,
) -> None:
    """Where everybody is on an open day; at its end, close it."""
    _end(_day(Door(store, "", as_json), saga, at))


@reunion.command()
def messages(saga: SagaId, store: Store = "", as_json: Json = False) -> None:
    """What people were told of a day, and what of that was taken back."""
    _end(_messages(Door(store, "", as_json), saga))


# -- what the commands do --------------------------------------------------------------------------------------------


async def _begin(door: Door, source: Source, saga_id: str | None, on: date | None, *, approved: bool) -> int:
    name = f"reunion-{uuid.uuid4().hex[:8]}" if saga_id is None else checked_id(saga_id)
    if saga_id is not None and not source.is_named:
        return await sagas.resume(door, saga_id, wait=True)
    said = (await _said(source, model_of(door.settings))).with_common_sense(source.common_sense)
    if not door.as_json:
        _tell_beside(said)
        _tell_suggestions(said.problem)
    wanted = ReunionRequest(problem=said.problem, day=on or _today(), told=said.transcript)
    async with acting(door, NAME) as opened:
        request = await _as_begun(opened.engine, name, wanted)
        with interruptible(name):  # before this there is no saga to go on with
            view = await opened.graph.start(name, request, approved_by=f"{PERSON}, --yes" if approved else None)
            view = await approved_or_not(door, opened, view)
    return door.show(view)


async def _event(door: Door, saga_id: str, files: Sequence[Path], problem: Path | None, *, approved: bool) -> int:
    told = [json_file(each, "EVENT.json") for each in files]
    domain = await domain_of(door, saga_id, only=NAME)
    with interruptible(saga_id):
        async with acting(door, domain) as opened:
            saga, outbox = await opened.engine.load(saga_id), opened.domain.outbox
            _check_open(saga)
            wanted = _with_events(saga, outbox, told, problem)
            approver = f"{PERSON}, --yes" if approved else None
            view = await opened.graph.change(saga_id, wanted, by=PERSON, approved_by=approver)
            saga = await opened.engine.load(saga_id)
            is_heard = saga.request == wanted
            if is_heard:
                outbox.advance(saga_id, parse_request(wanted).known_until or 0)
            view = await approved_or_not(door, opened, view)
    code = door.show(view)
    return code if is_heard else max(code, 1)


async def _as_begun(engine: Engine, saga_id: str, wanted: ReunionRequest) -> Any:
    """The same wish in other words is no other wish: a saga that began with it goes on."""
    with suppress(UnknownSagaError):
        first = (await engine.journal(saga_id))[0].event
        if isinstance(first, SagaBegun) and isinstance(first.request, dict) and first.domain == NAME:
            with suppress(InvalidInputError):
                if parse_request(first.request).wishes_for_the_same_as(wanted):
                    return first.request
    return _json(wanted)


def _check_open(saga: Saga) -> None:
    if saga.stage in FINAL:
        raise NotAllowedError(f"saga {saga.id!r} is {saga.stage.value}: that day is not open any more", saga_id=saga.id)


def _with_events(saga: Saga, outbox: Outbox, told: Iterable[Any], problem: Path | None) -> dict[str, Any]:
    """The request with what has become known; nothing becomes known before what the clock of the day says."""
    before = parse_request(saga.request)
    wished = before.problem if problem is None else parse_problem(json_file(problem, "--problem"))
    transcript = before.told if wished == before.problem else None
    known = [_json(each) for each in before.events]
    events = parse_events(wished, known, *told)
    now = _clock(saga, before, outbox)
    fresh = [each for each in events if each not in before.events]
    for each in fresh:
        if now is not None and each.at < now:
            raise InvalidInputError(
                f"the day is at {text_of(now)}: nothing becomes known at {text_of(each.at)} any more", field="EVENT.json"
            )
    listed = [*known, *(_json(each) for each in fresh)]
    request: dict[str, Any] = _json(parse_request({**saga.request, "problem": _json(wished), "events": listed, "told": transcript}))
    return request


async def _day(door: Door, saga_id: str, at: str | None) -> int:
    domain = await domain_of(door, saga_id, only=NAME)
    with interruptible(saga_id):
        async with acting(door, domain) as opened:
            saga, outbox = await opened.engine.load(saga_id), opened.domain.outbox
            request, plan = parse_request(saga.request), _plan_of(saga)
            if at is not None:
                _advance(outbox, saga_id, _clock(saga, request, outbox), parse_moment_of(request.problem, at, "--at"))
            now = _clock(saga, request, outbox) or plan.begins or 0
            view = await opened.engine.status(saga_id)
            if now >= _end_of(request, plan) and view.status.value == "running":
                over = _json(request.model_copy(update={"is_over": True}))
                view = await opened.graph.change(saga_id, over, by="the clock")
    return _show_day(door, view, now, request, plan)


def _advance(outbox: Outbox, saga_id: str, now: int | None, to: int) -> None:
    if now is not None and to < now:
        raise InvalidInputError(f"the day is at {text_of(now)} already, and never goes back", field="--at")
    outbox.advance(saga_id, to)


async def _messages(door: Door, saga_id: str) -> int:
    async with open_engine(door.settings) as engine:
        await engine.load(saga_id)
    found = open_outbox(door.settings).messages(saga_id)
    if door.as_json:
        output.print_json({"messages": [asdict(each) for each in found]})
    for each in found if not door.as_json else ():
        output.stdout.print(f"{each.kind}: {_indented(each)}", markup=False)
    return 0


# -- the problem -----------------------------------------------------------------------------------------------------


async def _said(source: Source, model: Model | None) -> Said:
    """What was said, as a problem. What the rules can not read is shown to a model."""
    given = [each for each in (source.text, source.problem, source.shipped) if each is not None]
    if len(given) != 1:
        raise InvalidInputError("say it in sentences, or give --problem FILE.json or --shipped NAME: one of them", field="TEXT")
    if source.problem is not None:
        return Said(parse_problem(json_file(source.problem, "--problem")))
    if source.shipped is not None:
        return Said(shipped(source.shipped))
    found = with_said(Transcript(), source.text or "")
    meaning = meaning_of(found.transcript)
    if model is not None and (found.unread or meaning.questions):
        plainer = await reworded(source.text or "", model=model)
        if plainer is not None:
            output.stderr.print(f"put in plain words by {model.name}", markup=False)
            found = with_said(Transcript(), ". ".join(plainer))
            meaning = meaning_of(found.transcript)
    while meaning.questions and sys.stdin.isatty() and sys.stdout.isatty():
        answer = await asked(f"{meaning.questions[0].text} ")
        if answer is None:
            break
        found = with_said(found.transcript, answer)
        meaning = meaning_of(found.transcript)
    if meaning.problem is None:
        unread = [f"Not understood: {'; '.join(found.unread)}."] if found.unread else []
        raise InvalidInputError(" ".join([*(each.text for each in meaning.questions), *unread]), field=meaning.questions[0].field)
    return Said(meaning.problem, found.transcript, meaning.notes, found.unread)


def _tell_beside(said: Said) -> None:
    for note in said.notes:
        output.stderr.print(f"taken for granted: {note}", markup=False)
    for each in said.unread:
        output.stderr.print(f"not understood: {each}", markup=False)


def _tell_suggestions(problem: ReunionProblem) -> None:
    for each in suggestions(problem):
        output.stderr.print(f"forgotten? {each.sentence} (--common-sense {each.id!r} adds it)", markup=False)


# -- the day ---------------------------------------------------------------------------------------------------------


def _clock(saga: Saga, request: ReunionRequest, outbox: Outbox) -> int | None:
    """How late it is on that day; None before anything has happened."""
    known = [each for each in (outbox.clock(saga.id), request.known_until) if each is not None]
    return max(known, default=None)


def _plan_of(saga: Saga) -> DayPlan:
    if saga.plan.accepted is None:
        raise NotAllowedError(f"saga {saga.id!r} has no plan that was accepted: approve one first", saga_id=saga.id)
    return accepted_plan(saga)


def _end_of(request: ReunionRequest, plan: DayPlan) -> int:
    goals = (*request.problem.goals, *(goal for person in request.problem.people for goal in person.goals))
    return max([plan.ends or 0, *(goal.by for goal in goals)])


def _show_day(door: Door, view: SagaView, now: int, request: ReunionRequest, plan: DayPlan) -> int:
    events = tuple(sorted(request.events, key=lambda each: each.at))
    parsed = parse_plan(request.problem, _json(plan.plan))
    found = list(whereabouts(Case(Circumstances(request.problem, events), parsed).simulation, now))
    if door.as_json:
        where = {
            kind: [places._where_json(each) for each in found if each.is_vehicle is (kind == "vehicles")]
            for kind in ("people", "vehicles")
        }
        output.print_json({"at": text_of(now), **where, "saga": view})
    else:
        output.stdout.print(f"it is {text_of(now)}", markup=False)
        for each in found:
            output.stdout.print(f"  {in_words(each)}", markup=False)
        output.print_saga(view)
    return EXIT.get(view.status, 1)


def _indented(message: Message) -> str:
    return message.text.replace("\n", "\n    ")


def _today() -> date:
    return datetime.now().astimezone().date()


def _end(command: Any) -> None:
    raise typer.Exit(asyncio.run(command))
