"""Model planner: a model proposes, validators judge, and their objections go into the next question, for a few rounds.

Every question has a fresh context: the request, what there is to choose from, the last choice and the objections to it. If no
round yields a valid plan, or the model is down, too slow or too expensive, the domain's solver plans.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol, runtime_checkable

from pydantic import BaseModel, ValidationError

from sagagraph.context.model import Model, Question
from sagagraph.context.quoting import Quoted, new_nonce
from sagagraph.context.slice import Fact, select
from sagagraph.errors import ContextBudgetError, ModelError, UnusableAnswerError
from sagagraph.planning.domain import Infeasible, Json, Proposal
from sagagraph.planning.models.limits import Limits, Record, asked
from sagagraph.saga.core.events import ModelAsked
from sagagraph.saga.core.state import Saga
from sagagraph.validators.verdict import Verdict, VerdictStatus


@dataclass(frozen=True, slots=True)
class Assignment:
    instructions: str
    """Written by the domain, with nothing in it that others wrote."""
    facts: tuple[Fact, ...]
    """What others wrote: shown as quoted data, by priority, within a budget."""
    answer: type[BaseModel]
    """The schema of the answer: closed and strict."""
    solved: tuple[Proposal, ...]
    """What the domain's own solver proposes, the preferred plan first: used when the model finds nothing."""


@runtime_checkable
class Assigning(Protocol):
    """Domain whose plans a model may choose."""

    async def assignment(self, request: Json) -> Assignment | tuple[Proposal, ...] | Infeasible:
        """Return the assignment. No model is asked if the solver knows that no plan meets the request, or already has
        every plan.
        """
        ...

    async def chosen(self, request: Json, answer: BaseModel, assignment: Assignment) -> Proposal | Verdict:
        """Return the plan that the answer names; an INVALID verdict if it names none. Raises `ProviderError`."""
        ...


@runtime_checkable
class Finishing(Assigning, Protocol):
    """Domain whose solver can continue what a model began."""

    async def finished(self, request: Json, answer: Json) -> tuple[Proposal, ...]:
        """Return the plan that keeps as much as possible of an answer that was not accepted; none if there is none."""
        ...


@runtime_checkable
class Mending(Assigning, Protocol):
    """Domain whose plans a model may repair as well, under the same limits."""

    async def mending(self, saga: Saga) -> Assignment | tuple[Proposal, ...] | Infeasible:
        """Return the assignment of a repair: `Domain.repair` for a model."""
        ...

    async def mended(self, saga: Saga, answer: BaseModel) -> Proposal | Verdict:
        """Return the plan that the answer names, with everything that is done and wanted again; an INVALID verdict if it names
        none.
        """
        ...


ROLE: Final = "planner"
ROUNDS: Final = 3
"""Questions for one plan, counted across restarts."""
BUDGET_TOKENS: Final = 2000
"""Tokens for the facts in one question: choosing needs more of them than judging."""
LONGEST_REASONING: Final = 1000
"""How many characters of it are kept."""
_MOST_OBJECTIONS: Final = 10

Lessons = Callable[[], Awaitable[Sequence[str]]]
"""What validators objected to in earlier sagas, in our own words."""
Read = Callable[[BaseModel, Assignment], Awaitable[Proposal | Verdict]]
"""Function that makes a plan from an answer; an INVALID verdict if it names none."""


async def no_lessons() -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class _Objection:
    """Previous choice and what was wrong with it. Quoted: it may hold what others wrote."""

    choice: Any
    violations: tuple[str, ...]

    @property
    def facts(self) -> tuple[Fact, ...]:
        if not self.violations:
            return ()
        choice = () if self.choice is None else (Fact("your last choice", self.choice, priority=1),)
        return (Fact("what was wrong with your last choice", list(self.violations), critical=True), *choice)


_NOTHING: Final = _Objection(None, ())


