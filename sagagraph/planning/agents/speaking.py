"""Speaking: an agent is asked, its validators answer, and their objections go into the next question, for a few rounds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from pydantic_core import to_jsonable_python

from sagagraph.context.model import Model, Question, Usage
from sagagraph.context.quoting import Quoted, new_nonce
from sagagraph.context.slice import ContextSlice, Fact, select
from sagagraph.errors import ModelError, UnusableAnswerError
from sagagraph.planning.agents.briefing import OBJECTIONS_TOKENS
from sagagraph.planning.agents.team import Agent, Role, Runnable, answer_of, schema_of
from sagagraph.planning.models.limits import Limits, Record, asked
from sagagraph.saga.core.state import Saga
from sagagraph.validators.candidates import ANSWER, OF_CANDIDATES, Candidate
from sagagraph.validators.protocol import judge
from sagagraph.validators.verdict import Verdict, VerdictStatus

ROUNDS: Final = 3
"""Questions to one agent for one plan, counted across restarts."""
OBJECTIONS: Final = "what was wrong with your last choice"
LESSONS: Final = "earlier objections"
_MOST_OBJECTIONS: Final = 5
_LONGEST: Final = 150


class Voice(Protocol):
    """Voice that answers for a role."""

    @property
    def name(self) -> str: ...

    @property
    def rounds_left(self) -> int: ...

    @property
    def turn(self) -> AbstractAsyncContextManager[object]:
        """Hold the turn from the question until its outcome is reported."""
        ...

    async def answer(self, facts: Mapping[str, Any]) -> Any:
        """Answer once. Raises `UnusableAnswerError` for an unusable answer, `ModelError` if nobody can be asked."""
        ...

    async def told(self, outcome: str, /) -> None:
        """Report what came of the answer: it is journalled with its cost."""
        ...


@dataclass(slots=True)
class Asking:
    """State that models share while one plan is made. `trouble`: why no model is asked any more."""

    model: Model
    limits: Limits
    record: Record
    saga: Saga
    """The saga after the last question."""
    mint: Callable[[], str] = new_nonce
    clock: Callable[[], float] = time.monotonic
    trouble: str = ""
    deadline: float = field(init=False)
    turn: asyncio.Semaphore = field(init=False)
    """If costs are limited, each question waits for the cost of the one before."""

    def __post_init__(self) -> None:
        self.deadline = self.clock() + self.limits.seconds
        is_limited = self.limits.cost_usd is not None or self.limits.tokens is not None
        self.turn = asyncio.Semaphore(1 if is_limited else 8)


class ModelVoice:
    """Voice of a model for one role: every question has a fresh context."""

    def __init__(self, asking: Asking, role: Role) -> None:
        self.name = asking.model.name
        self._asking = asking
        self._role = role
        self._usage = Usage(self.name, 0, 0, 0.0)

    @property
    def turn(self) -> asyncio.Semaphore:
        return self._asking.turn

    @property
    def rounds_left(self) -> int:
        return ROUNDS - self._asking.saga.plan.questions.get(self._role.name, 0)

    async def answer(self, facts: Mapping[str, Any]) -> Any:
        asking = self._asking
        if asking.trouble:
            raise ModelError(asking.trouble)
        quoted = Quoted(dict(facts), asking.mint())
        question = Question(f"{self._role.instructions}\n{quoted.rule}", quoted, schema_of(facts["inputs"]))
        if why := asking.limits.why_not(question, asking.saga.models):
            raise self._trouble(f"{self.name}: {why}")
        when = asking.clock(), asking.deadline
        answer, self._usage = await asking.limits.ask(asking.model, question, *when, asking.clock)
        if isinstance(answer, UnusableAnswerError):
            raise answer
        if isinstance(answer, ModelError):
            await self.told(str(answer))
            raise self._trouble(str(answer))
        return answer

    async def told(self, outcome: str, /) -> None:
        self._asking.saga = await self._asking.record(asked(self._role.name, self._usage, outcome))

    def _trouble(self, why: str) -> ModelError:
        self._asking.trouble = why
        return ModelError(why)


class AgentVoice:
    """Voice of the user's own agent. If it fails, its part is left to the search."""

    def __init__(self, agent: Agent | Runnable, limits: Limits) -> None:
        self.name = getattr(agent, "__name__", None) or type(agent).__name__
        self.rounds_left = ROUNDS
        self.turn: AbstractAsyncContextManager[object] = nullcontext()
        self._agent = agent
        self._limits = limits

    async def answer(self, facts: Mapping[str, Any]) -> Any:
        self.rounds_left -= 1
        try:
            async with asyncio.timeout(self._limits.seconds):
                return to_jsonable_python(await answer_of(self._agent, facts))
        except TimeoutError:
            raise ModelError(f"{self.name}: no answer within {self._limits.seconds:g} s") from None
        except Exception as exc:  # noqa: BLE001 - it is the user's code, and planning goes on without it
            raise ModelError(f"{self.name} failed: {type(exc).__name__}: {exc}") from None

    async def told(self, _outcome: str, /) -> None:
        """Do nothing: there is no cost to report."""


Found = dict[str, tuple[Candidate, ...]]
Heard = tuple[Found, str]
"""Valid candidates, if any, and otherwise why there are none."""


async def heard(voice: Voice, shown: ContextSlice, lessons: Sequence[str] = ()) -> Heard:
    """Ask until an answer is accepted, `voice` has no round left, or it cannot be asked."""
    objections: tuple[str, ...] = ()
    while voice.rounds_left > 0:
        more = [Fact(OBJECTIONS, list(objections))] if objections else []
        more += [Fact(LESSONS, list(lessons), priority=1)] if lessons else []
        facts = {**shown.facts, **select(more, budget_tokens=OBJECTIONS_TOKENS).facts}
        async with voice.turn:
            try:
                found, objections = await _round(voice, shown, facts)
            except ModelError as exc:
                return {}, f"{exc}: planned without it"
        if found:
            return found, ""
    return {}, f"{voice.name} proposed nothing valid in {ROUNDS} rounds: planned without it"


async def _round(voice: Voice, shown: ContextSlice, facts: Mapping[str, Any]) -> tuple[Found, tuple[str, ...]]:
    """Return candidates that are accepted, or the objections to what was said."""
    try:
        answer = await voice.answer(facts)
    except UnusableAnswerError as exc:
        await voice.told(str(exc))
        return {}, (str(exc),)
    verdict = await answered(answer, shown)
    if verdict.verdict is VerdictStatus.VALID:
        await voice.told("proposed")
        return ANSWER.validate_python(answer), ()
    objections = tuple(each.message[:_LONGEST] for each in verdict.violations[:_MOST_OBJECTIONS]) or (verdict.reason,)
    by = verdict.certificate.validator if verdict.certificate else ""
    await voice.told(f"not taken by {by}: {'; '.join(objections)}")
    return {}, objections


async def answered(answer: Any, shown: ContextSlice) -> Verdict:
    """Return the verdict of the first validator that does not accept the answer, by its certificate; VALID if all do."""
    verdict = Verdict.of([])
    for validator in OF_CANDIDATES:
        verdict = await judge(validator, answer, shown)
        if verdict.verdict is not VerdictStatus.VALID:
            return verdict
    return verdict
