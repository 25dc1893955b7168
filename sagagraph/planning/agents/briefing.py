"""Briefing: what is known when agents plan, and to whom it may be shown: wishes as they are and were, decisions, promises.

It is a source of contexts for the `ContextManager`, folded from a journal: at the same version it says the same, in any process.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from sagagraph.context.selector import ContextSource, Need
from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS
from sagagraph.planning.agents.team import Role, Said
from sagagraph.saga.core import events as e
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.validators.verdict import Verdict, VerdictStatus
from sagagraph.workflow.values import Json

DECIDED: Final = "what was decided"
PROMISED: Final = "what was promised"
OBJECTIONS_TOKENS: Final = 200
"""Room for the objections to an agent's last answer, within the thousand tokens of its slice."""
_REMEMBERED: Final = 3
"""Earlier values of a wish, decisions and promises: the latest."""
_LONGEST: Final = 120


def need_of(role: Role) -> Need:
    """Return what `role` is shown: its wishes, what they were before, what was decided and promised, and what it depends on."""
    wishes = (*role.reads, *(before(each) for each in role.reads), DECIDED, PROMISED)
    return Need(wishes, budget_tokens=DEFAULT_BUDGET_TOKENS - OBJECTIONS_TOKENS)


def before(wish: str) -> str:
    """Return the name under which the earlier values of a wish are listed."""
    return f"{wish} was before"


class Briefing:
    """Briefing: the source of contexts of one saga's agents, at one version of its journal."""

    def __init__(
        self, entries: Sequence[e.Entry], roles: Mapping[str, Role], inputs: Mapping[str, Json], said: Mapping[str, Said]
    ):
        self.wishes = _wishes(entries)
        # About the plan that was proposed last; the saga's name says nothing about what was decided.
        judged = Verdict.model_validate(fold("briefing", entries).plan.verdict or Verdict.of([]))
        self._objections = judged.violations if judged.verdict is VerdictStatus.INVALID else ()
        self._roles = roles
        self._inputs = inputs
        self._said = said

    def inputs(self, operation: str) -> Json:
        return self._inputs[operation]

    def prerequisites(self, operation: str) -> Sequence[str]:
        return self._roles[operation].after

    def constraint(self, operation: str) -> Json:
        """Return what validators object to in its last answer."""
        parts = self._inputs[operation]
        return [each.message[:_LONGEST] for each in self._objections if concerns(each.scope, parts)][:_REMEMBERED] or None

    def has_output(self, operation: str) -> bool:
        return operation in self._said

    def output(self, operation: str) -> Json:
        """Return what it chose, the preferred candidate of each part, with what it was shown of that."""
        said = self._said[operation]
        shown = {part: {each["id"]: each for each in options} for part, options in said.inputs.items()}
        return {part: shown[part].get(some[0].choose, {}) for part, some in said.candidates.items() if part in shown}


def source_at(
    entries: Sequence[e.Entry], roles: Mapping[str, Role], inputs: Mapping[str, Json], said: Mapping[str, Said]
) -> Callable[[int], ContextSource]:
    """Return a function from a version to what was known then."""
    return lambda version: Briefing(entries[:version], roles, inputs, said)


def concerns(scope: Mapping[str, Any], parts: Any) -> bool:
    """Tell whether a violation concerns whoever decides these parts: it names one of them, or no part of the plan at all."""
    named = {str(each) for name, each in scope.items() if name in ("leg", "part", "operation")}
    return not named or bool(named & set(parts))


def _wishes(entries: Sequence[e.Entry]) -> Mapping[str, Json]:
    """Return the request's fields, what they were before, and what was decided and promised about them."""
    wishes: dict[str, Any] = {}
    earlier: defaultdict[str, list[Any]] = defaultdict(list)
    notes: defaultdict[str, list[str]] = defaultdict(list)
    for entry in entries:
        match entry.event:
            case e.SagaBegun(request=request):
                wishes = _fields(request)
            case e.RequestChanged(request=request):
                changed = _fields(request)
                for name in wishes.keys() | changed.keys():
                    if wishes.get(name) != changed.get(name):
                        earlier[name].append(wishes.get(name))
                wishes = changed
            case e.PlanRejected(reason=reason):
                notes[DECIDED].append(f"a plan was rejected{reason and f': {reason}'}"[:_LONGEST])
            case e.PlanAccepted(plan_version=version):
                notes[PROMISED].append(f"version {version} of the plan")
    known = {name: value for name, value in wishes.items() if value is not None}
    told = {before(name): values[-_REMEMBERED:] for name, values in earlier.items()}
    return {**known, **told, **{name: each[-_REMEMBERED:] for name, each in notes.items()}}


def _fields(request: Any) -> dict[str, Any]:
    return dict(request) if isinstance(request, Mapping) else {"request": request}


MOST_LESSONS: Final = 8


def lessons_of(journals: Iterable[Sequence[e.Entry]]) -> tuple[str, ...]:
    """Return what validators said in earlier runs (SagaLLM section 3.3.2), the most frequent first, ties in alphabetical order.

    Codes, names of actions, counts, and notes of validators only: nothing that a person or a provider wrote gets from one saga's
    journal into another saga's question.
    """
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
