"""Past: what was done stands as it was done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sagagraph.domains.reunion.plan import Act, Journey
from sagagraph.domains.reunion.rules.case import Case, clock
from sagagraph.validators.verdict import Violation


def check_past(case: Case) -> Iterator[Violation]:
    """Report each past action that is told differently, left out, or made up."""
    history = case.history
    if history is None:
        return
    until = clock(history.until)[0]
    for old, new in history.rewritten:
        changed = _changes(history.old.actions[old], history.new.actions[new])
        said = ", ".join(f"{field} {was} became {now}" for field, (was, now) in changed.items())
        message = f"action {new}: {_told(history.old.actions[old])} began before {until} and stands as it was; {said}"
        yield _violation(message, {**_names(history.new.actions[new]), "action": new}, {"old_action": old, "changed": changed})
    for old in history.dropped:
        act = history.old.actions[old]
        message = f"action {old} of the old plan: {_told(act)} began before {until} and is not in the new one"
        yield _violation(message, {**_names(act), "action": old, "plan": "old"}, {"old_action": old})
    for new in history.inserted:
        act = history.new.actions[new]
        message = f"action {new}: {_told(act)} would have begun before {until}, and was not in the old plan"
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
