"""Decomposition: goals become plans of registered actions, by a template for known request types, by a model for novel ones.

The generic validators check every plan before any of it can be accepted (PRD-102 section 5: HTN-inspired hybrid,
"template library, model for novel goals, structural validation for all plans"). A model gets a few rounds, each with the
objections to its last plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec import structs
from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema

from sagagraph.context.model import Model, Question, Usage
from sagagraph.context.quoting import Quoted, new_nonce
from sagagraph.context.slice import Fact, content_hash, select
from sagagraph.errors import ContextBudgetError, ModelError, UnusableAnswerError
from sagagraph.planning.checking import over_budget, structural_faults
from sagagraph.planning.goals.rounds import Round
from sagagraph.planning.goals.templates import TemplateLibrary
from sagagraph.saga.engine.actions import Action, to_json
from sagagraph.validators.document import PLAN, Step
from sagagraph.validators.kinds import Kind
from sagagraph.validators.registry import Judgement, facts_of, generic_validators, judge_by
from sagagraph.validators.verdict import Verdict, VerdictStatus, Violation
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec

ROUNDS: Final = 3
BUDGET_TOKENS: Final = 2000
_MOST_OBJECTIONS: Final = 10
_INSTRUCTIONS = (
    "You plan a goal as steps. The data holds the goal and the actions that there are, with their inputs, outputs and kinds. "
    "Use only these actions. Steps wait for those in depends_on; a step that uses an output of another one says "
    '{"$from": step id, "path": [field]} in its inputs, and depends on it. Steps never wait for each other in a circle. '
    "Everything compensatable comes before the one pivot, everything retriable after it. The estimated costs of all steps "
    "stay within the budget. Answer with the steps."
)


@dataclass(frozen=True, slots=True)
class Decomposed:
    """`specs`: only where the verdict is VALID. `made_by`: `template`, or the model's name."""

    made_by: str
    plan: Mapping[str, Any]
    verdict: Verdict
    specs: tuple[OperationSpec, ...] = ()
    rounds: tuple[Round, ...] = ()


