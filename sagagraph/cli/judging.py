"""Judging: a plan in a file, whoever made it, by the independent validators of its domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sagagraph.cli import render
from sagagraph.cli.options import Options
from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS, select, tokens_of
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file
from sagagraph.planning.entry import Case
from sagagraph.registry import require_entry, surroundings
from sagagraph.validators.llm_judge import LlmJudge
from sagagraph.validators.protocol import judge as judged
from sagagraph.validators.registry import Judgement
from sagagraph.validators.verdict import Verdict

if TYPE_CHECKING:
    from sagagraph.context.model import Model


_LONGEST_TOKENS: Final = 4 * DEFAULT_BUDGET_TOKENS
"""The longest plan, in tokens, that a model is shown."""


async def judge(options: Options, domain: str, case: Case, criterion: str | None = None) -> int:
    """Judge a plan. `criterion`: what a model is asked about it as well; it can reject a plan, but never pass one that is
    INVALID.
    """
    entry = require_entry(domain)
    if case.without_time_constraints and not entry.has_time_constraints:
        raise InvalidInputError(f"{domain} has no time constraints that can be left out", field="--without-time-constraints")
    async with surroundings(options.settings) as around:
        model = None if criterion is None else _required(around.model())
        verdict = await entry.judge(case, around)
        if criterion is not None and model is not None:
            verdict = _both(verdict, await _opinion(criterion, model, json_file(case.plan, "PLAN")))
    if options.as_json:
        render.print_json(verdict.model_dump(mode="json"))
    else:
        render.print_verdict(verdict)
    return 0 if verdict.is_valid else 1


def _required(model: Model | None) -> Model:
    if model is None:
        raise InvalidInputError("is for a model to judge: name one in SAGAGRAPH_MODEL", field="--criterion")
    return model


async def _opinion(criterion: str, model: Model, plan: Any) -> Verdict:
    if (tokens := tokens_of(plan)) > _LONGEST_TOKENS:
        return Verdict.unknown(f"{model.name} was not asked: the plan has {tokens} tokens, more than {_LONGEST_TOKENS}")
    return await judged(LlmJudge("criterion", criterion, model), plan, select(()))


def _both(verdict: Verdict, opinion: Verdict) -> Verdict:
    certificates = (*verdict.certificates, *([opinion.certificate] if opinion.certificate else []))
    union = Judgement((verdict, opinion)).verdict
    return union.model_copy(update={"certificate": verdict.certificate, "certificates": certificates})
