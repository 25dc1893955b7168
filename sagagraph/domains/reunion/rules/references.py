"""References: what can be read, and whether whom and what it names is there."""

from __future__ import annotations

from collections.abc import Container, Iterator

from sagagraph.domains.reunion.parsing import Broken
from sagagraph.domains.reunion.plan import Act, Journey
from sagagraph.domains.reunion.rules.facts.case import Case, clock
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


def check_names(case: Case) -> Iterator[Violation]:
    """Once for each name of an action that stands for nobody and nothing at its start."""
    for index, act in case.plan.actions.items():
        for kind, name in dict.fromkeys(_named(act)):
            why = _unknown(case, kind, name, act.start)
            if why:
                scope = {"people": [name]} if kind == "person" else {kind: name}
                message = f"action {index}, at {clock(act.start)[0]}: {why}"
                yield Violation(code="UNKNOWN_REFERENCE", message=message, scope={**scope, "action": index})


def _named(act: Act) -> Iterator[tuple[str, str]]:
    yield from (("person", name) for name in act.people)
    if isinstance(act, Journey):
        yield "vehicle", act.vehicle
        yield from (("place", place) for place in (act.from_, act.to))
        return
    yield "task", act.task
    yield from (("place", place) for place in (act.place,) if place is not None)


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
