"""References: whether the people and things that an action names exist."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sagagraph.domains.reunion.plan import Act, Journey
from sagagraph.domains.reunion.rules.days import VERSION
from sagagraph.domains.reunion.rules.facts.case import Case, clock
from sagagraph.validators.concern import each_row
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


class Reference(Struct, frozen=True, array_like=True):
    """Reference: a name in an action. `kind`: person, vehicle, task or place."""

    kind: str
    name: str
    is_known: bool
    added: int | None = None
    """When a person became known, if later."""
    cancelled: int | None = None


class References(Struct, frozen=True, array_like=True):
    action: int
    start: int
    named: tuple[Reference, ...]

    def __str__(self) -> str:
        return f"action {self.action}"


def _references(case: Case) -> Iterator[References]:
    for index, act in case.plan.actions.items():
        yield References(index, act.start, tuple(_named(case, act)))


def _named(case: Case, act: Act) -> Iterator[Reference]:
    world = case.world
    for name in dict.fromkeys(act.people):
        who = world.subjects.get(name)
        yield (
            Reference("person", name, is_known=False)
            if who is None
            else Reference("person", name, True, who.added, who.cancelled)
        )
    if isinstance(act, Journey):
        yield Reference("vehicle", act.vehicle, act.vehicle in world.vehicles)
        yield from (Reference("place", name, name in case.problem.places) for name in dict.fromkeys((act.from_, act.to)))
    else:
        yield Reference("task", act.task, act.task in world.tasks)
        if act.place is not None:
            yield Reference("place", act.place, act.place in case.problem.places)


def _check(act: References) -> Iterator[Violation]:
    """Check references: one report for each name that stands for nobody and nothing at the action's start."""
    for each in act.named:
        why = _unknown(each, act.start)
        if why:
            scope = {"people": [each.name]} if each.kind == "person" else {each.kind: each.name}
            message = f"action {act.action}, at {clock(act.start)[0]}: {why}"
            yield Violation(code="UNKNOWN_REFERENCE", message=message, scope={**scope, "action": act.action})


def _unknown(named: Reference, at: int) -> str:
    if not named.is_known:
        return f"{'nobody' if named.kind == 'person' else f'no {named.kind}'} is called {named.name!r}"
    if named.cancelled is not None and named.cancelled <= at:
        return f"{named.name} has cancelled, at {clock(named.cancelled)[0]}"
    if named.added is not None and at < named.added:
        return f"{named.name} is not known before {clock(named.added)[0]}"
    return ""


NAMES = each_row("names", Kind.CONTRACT, References, _references, _check, VERSION)
