"""Past: what was done stands as it was done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sagagraph.domains.reunion.plan import Act, Journey
from sagagraph.domains.reunion.rules.facts.case import clock
from sagagraph.validators.verdict import Violation


def rewritten(old: int, was: Act, new: int, act: Act, until: int) -> Violation:
    changed = _changes(was, act)
    said = ", ".join(f"{field} {before} became {now}" for field, (before, now) in changed.items())
    message = f"action {new}: {_told(was)} began before {clock(until)[0]} and stands as it was; {said}"
    return _violation(message, {**_names(act), "action": new}, {"old_action": old, "changed": changed})


def dropped(old: int, act: Act, until: int) -> Iterator[Violation]:
    if act.start < until:
        message = f"action {old} of the old plan: {_told(act)} began before {clock(until)[0]} and is not in the new one"
        yield _violation(message, {**_names(act), "action": old, "plan": "old"}, {"old_action": old})


def inserted(new: int, act: Act, until: int) -> Iterator[Violation]:
    if act.start < until:
        message = f"action {new}: {_told(act)} would have begun before {clock(until)[0]}, and was not in the old plan"
        yield _violation(message, {**_names(act), "action": new}, {})


def _violation(message: str, scope: dict[str, Any], evidence: dict[str, Any]) -> Violation:
    return Violation(code="PAST_REWRITTEN", message=message, scope=scope, evidence=evidence)


def _told(act: Act) -> str:
    start, end = clock(act.start, act.end)
    what = f"{act.vehicle}, {act.from_} to {act.to}" if isinstance(act, Journey) else repr(act.task)
    return f"{what} {start}-{end}"


def _names(act: Act) -> dict[str, Any]:
    what = {"vehicle": act.vehicle} if isinstance(act, Journey) else {"task": act.task}
    return {"people": list(act.people), **what}


def _changes(old: Act, new: Act) -> dict[str, tuple[Any, Any]]:
    before, after = (act.model_dump(mode="json", by_alias=True) for act in (old, new))
    return {field: (before.get(field), after[field]) for field in after if before.get(field) != after[field]}
