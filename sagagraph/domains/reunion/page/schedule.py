"""The schedule of a day: a line for everybody, bars of a timeline, and a schematic of its roads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from sagagraph.domains.reunion.day import DayPlan, Sending
from sagagraph.domains.reunion.parts import Part, parts_of
from sagagraph.domains.reunion.plan import Act, Journey
from sagagraph.domains.reunion.times import is_dated, text_of
from sagagraph.planning.page import Bar, Connection, Line, Place, PlanView, Route


def view_of(plan: DayPlan) -> PlanView:
    """Return a line for everybody who does something, and a row for them and for every vehicle."""
    bars = [bar for act in plan.plan.in_time for bar in _bars(act, plan)]
    people = sorted((bar for bar in bars if bar.operation), key=lambda bar: bar.row)
    lines = (
        Line(
            part.who,
            part.who,
            "; ".join((*_steps(part), *_ways(plan.sent.get(part.who)))),
            begins=min((instant(step.start, plan.day) for step in part.steps), default=None),
        )
        for part in parts_of(plan)
    )
    return PlanView(tuple(lines), (*people, *(bar for bar in bars if not bar.operation)), _route(plan))


def _steps(part: Part) -> Iterator[str]:
    yield from (f"{text_of(step.start)}–{text_of(step.end)} {step.what}" for step in part.steps)


def _ways(sending: Sending | None) -> Iterator[str]:
    """Yield how this is sent, without the address: the plan may be shared."""
    if sending is not None and sending.mail:
        yield "sent by mail"
    if sending is not None and sending.calendar:
        yield "put into the calendar"


def _bars(act: Act, plan: DayPlan) -> Iterator[Bar]:
    begins, ends = instant(act.start, plan.day), instant(act.end, plan.day)
    if isinstance(act, Journey):
        way = f"{plan.places.get(act.from_, act.from_)} → {plan.places.get(act.to, act.to)}"
        for who in act.people:
            yield Bar(who, way, act.vehicle, begins, ends, f"assign {who}")
        yield Bar(act.vehicle, f"{way}: {', '.join(act.people)}", act.vehicle, begins, ends)
    else:
        for who in act.who:
            yield Bar(who, act.task, "task", begins, ends, f"assign {who}")


def instant(moment: int, day: date) -> datetime:
    """Return the time as a clock on the wall shows it; dated moments in UTC."""
    if is_dated(moment):
        return datetime.fromtimestamp(moment * 60, UTC).replace(tzinfo=None)
    return datetime.combine(day, time()) + timedelta(minutes=moment)


def _route(plan: DayPlan) -> Route:
    """Arrange places on a circle, to show who drives where, not how far."""
    angles = {name: 2 * math.pi * number / len(plan.places) for number, name in enumerate(plan.places)}
    spots = {name: Place(plan.places[name], math.sin(angle), math.cos(angle)) for name, angle in angles.items()}
    acts = sorted(plan.plan.actions, key=lambda act: act.start)
    journeys = [act for act in acts if isinstance(act, Journey) and act.from_ in spots and act.to in spots]
    listed = ((act, f"{text_of(act.start)} {act.vehicle}: {', '.join(act.people)}") for act in journeys)
    return Route(tuple(Connection(spots[act.from_], spots[act.to], act.vehicle, text) for act, text in listed))
