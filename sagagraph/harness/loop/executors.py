"""Executors: functions that propose values. One obeys its gradients and needs no model; one asks a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sagagraph.context.model import Model, Question
from sagagraph.context.quoting import Quoted
from sagagraph.errors import UnusableAnswerError
from sagagraph.harness.loop.convergence import Executor, Slice
from sagagraph.harness.loop.decomposition import SCHEMA, Decomposer

INSTRUCTIONS = (
    "Choose one number for an engineering artifact. The data says which variable, its unit, what is decided already and, "
    "after a failed attempt, which way to move and how far. Answer with the JSON object that the schema describes, nothing else. "
)
TASKS = (
    "Divide the request in the data into small tasks, each of which decides one variable or a few that belong together. Describe "
    "a task by itself; name its parents, and which of their variables it has to know. Answer with the JSON object that the "
    "schema describes, nothing else. "
)


def obedient() -> Executor:
    """Begin in the middle of the domain, then do what the gradient says."""

    async def propose(seen: Slice, _attempt: str) -> Any:
        asked = seen.schema["properties"][seen.variable]
        if seen.gradient is not None and seen.gradient["boundary"] is not None:
            return {seen.variable: seen.gradient["boundary"]}
        if "enum" in asked:
            return {seen.variable: asked["enum"][0]}
        if asked["type"] in ("boolean", "string"):
            return {seen.variable: asked["type"] == "boolean"}
        middle = (asked.get("minimum", 0) + asked.get("maximum", 0)) / 2
        return {seen.variable: int(middle) if asked["type"] == "integer" else middle}

    return propose


def asking(model: Model, nonce: Callable[[], str]) -> Executor:
    """Ask a language model, each question in a context of its own."""

    return lambda seen, _attempt: _answer(model, INSTRUCTIONS, Quoted(data_of(seen), nonce()), seen.schema)


def decomposing(model: Model, nonce: Callable[[], str]) -> Decomposer:
    """Ask a language model for tasks."""

    return lambda asked, _round: _answer(model, TASKS, Quoted(dict(asked), nonce()), SCHEMA)


async def _answer(model: Model, instructions: str, data: Quoted, schema: Mapping[str, Any]) -> Any:
    """Return the answer; one that cannot be read counts as an attempt, or a round."""
    try:
        return (await model.answer(Question(instructions + data.rule, data, schema))).content
    except UnusableAnswerError:
        return None


def data_of(seen: Slice) -> dict[str, Any]:
    """Return what a slice shows, and nothing else."""
    data: dict[str, Any] = {"variable": seen.variable, "unit": seen.unit, "decided": dict(seen.context)}
    if seen.description:
        data["task"] = seen.description
    if seen.gradient is not None:
        data |= {"gradient": dict(seen.gradient), "said": seen.said}
    return data


def scripted(answers: Mapping[str, Any]) -> Executor:
    """Give prepared answers by attempt (`x-1`), repeating the last one of a variable."""

    async def propose(seen: Slice, attempt: str) -> Any:
        last = [each for name, each in answers.items() if name.rpartition("-")[0] == seen.variable]
        return answers.get(attempt, last[-1] if last else None)

    return propose
