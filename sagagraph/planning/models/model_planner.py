"""Model planner: a model proposes, validators judge, and their objections join the next question, for a few rounds.

Every question has a fresh context: the request, what there is to choose from, the last choice and the objections to it. If no
round brings a plan that holds, the domain's solver plans.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from sagagraph.context.model import Answer, Model, Question, Usage
from sagagraph.context.quoting import Quoted, new_nonce
from sagagraph.context.slice import Fact, select
from sagagraph.errors import ModelError, UnusableAnswerError
from sagagraph.planning.domain import Infeasible, Proposal
from sagagraph.planning.models.assignment import Assigning, Assignment
from sagagraph.planning.models.rounds import Round, reasoning_line, rounds_in
from sagagraph.saga.core.state import Saga
from sagagraph.validators.verdict import Verdict, VerdictStatus

ROUNDS: Final = 3
"""Questions for one plan, counted across restarts as far as they led to a proposal."""
BUDGET_TOKENS: Final = 2000
"""For the facts in one question: there is more to choose from than to judge by."""
_MOST_OBJECTIONS: Final = 10

Lessons = Callable[[], Awaitable[Sequence[str]]]
"""What validators objected to in earlier sagas, in our own words."""


async def no_lessons() -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class _Objection:
    """The previous choice and what was wrong with it. Quoted: it may hold what others wrote."""

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
        lessons: Lessons = no_lessons,
        mint: Callable[[], str] = new_nonce,
    ) -> None:
        self._model = model
        self._domain = domain
        self._lessons = lessons
        self._mint = mint

    async def propose(self, saga: Saga) -> tuple[Proposal, ...] | Infeasible:
        """Returns the model's plan with the solver's as well; the solver's alone once the rounds are over.

        Raises:
            ModelError: the model cannot be asked. The saga stays in planning, and continues when it is resumed.
            ProviderError: the domain's provider cannot be asked.
        """
        assignment = await self._domain.assignment(saga.request)
        if isinstance(assignment, Infeasible):
            return assignment
        objection, rounds = _standing_objection(saga), list[Round]()
        for number in range(self._rounds_spent(saga) + 1, ROUNDS + 1):
            found = await self._round(number, saga, assignment, objection, rounds)
            if isinstance(found, Proposal):
                others = [each for each in assignment.solved if each.plan_hash != found.plan_hash]
                return (found, *others)
            objection = found
        return self._without_model(saga, assignment.solved, rounds)

    async def _round(
        self, number: int, saga: Saga, assignment: Assignment, objection: _Objection, rounds: list[Round]
    ) -> Proposal | _Objection:
        try:
            answer = await self._answer(saga, assignment, objection)
        except UnusableAnswerError as exc:
            usage = exc.usage if isinstance(exc.usage, Usage) else Usage(self._model.name, 0, 0, 0.0)
            rounds.append(Round(number, usage, str(exc)))
            return _Objection(None, (str(exc),))
        try:
            read = assignment.answer.model_validate(answer.content)
        except ValidationError as exc:
            violations = tuple(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in exc.errors()[:_MOST_OBJECTIONS])
            rounds.append(Round(number, answer.usage, f"not in the form asked for: {'; '.join(violations)}"))
            return _Objection(None, violations)
        chosen = await self._domain.chosen(saga.request, read, assignment)
        refused = _refused(chosen, saga)
        if isinstance(chosen, Verdict) or refused:
            rounds.append(Round(number, answer.usage, f"not taken: {'; '.join(refused)}"))
            return _Objection(read.model_dump(mode="json"), refused)
        rounds.append(Round(number, answer.usage, "proposed"))
        return replace(chosen, reasons=(*chosen.reasons, *_told(read), *(each.line for each in rounds)))

    async def _answer(self, saga: Saga, assignment: Assignment, objection: _Objection) -> Answer:
        lessons = list(await self._lessons())
        facts = (*assignment.facts, *objection.facts, *([Fact("earlier objections", lessons, priority=9)] if lessons else ()))
        quoted = Quoted(select(facts, budget_tokens=BUDGET_TOKENS).facts, self._mint())
        question = Question(f"{assignment.instructions}\n{quoted.rule}", quoted, assignment.answer.model_json_schema())
        try:
            return await self._model.answer(question)
        except UnusableAnswerError:
            raise
        except ModelError as exc:
            message = f"{exc}; saga {saga.id!r} waits in planning: resume it"
            raise ModelError(message, saga_id=saga.id) from None  # its cause is not repeated either

    @property
    def _given_up(self) -> str:
        return f"{self._model.name} proposed nothing that holds in {ROUNDS} rounds: planned without it"

    def _rounds_spent(self, saga: Saga) -> int:
        """Counts the rounds that the latest proposal reports: several may have led to it."""
        if self._given_up in saga.plan.reasons:
            return ROUNDS
        return max((each.number for each in rounds_in(saga.plan.reasons)), default=saga.plan.proposals)

    def _without_model(self, saga: Saga, solved: tuple[Proposal, ...], rounds: Sequence[Round]) -> tuple[Proposal, ...]:
        told = self._given_up
        lines = tuple(each.line for each in rounds)
        left = [each for each in solved if each.plan_hash != saga.plan.hash]
        return tuple(replace(each, reasons=(*each.reasons, told, *lines)) for each in left or solved)


def _standing_objection(saga: Saga) -> _Objection:
    """What the validators object to in the latest proposal; journalled, so it survives a restart."""
    verdict = saga.plan.verdict or {}
    if verdict.get("verdict") != VerdictStatus.INVALID.value:
        return _NOTHING
    return _Objection(None, tuple(str(each["message"]) for each in verdict.get("violations", ())[:_MOST_OBJECTIONS]))


def _refused(chosen: Proposal | Verdict, saga: Saga) -> tuple[str, ...]:
    if isinstance(chosen, Verdict):
        return tuple(each.message for each in chosen.violations) or (chosen.reason,)
    is_repeated = saga.plan.verdict is not None and chosen.plan_hash == saga.plan.hash
    return ("it is the choice that was judged before",) if is_repeated else ()


def _told(answer: BaseModel) -> tuple[str, ...]:
    reasoning = getattr(answer, "reasoning", "")
    return (reasoning_line(reasoning),) if reasoning else ()
