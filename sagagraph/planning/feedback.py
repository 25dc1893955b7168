"""Feedback (SagaLLM section 3.3.2): what validators said in earlier runs is offered to later proposals.

Codes, names of actions, counts, and notes of validators only: nothing that a person or a provider wrote gets from one saga's
journal into another saga's question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from sagagraph.saga.core import events as e
from sagagraph.validators.verdict import VerdictStatus

MOST_LESSONS: Final = 8


def lessons_of(journals: Iterable[Sequence[e.Entry]]) -> tuple[str, ...]:
    """The most frequent lessons first; equally frequent ones in alphabetical order."""
    counted = Counter(lesson for entries in journals for lesson in set(_lessons_in(entries)))
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(f"{lesson} (in {times} earlier {'run' if times == 1 else 'runs'})" for lesson, times in ordered[:MOST_LESSONS])


def _lessons_in(entries: Sequence[e.Entry]) -> Iterator[str]:
    actions: dict[str, str] = {}
    for entry in entries:
        match entry.event:
            case e.PlanJudged(verdict=verdict):
                yield from _said_of("a plan", verdict)
            case e.PlanAccepted(operations=operations):
                actions |= {each.id: each.action for each in operations}
            case e.OperationPlanned(operation=operation):
                actions[operation.id] = operation.action
            case e.OperationSucceeded() | e.OperationRejected():
                for verdict in entry.event.verdicts:
                    yield from _said_of(f"an output of {actions.get(entry.event.operation, 'an action')}", verdict)
            case e.OperationFailed(operation=name, fault=fault) if fault.code.isidentifier():
                yield f"{actions.get(name, 'an action')} failed: {fault.code}"


def _said_of(what: str, verdict: Any) -> Iterator[str]:
    if not isinstance(verdict, Mapping):
        return
    if verdict.get("verdict") == VerdictStatus.INVALID.value:
        yield from (f"{what} was rejected: {violation['code']}" for violation in verdict.get("violations", ()))
    yield from (str(note) for note in verdict.get("notes", ()))
