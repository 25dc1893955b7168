"""Verification of a task's output: what can be checked is checked, the rest a judge of another family scores (PRD-102, 7)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct
from pydantic import BaseModel, Field

from sagagraph.context.answering import answer_of
from sagagraph.context.model import Model
from sagagraph.context.quoting import new_nonce
from sagagraph.context.slice import Fact as Shown
from sagagraph.context.slice import select
from sagagraph.coordination.core.config import Config
from sagagraph.coordination.core.plan import Criterion, TaskSpec, TaskType
from sagagraph.errors import InvalidInputError, UnusableAnswerError
from sagagraph.harness.designs import broken_rules
from sagagraph.workflow.language.schemas import misfits
from sagagraph.workflow.values import Json

_CHEAP: Final = Decimal("0.05")
"""The output of a task that costs less is not judged."""
_JUDGE_READS: Final = 4000
"""The tokens of a judge's slice."""
_INSTRUCTIONS: Final = (
    "You score the output of a task by criteria, each from 1 (not met at all) to 5 (fully met), with your confidence from 0 to 1 "
    "and a reason of one sentence. Say in task_wrong why no output could meet the task, if that is so; otherwise leave it empty. "
    "Answer with the nonce of the data, and one score for each number."
)


class Outcome(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict
    PARTIAL = "partial"
    FAIL = "fail"


class Score(Struct, frozen=True):
    """Score of one criterion, from 0 to 1."""

    criterion: str
    score: float
    met: bool
    reason: str = ""
    confidence: float = 1.0


class Verification(Struct, frozen=True):
    """Verification. `unsure`: a person looks at it, whatever the outcome. `task_wrong`: no output could meet the task."""

    outcome: Outcome
    score: float
    scores: tuple[Score, ...]
    confidence: float = 1.0
    by: str = "checks"
    task_wrong: str = ""

    @property
    def unmet(self) -> tuple[Score, ...]:
        return tuple(each for each in self.scores if not each.met)


class _Opinion(BaseModel, extra="forbid", title="Scores"):
    class OfOne(BaseModel, extra="forbid"):
        number: int = Field(ge=1)
        score: int = Field(ge=1, le=5)
        confidence: float = Field(ge=0, le=1)
        reason: str = Field(max_length=400)

    nonce: str
    scores: list[OfOne]
    task_wrong: str = Field("", max_length=400)


async def verified(
    task: TaskSpec, output: Json, config: Config, judge: Model | None, *, mint: Callable[[], str] = new_nonce
) -> Verification:
    """Verify an output. Raises `ModelError` if the judge cannot be asked, or says something else than scores."""
    checked = {number: _checked(each, output) for number, each in enumerate(task.criteria, 1) if each.check}
    fatal = any(not checked[number].met for number, each in enumerate(task.criteria, 1) if each.must_pass and number in checked)
    left = [(number, each) for number, each in enumerate(task.criteria, 1) if number not in checked]
    if fatal or not left or judge is None or not needs_judge(task, config):
        return _summed(task.criteria, checked, config)
    nonce = mint()
    opinion = await answer_of(judge, _INSTRUCTIONS, _shown(task, output, left), _Opinion, mint=lambda: nonce)
    if opinion is None or opinion.nonce != nonce or {each.number for each in opinion.scores} != {number for number, _c in left}:
        raise UnusableAnswerError(f"{judge.name} did not score these criteria in the form asked for")
    for each in opinion.scores:
        value = (each.score - 1) / 4
        criterion = task.criteria[each.number - 1].criterion
        checked[each.number] = Score(criterion, value, each.score >= 4, each.reason, each.confidence)
    return _summed(task.criteria, checked, config, judge.name, opinion.task_wrong)


def needs_judge(task: TaskSpec, config: Config) -> bool:
    return config.judges and task.type is not TaskType.SIMPLE and task.cost >= _CHEAP and not all(c.check for c in task.criteria)


def _shown(task: TaskSpec, output: Json, left: Sequence[tuple[int, Criterion]]) -> Json:
    rubric = [{"number": number, "criterion": each.criterion} for number, each in left]
    facts = [Shown("task", task.description or task.title, critical=True), Shown("criteria", rubric, critical=True)]
    text = text_of(output)
    while True:
        chosen = select([*facts, Shown("output", text)], budget_tokens=_JUDGE_READS)
        if "output" in chosen.facts or not text:
            return chosen.facts
        text = text[: len(text) * 3 // 4]


def _summed(
    criteria: Sequence[Criterion], scores: Mapping[int, Score], config: Config, by: str = "checks", task_wrong: str = ""
) -> Verification:
    """Sum up what was scored; a criterion that nobody could score counts neither way."""
    told = [(criteria[number - 1], scores[number]) for number in sorted(scores)]
    weight = sum(each.weight for each, _score in told)
    mean = sum(each.weight * score.score for each, score in told) / weight if weight else 1.0
    confidence = min((score.confidence for _each, score in told), default=1.0)
    failed = any(each.must_pass and not score.met for each, score in told)
    outcome = Outcome.FAIL if failed else Outcome.PASS if mean >= config.pass_at - 1e-9 else Outcome.PARTIAL
    return Verification(outcome, mean, tuple(score for _each, score in told), confidence, by, task_wrong)


# -- checks ------------------------------------------------------------------------------------------------------------


def text_of(output: Json) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, sort_keys=True)


def _checked(criterion: Criterion, output: Json) -> Score:
    why = "; ".join(_objections(criterion.check, output))
    return Score(criterion.criterion, 0.0 if why else 1.0, not why, why)


def _objections(check: Mapping[str, Any], output: Json) -> Iterator[str]:
    text = text_of(output)
    for name, wanted in check.items():
        known = CHECKS.get(name)
        if known is None:
            raise InvalidInputError(f"there are checks {', '.join(CHECKS)}, not {name!r}", field="criteria.check")
        yield from known(text, output, wanted)


def _missing(words: Sequence[str], text: str, what: str) -> Iterator[str]:
    lower = text.lower()
    if missing := [each for each in words if each.lower() not in lower]:
        yield f"missing {len(missing)} of {len(words)} {what}: {', '.join(missing)}"


def _bounded(number: int, bounds: Mapping[str, int], what: str) -> Iterator[str]:
    if number < bounds.get("min", 0):
        yield f"{number} {what}, at least {bounds['min']} are wanted"
    if number > bounds.get("max", number):
        yield f"{number} {what}, at most {bounds['max']} are wanted"


_MOST_MATCHED: Final = 100_000

CHECKS: Final[Mapping[str, Callable[[str, Json, Any], Iterator[str]]]] = {
    "sections": lambda text, _output, wanted: _missing(wanted, text, "sections"),
    "keywords": lambda text, _output, wanted: _missing(wanted, text, "keywords"),
    "words": lambda text, _output, wanted: _bounded(len(text.split()), wanted, "words"),
    "length": lambda text, _output, wanted: _bounded(len(text), wanted, "characters"),
    "regex": lambda text, _output, wanted: (
        f"nothing in it matches {each}" for each in [wanted] if not re.search(each, text[:_MOST_MATCHED])
    ),
    "urls": lambda text, _output, wanted: _bounded(len(re.findall(r"https?://[^\s<>\"')]+", text)), wanted, "URLs"),
    "schema": lambda _text, output, wanted: iter(misfits(output, wanted)),
    "harness": lambda _text, output, name: broken_rules(output, str(name)),
    "equals": lambda _text, output, wanted: iter(() if output == wanted else ("it is not what was wanted",)),
}
"""Ways to tell without a model. Each yields what is wrong."""