class Decomposer:
    """`model`: None where only requests of known types can be planned."""

    def __init__(
        self,
        actions: Sequence[Action],
        templates: TemplateLibrary,
        model: Model | None = None,
        *,
        mint: Callable[[], str] = new_nonce,
    ) -> None:
        self._actions = {each.name: each for each in actions}
        self._templates = templates
        self._model = model
        self._mint = mint

    async def decompose(self, request: Any, *, budget: float | None = None) -> Decomposed:
        """Returns a plan for `request`, judged. A verdict other than VALID says why there is none; that raises nothing.

        Raises:
            InvalidInputError: a request of a known type does not match its form.
            ModelError: the model cannot be asked.
        """
        known = self._templates.plan_of(request)
        if known is not None:
            return await self._made("template", known, budget)
        if self._model is None:
            return Decomposed("nobody", {}, Verdict.unknown("no template fits the request, and no model is at hand"))
        return await self._by_model(self._model, request, budget)

    async def _by_model(self, model: Model, request: Any, budget: float | None) -> Decomposed:
        rounds: list[Round] = []
        decomposed = Decomposed(model.name, {}, Verdict.unknown(f"{model.name} was not asked"))
        objections: tuple[str, ...] = ()
        for number in range(1, ROUNDS + 1):
            try:
                answer = await model.answer(self._question(request, budget, objections))
            except UnusableAnswerError as exc:
                usage = exc.usage if isinstance(exc.usage, Usage) else Usage(model.name, 0, 0, 0.0)
                rounds.append(Round(number, usage, str(exc)))
                objections = (str(exc),)
                continue
            plan = answer.content if isinstance(answer.content, Mapping) else {"steps": answer.content}
            decomposed = await self._made(model.name, plan, budget)
            objections = tuple(each.message for each in decomposed.verdict.violations[:_MOST_OBJECTIONS])
            rounds.append(Round(number, answer.usage, decomposed.verdict.verdict.value))
            if decomposed.verdict.is_valid:
                break
        if decomposed.verdict.verdict is VerdictStatus.UNKNOWN:
            verdict = Verdict.unknown(f"{model.name} gave no plan in {ROUNDS} rounds: {'; '.join(objections)}")
            return Decomposed(model.name, {}, verdict, rounds=tuple(rounds))
        return Decomposed(model.name, decomposed.plan, decomposed.verdict, decomposed.specs, tuple(rounds))

    def _question(self, request: Any, budget: float | None, objections: tuple[str, ...]) -> Question:
        facts = [
            Fact("goal", request, critical=True),
            Fact("actions", interfaces_of(tuple(self._actions.values())), critical=True),
            *([] if budget is None else [Fact("budget", budget, critical=True)]),
            *([Fact("what was wrong with your last plan", list(objections), critical=True)] if objections else []),
        ]
        try:
            quoted = Quoted(select(facts, budget_tokens=BUDGET_TOKENS).facts, self._mint())
        except ContextBudgetError as exc:
            raise ModelError(f"the goal and the actions are too long for one question: {exc}") from exc
        return Question(f"{_INSTRUCTIONS}\n{quoted.rule}", quoted, {"title": "Plan", **PLAN.json_schema()})

    async def _made(self, made_by: str, plan: Mapping[str, Any], budget: float | None) -> Decomposed:
        verdict = await self.judged(plan, budget)
        return Decomposed(made_by, plan, verdict, self.workflow(plan) if verdict.is_valid else ())

    async def judged(self, plan: Any, budget: float | None) -> Verdict:
        """Judges a plan by the generic validators, and by its structure."""
        actions = tuple(self._actions.values())
        undoable = [each.name for each in actions if each.compensate is not None]
        facts = {"interfaces": interfaces_of(actions), "undoable": undoable}
        claimable = {} if budget is None else {"budget": budget}  # a claim may rest on it; inputs of that name are their own
        by_kind: list[Verdict] = []
        for each in generic_validators():
            known = {**facts, "facts": claimable} if Kind.REASONING in each.kinds else facts
            by_kind += (await judge_by([each.validator], plan, facts_of(known))).verdicts
        verdict = Judgement(tuple(by_kind)).verdict
        if not verdict.is_valid:
            return verdict
        document = PLAN.validate_python(plan)
        specs = [structs.replace(each, action_version=self._actions[each.action].version) for each in document.specs]
        cost = sum(step.cost for step in document.steps)
        return Verdict.of([*structural_faults(specs, actions), *_done_twice(document.steps), *over_budget(cost, budget)])

    def workflow(self, plan: Any) -> tuple[OperationSpec, ...]:
        """The operations of a plan that was judged VALID."""
        steps = PLAN.validate_python(plan).steps
        return tuple(self._actions[step.action].spec(step.id, step.inputs, step.depends_on) for step in steps)


def _done_twice(steps: Sequence[Step]) -> Iterator[Violation]:
    """Checks for steps with the same effect: a room that is booked twice is booked once too often."""
    first: dict[str, str] = {}
    for step in steps:
        effect = content_hash([step.action, to_json(step.inputs)])
        if step.kind is not ActionKind.READ_ONLY and first.setdefault(effect, step.id) != step.id:
            message = f"{step.id}: does again what {first[effect]} does: {step.action} with the same inputs"
            scope = {"operation": step.id, "operations": [first[effect], step.id]}
            yield Violation(code="DOUBLE_BOOKED", message=message, scope=scope)


def interfaces_of(actions: Sequence[Action]) -> dict[str, dict[str, Any]]:
    """What each action takes and returns, as the contract validator reads it: for types that are objects with known fields."""
    found: dict[str, dict[str, Any]] = {}
    for each in actions:
        interface: dict[str, Any] = {"kind": each.kind.value}
        takes, gives = _schema(each.request_type), _schema(each.result_type)
        if takes is not None:
            interface["inputs"] = _types(takes)
            interface["optional"] = sorted(takes["properties"].keys() - set(takes.get("required", ())))
        if gives is not None:
            interface["output"] = _types(gives)
        found[each.name] = interface
    return found


def _schema(kind: Any) -> Mapping[str, Any] | None:
    try:
        schema = TypeAdapter(kind).json_schema()
    except PydanticInvalidForJsonSchema:
        return None
    return schema if "properties" in schema else None


def _types(schema: Mapping[str, Any]) -> dict[str, str]:
    return {name: field.get("type", "any") for name, field in schema["properties"].items()}
