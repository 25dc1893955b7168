"""The whole of a day: rows that can be read, tasks that nobody does, and what had been done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from pydantic import TypeAdapter

from sagagraph.domains.reunion.events import EVENTS, Event, MayReroute
from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.rules.facts.case import Case, clock
from sagagraph.domains.reunion.rules.facts.history import History, stands
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation

Json = dict[str, Any]
_ACT: TypeAdapter[Act] = TypeAdapter(Act)


class Unread(Struct, frozen=True, array_like=True):
    index: int
    faults: tuple[tuple[str, str], ...]


class UnreadView(Struct, frozen=True):
    """View of why there are no actions at all, and of actions that cannot be read."""

    fault: str
    unread: tuple[Unread, ...]


class Required(Struct, frozen=True, array_like=True):
    task: str
    is_done: bool


class MissingView(Struct, frozen=True):
    tasks: tuple[Required, ...]
    excused: int
    """How many of them unreadable actions may stand for."""


class Told(Struct, frozen=True, array_like=True):
    """Past action as the old plan had it and as the new one states it; None: it has none. `events`: while under way."""

    old_index: int | None
    old: Json | None
    new_index: int | None
    new: Json | None
    events: tuple[Json, ...] = ()


class PastView(Struct, frozen=True):
    until: int
    told: tuple[Told, ...]


def _unread_scopes(case: Case) -> Iterator[tuple[str, UnreadView]]:
    if case.plan.fault:
        yield "the plan", UnreadView(case.plan.fault, ())
    for window in windows(Unread(each.index, each.faults) for each in case.plan.broken):
        yield f"actions {window[0].index} to {window[-1].index}", UnreadView("", tuple(window))


def _check_unread(view: UnreadView) -> Iterator[Violation]:
    if view.fault:
        yield Violation(code="MALFORMED", message=view.fault, scope={"field": "actions"})
    for each in view.unread:
        yield not_readable(each.index, each.faults)


def not_readable(index: int, faults: tuple[tuple[str, str], ...]) -> Violation:
    said = "; ".join(f"{field}: {message}" if field else message for field, message in faults)
    fields = [field for field, _ in faults if field]
    return Violation(
        code="MALFORMED",
        message=f"action {index} cannot be read: {said}",
        scope={"action": index, **({"field": fields[0]} if fields else {})},
        evidence={"fields": dict(faults)},
    )


def _missing_scopes(case: Case) -> Iterator[tuple[str, MissingView]]:
    done = {work.task for _, work in case.works} | {each.task for each in case.traces}
    excused = sum(each.other_tasks for each in case.traces)
    required = (Required(task.name, task.name in done) for task in case.problem.tasks if not task.optional)
    for window in windows(required):
        yield f"tasks {window[0].task!r} to {window[-1].task!r}", MissingView(tuple(window), excused)
        excused = max(0, excused - sum(not each.is_done for each in window))


def _check_missing(view: MissingView) -> Iterator[Violation]:
    missing = [each.task for each in view.tasks if not each.is_done]
    for name in missing[view.excused :]:
        yield Violation(code="MISSING_TASK", message=f"{name!r} is not done by anybody", scope={"task": name})


def _past_scopes(case: Case) -> Iterator[tuple[str, PastView]]:
    if case.history is None:
        return
    for number, window in enumerate(windows(_told(case.history)), start=1):
        yield f"before {clock(case.history.until)[0]}, part {number}", PastView(case.history.until, tuple(window))


def _told(history: History) -> Iterator[Told]:
    old, new = history.old.actions, history.new.actions
    for before, now in history.pairs.items():
        act = old[before]
        yield Told(before, _json(act), now, _json(new[now]), tuple(_under_way(history, act)))
    for index in history.dropped:
        yield Told(index, _json(old[index]), None, None)
    for index in history.inserted:
        yield Told(None, None, index, _json(new[index]))


def _under_way(history: History, act: Act) -> Iterator[Json]:
    """Return what allows a journey to continue otherwise than planned: the first event during it, and that its vehicle may be
    rerouted.
    """
    during = [event for event in history.events if act.start < event.at < act.end] if isinstance(act, Journey) else []
    for number, event in enumerate(during):
        if number == 0 or (isinstance(event, MayReroute) and isinstance(act, Journey) and event.vehicle == act.vehicle):
            yield _json(event)


def _json(value: Act | Event) -> Json:
    """Return it as a file would have it, with its kind."""
    short: Json = value.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)
    return {**short, **({"do": value.do} if isinstance(value, Journey | Work) else {"event": value.event})}


def _check_past(view: PastView) -> Iterator[Violation]:
    for each in view.told:
        old, new = (None if said is None else _ACT.validate_python(said) for said in (each.old, each.new))
        if each.old_index is not None and old and each.new_index is not None and new:
            if not stands(old, new, EVENTS.validate_python(list(each.events))):
                yield rewritten(each.old_index, old, each.new_index, new, view.until)
        elif each.old_index is not None and old:
            yield from dropped(each.old_index, old, view.until)
        elif each.new_index is not None and new:
            yield from inserted(each.new_index, new, view.until)


UNREAD = Concern("readable actions", Kind.SYNTACTIC, UnreadView, _unread_scopes, _check_unread)
MISSING = Concern("missing tasks", Kind.RETENTION, MissingView, _missing_scopes, _check_missing)
PAST = Concern("past", Kind.CONSISTENCY, PastView, _past_scopes, _check_past)


def rewritten(old: int, was: Act, new: int, act: Act, until: int) -> Violation:
    changed = _changes(was, act)
    said = ", ".join(f"{field} {before} became {now}" for field, (before, now) in changed.items())
    message = f"action {new}: {_in_words(was)} began before {clock(until)[0]} and stands as it was; {said}"
    return _violation(message, {**_names(act), "action": new}, {"old_action": old, "changed": changed})


def dropped(old: int, act: Act, until: int) -> Iterator[Violation]:
    if act.start < until:
        message = f"action {old} of the old plan: {_in_words(act)} began before {clock(until)[0]} and is not in the new one"
        yield _violation(message, {**_names(act), "action": old, "plan": "old"}, {"old_action": old})


def inserted(new: int, act: Act, until: int) -> Iterator[Violation]:
    if act.start < until:
        message = f"action {new}: {_in_words(act)} would have begun before {clock(until)[0]}, and was not in the old plan"
        yield _violation(message, {**_names(act), "action": new}, {})


def _violation(message: str, scope: dict[str, Any], evidence: dict[str, Any]) -> Violation:
    return Violation(code="PAST_REWRITTEN", message=message, scope=scope, evidence=evidence)


def _in_words(act: Act) -> str:
    start, end = clock(act.start, act.end)
    what = f"{act.vehicle}, {act.from_} to {act.to}" if isinstance(act, Journey) else repr(act.task)
    return f"{what} {start}-{end}"


def _names(act: Act) -> dict[str, Any]:
    what = {"vehicle": act.vehicle} if isinstance(act, Journey) else {"task": act.task}
    return {"people": list(act.people), **what}


def _changes(old: Act, new: Act) -> dict[str, tuple[Any, Any]]:
    before, after = (act.model_dump(mode="json", by_alias=True) for act in (old, new))
    return {field: (before.get(field), after[field]) for field in after if before.get(field) != after[field]}