class ModelPlanner:
    def __init__(
        self,
        model: Model,
        domain: Assigning,
        *,
        limits: Limits | None = None,
        lessons: Lessons = no_lessons,
        mint: Callable[[], str] = new_nonce,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._domain = domain
        self._limits = limits or Limits()
        self._lessons = lessons
        self._mint = mint
        self._clock = clock

    async def propose(self, saga: Saga, record: Record) -> tuple[Proposal, ...] | Infeasible:
        """Return the model's plan together with the solver's; the solver's alone, with the reason, if the model has none.

        Raises `ProviderError` if the domain's provider cannot be asked.
        """
        assignment = await self._domain.assignment(saga.request)
        return await self._planned(saga, assignment, partial(self._domain.chosen, saga.request), record)

    async def repair(self, domain: Mending, saga: Saga, record: Record) -> Proposal | Infeasible:
        """Return the model's repair; if it has none, the domain's own, or why there is none."""

        async def read(answer: BaseModel, _assignment: Assignment) -> Proposal | Verdict:
            return await domain.mended(saga, answer)

        found = await self._planned(saga, await domain.mending(saga), read, record)
        return found if isinstance(found, Infeasible) else found[0]

    async def _planned(
        self, saga: Saga, assignment: Assignment | tuple[Proposal, ...] | Infeasible, read: Read, record: Record
    ) -> tuple[Proposal, ...] | Infeasible:
        if not isinstance(assignment, Assignment):
            return assignment
        objection, deadline = _standing_objection(saga), self._clock() + self._limits.seconds
        nearest = _NOTHING
        while saga.plan.questions.get(ROLE, 0) < ROUNDS:
            try:
                found, asked = await self._round(saga, assignment, read, objection, deadline)
            except ModelError as exc:
                return self._without_model(saga, assignment.solved, str(exc))
            saga = await record(asked)
            if isinstance(found, Proposal):
                others = [each for each in assignment.solved if each.plan_hash != found.plan_hash]
                return (found, *others)
            if isinstance(found, ModelError):
                return self._without_model(saga, assignment.solved, str(found))
            objection = found
            if found.choice is not None and (nearest.choice is None or len(found.violations) < len(nearest.violations)):
                nearest = found
        finished: tuple[Proposal, ...] = ()
        if isinstance(self._domain, Finishing) and nearest.choice is not None:
            finished = await self._domain.finished(saga.request, nearest.choice)
        if finished:
            why = f"finished by the solver from what {self._model.name} proposed, which was not valid"
            return (*(replace(each, reasons=(*each.reasons, why)) for each in finished), *assignment.solved)
        why = f"{self._model.name} proposed nothing valid in {ROUNDS} rounds"
        return self._without_model(saga, assignment.solved, why)

    async def _round(
        self, saga: Saga, assignment: Assignment, read: Read, objection: _Objection, deadline: float
    ) -> tuple[Proposal | _Objection | ModelError, ModelAsked]:
        """Ask once. Raises `ModelError` if the limits allow no further question."""
        question = await self._question(assignment, objection)
        if why := self._limits.why_not(question, saga.models):
            raise ModelError(f"{self._model.name}: {why}")
        begun = self._clock()
        if begun >= deadline:
            raise ModelError(f"{self._model.name}: no valid answer within {self._limits.seconds:g} s")
        answer, usage = await self._limits.ask(self._model, question, begun, deadline, self._clock)
        if isinstance(answer, UnusableAnswerError):
            return _Objection(None, (str(answer),)), asked(ROLE, usage, str(answer))
        if isinstance(answer, ModelError):
            return answer, asked(ROLE, usage, str(answer))
        found, outcome = await self._read(saga, assignment, read, answer)
        return found, asked(ROLE, usage, outcome)

    async def _read(self, saga: Saga, assignment: Assignment, read: Read, answer: Any) -> tuple[Proposal | _Objection, str]:
        try:
            said = assignment.answer.model_validate(answer)
        except ValidationError as exc:
            violations = tuple(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in exc.errors()[:_MOST_OBJECTIONS])
            return _Objection(None, violations), f"not in the form asked for: {'; '.join(violations)}"
        chosen = await read(said, assignment)
        refused: tuple[str, ...] = ()
        if isinstance(chosen, Verdict):
            refused = tuple(each.message for each in chosen.violations) or (chosen.reason,)
        elif saga.plan.verdict is not None and chosen.plan_hash == saga.plan.hash:
            refused = ("it is the choice that was judged before",)
        if isinstance(chosen, Verdict) or refused:
            return _Objection(said.model_dump(mode="json"), refused), f"not taken: {'; '.join(refused)}"
        reasoning = " ".join(str(getattr(said, "reasoning", "")).split())[:LONGEST_REASONING]
        return replace(chosen, proposed_by=self._model.name, reasoning=reasoning), "proposed"

    async def _question(self, assignment: Assignment, objection: _Objection) -> Question:
        lessons = list(await self._lessons())
        facts = (*assignment.facts, *objection.facts, *([Fact("earlier objections", lessons, priority=9)] if lessons else ()))
        try:
            quoted = Quoted(select(facts, budget_tokens=BUDGET_TOKENS).facts, self._mint())
        except ContextBudgetError as exc:
            raise ModelError(f"what {self._model.name} has to know is too long for one question: {exc}") from exc
        return Question(f"{assignment.instructions}\n{quoted.rule}", quoted, assignment.answer.model_json_schema())

    @staticmethod
    def _without_model(saga: Saga, solved: tuple[Proposal, ...], why: str) -> tuple[Proposal, ...] | Infeasible:
        if not solved:
            return Infeasible((why,))
        left = [each for each in solved if each.plan_hash != saga.plan.hash]
        return tuple(replace(each, reasons=(*each.reasons, f"{why}: planned without it")) for each in left or solved)


def _standing_objection(saga: Saga) -> _Objection:
    """Return what the validators object to in the latest proposal; it is journalled, so it survives a restart."""
    verdict = saga.plan.verdict or {}
    if verdict.get("verdict") != VerdictStatus.INVALID.value:
        return _NOTHING
    return _Objection(None, tuple(str(each["message"]) for each in verdict.get("violations", ())[:_MOST_OBJECTIONS]))
