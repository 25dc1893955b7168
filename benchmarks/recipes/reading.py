"""How often the words of a step are read as Recipe2Plan's annotators read them; precision, recall and F1 over all recipes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Final

from benchmarks.recipes.official import pairs
from sagagraph.context.model import Answer, Model, Question, Usage
from sagagraph.domains.recipes.model_reading import read_by_model
from sagagraph.domains.recipes.text import Belief, beliefs_of

GPT_4O: Final = {"concurrency": 76.12, "dependencies": 91.12, "objects": 90.34}
"""F1 in per cent, as the paper reports it."""

Facts = Mapping[str, set[Any]]


def agreement(believed: set[Any], annotated: set[Any]) -> tuple[float, float, float]:
    """Return precision, recall and F1; what nobody said was never wrong."""
    common = len(believed & annotated)
    precision = common / len(believed) if believed else 1.0
    recall = common / len(annotated) if annotated else 1.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def measured(model: Model | None = None) -> dict[str, tuple[float, float, float]]:
    """Agreement of the rules alone, or of the rules with a model."""
    believed: dict[str, set[Any]] = {name: set() for name in GPT_4O}
    annotated: dict[str, set[Any]] = {name: set() for name in GPT_4O}
    for name, steps in _recipes().items():
        for step, belief in zip(steps, _beliefs(name, [step["text"] for step in steps], model), strict=True):
            place = name, step["step"]
            ours = {"concurrency": [0] * belief.is_alone, "dependencies": belief.after, "objects": belief.uses}
            theirs = {"concurrency": [0] * step["parallel"], "dependencies": step["prequisites"], "objects": step["physical"]}
            for what in GPT_4O:
                believed[what] |= {(place, each) for each in ours[what]}
                annotated[what] |= {(place, each) for each in theirs[what]}
    return {what: agreement(believed[what], annotated[what]) for what in GPT_4O}


def _recipes() -> dict[str, list[Any]]:
    return {recipe["recipe"]: recipe["steps"] for pair in pairs().values() for recipe in pair}


def _beliefs(name: str, texts: list[str], model: Model | None) -> tuple[Belief, ...]:
    """A model that lists other steps than there are is of no help."""
    reading = model and asyncio.run(read_by_model("\n".join((name, *texts)), model))
    claims = reading.claims[0] if reading and [len(each) for each in reading.claims] == [len(texts)] else ()
    return beliefs_of(texts, claims)


class Annotator:
    """A scripted model that answers what the annotators did, but for every third claim: that it puts in words nobody wrote."""

    name = "scripted:annotator"

    async def answer(self, question: Question) -> Answer:
        name = str(question.data.data["text"]).split("\n")[0]
        said = count()
        steps = [_told(step, lambda words: words if next(said) % 3 else "as everybody knows") for step in _recipes()[name]]
        return Answer({"dishes": [{"name": name, "steps": steps}]}, Usage(self.name, 0, 0, 0.0))


def _told(step: Any, quoted: Callable[[str], str]) -> dict[str, Any]:
    return {
        "words": step["text"],
        "minutes": None,
        "alone": quoted(step["text"]) if step["parallel"] else "",
        "divisible": quoted(step["text"]) if step["interrupt"] else "",
        "after": [{"step": each + 1, "words": quoted(step["text"])} for each in step["prequisites"]],
        "needs": [{"object": name, "words": quoted(step["text"])} for name in step["physical"]],
    }
