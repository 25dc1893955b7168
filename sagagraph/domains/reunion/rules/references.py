"""References: what can be read, and whether whom and what it names is there."""

from __future__ import annotations

from collections.abc import Container, Iterator

from sagagraph.domains.reunion.parsing import Broken
from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.rules.facts.case import Case, clock
from sagagraph.domains.reunion.rules.facts.part import (
    Part,
    checking,
    events_about,
    known_places,
    raw,
    raw_act,
    raw_people,
    raw_task,
)
from sagagraph.validators.concern import Concern
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


def not_readable(broken: Broken) -> Violation:
    said = "; ".join(f"{field}: {message}" if field else message for field, message in broken.faults)
    fields = [field for field, _ in broken.faults if field]
    return Violation(
        code="MALFORMED",
        message=f"action {broken.index} cannot be read: {said}",
        scope={"action": broken.index, **({"field": fields[0]} if fields else {})},
        evidence={"fields": dict(broken.faults)},
    )


def _scopes(case: Case) -> Iterator[tuple[str, Part]]:
    for index, act in case.plan.actions.items():
        vehicle = case.world.vehicles.get(act.vehicle) if isinstance(act, Journey) else None
        yield (
            f"action {index}",
            Part(
                about=(index,),
                actions={str(index): raw_act(act)},
                places=known_places(case, (act.from_, act.to) if isinstance(act, Journey) else (act.place,)),
                people=raw_people(case, act.people),
                vehicles=() if vehicle is None else (raw(vehicle),),
                tasks=() if isinstance(act, Journey) else raw_task(case, act.task, "place"),
                events=events_about(case, act.people),
            ),
        )


def check_names(case: Case) -> Iterator[Violation]:
    """Once for each name of an action that stands for nobody and nothing at its start."""
    for index, act in case.plan.actions.items():
        named = [("person", name) for name in act.people]
        if isinstance(act, Journey):
            named += [("vehicle", act.vehicle), ("place", act.from_), ("place", act.to)]
        else:
            named += [("task", act.task), *([] if act.place is None else [("place", act.place)])]
        for kind, name in dict.fromkeys(named):
            why = _unknown(case, kind, name, act.start)
            if why:
                scope = {"people": [name]} if kind == "person" else {kind: name}
                message = f"action {index}, at {clock(act.start)[0]}: {why}"
                yield Violation(code="UNKNOWN_REFERENCE", message=message, scope={**scope, "action": index})


def _unknown(case: Case, kind: str, name: str, at: int) -> str:
    world = case.world
    if kind != "person":
        there_are: dict[str, Container[str]] = {"vehicle": world.vehicles, "task": world.tasks, "place": world.problem.places}
        return "" if name in there_are[kind] else f"no {kind} is called {name!r}"
    if world.takes_part(name, at):
        return ""
    if name not in world.people:
        return f"nobody is called {name!r}"
    if world.cancelled.get(name, at + 1) <= at:
        return f"{name} has cancelled, at {clock(world.cancelled[name])[0]}"
    return f"{name} is not known before {clock(world.added[name])[0]}"


NAMES = Concern("names", Kind.CONTRACT, Part, _scopes, checking(check_names))
