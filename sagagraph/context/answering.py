"""Answering: one question for which a typed answer is expected, or nothing if the model is of no help."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from sagagraph.context.model import MAX_ANSWER_TOKENS, Model, Question
from sagagraph.context.quoting import Quoted, new_nonce
from sagagraph.errors import UnusableAnswerError
from sagagraph.workflow.values import Json

A = TypeVar("A", bound=BaseModel)


async def answer_of(
    model: Model,
    instructions: str,
    data: Json,
    form: type[A],
    *,
    mint: Callable[[], str] = new_nonce,
    max_tokens: int = MAX_ANSWER_TOKENS,
) -> A | None:
    """Return the answer in its form; None if the model said something else.

    Raises:
        ModelError: the model cannot be asked.
    """
    quoted = Quoted(data, mint())
    question = Question(f"{instructions}\n{quoted.rule}", quoted, form.model_json_schema(), max_tokens=max_tokens)
    try:
        return form.model_validate((await model.answer(question)).content)
    except (UnusableAnswerError, ValidationError):
        return None
