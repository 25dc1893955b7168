"""Text: recipes in plain words, a step a line. If a line does not state a time, the reader asks for it, and never makes one up.

What else the words say is believed: what runs unattended, what comes after what, what needs which object. (Recipe2Plan's three
annotations; docs/recipes.md has how often this agrees with them.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat, zip_longest
from typing import Any, Final

from sagagraph.domains.recipes.plan import clock
from sagagraph.domains.recipes.request import FIELD, MOST_STEPS, Meal, Step, parse_meal
from sagagraph.errors import InvalidInputError
from sagagraph.language.forms import Forms

_UNIT: Final = r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)"
TIME: Final = re.compile(rf"(?i)(\d+)\s*({_UNIT})\b")
_ASIDE: Final = re.compile(r"\(([^()]*)\)\s*[.!]?\s*$")
_WITHIN: Final = re.compile(rf"(?i)\bwithin (\d+\s*{_UNIT})\b(?: of step (\d+))?")
_NUMBER: Final = re.compile(r"(?i)^\s*(?:step\s*)?(\d+)\s*[.):]\s*|^\s*[-*•]\s*")
_DEGREES: Final = re.compile(r"(\d{2,3})\s*(?:°|degrees|deg\b)?\s*(c|celsius|f|fahrenheit)?\b")
_WORD: Final = re.compile(r"[a-z]{3,}")
_SAYS: Final = Forms(__file__, "words")
_OBJECTS: Final = Forms(__file__, "objects")
"""In the oven is not on the stove: the first one mentioned counts."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim of somebody else about a step; None: nothing, so that the rules read it."""

    is_alone: bool | None = None
    is_divisible: bool | None = None
    after: tuple[int, ...] | None = None
    object: str | None = None
    """Empty: it needs none."""


@dataclass(frozen=True, slots=True)
class Belief:
    is_alone: bool
    is_divisible: bool
    """It is work of many small moves, such as chopping, which can be interrupted and resumed."""
    after: tuple[int, ...]
    """Places of earlier steps."""
    uses: Mapping[str, Any]
    """In Recipe2Plan's form; temperatures are in degrees Fahrenheit."""


def read_meal(text: str, claims: Sequence[Sequence[Claim]] = ()) -> Meal:
    """Read recipes, a blank line between them: a name and then the steps, a line each, as in `Whisk the eggs (5 min).`

    Lines may be numbered from 1. Its time is in brackets at the end of a step, or else in its text; `within 2 min of step 3` is a
    time constraint. `alone`, `by hand` and `in one go` in the brackets correct how the words are understood. `claims`: what else
    is known about each step of each recipe. Raises `InvalidInputError`, which names the line, and what to add.
    """
    recipes = []
    blocks = re.split(r"\n\s*\n", text.strip())
    for block, said in zip_longest(blocks, claims[: len(blocks)], fillvalue=()):
        name, *lines = str(block).strip().splitlines() or [""]
        if not lines:
            raise InvalidInputError("write the recipe's name, and then each step on a line of its own", field=FIELD)
        if len(lines) > MOST_STEPS:
            raise InvalidInputError(f"there are more than {MOST_STEPS} steps", field=FIELD)
        steps = [_NUMBER.sub("", line.strip()) for line in lines]
        beliefs = beliefs_of([_ASIDE.sub("", step) for step in steps], said)
        documents = [_document(number, step, belief) for number, (step, belief) in enumerate(zip(steps, beliefs, strict=True))]
        recipes.append({"recipe": re.sub(r"\W+", "-", name).strip("-"), "steps": documents})
    return parse_meal(recipes)


def _document(number: int, text: str, belief: Belief) -> dict[str, Any]:
    """Make the document. A step that must follow in time follows the step that is named, or else the last one that it
    continues.
    """
    aside = _ASIDE.search(text)
    remark = aside[1].casefold() if aside else ""
    within = _WITHIN.search(text)
    said = TIME.findall(_WITHIN.sub("", remark)) or TIME.findall(_WITHIN.sub("", text))
    if not said:
        raise InvalidInputError("say how long it takes, as in (5 min)", field=f"step {number + 1}, {text!r}")
    before = int(within[2]) - 1 if within and within[2] else max(belief.after, default=number - 1)
    if within and not 0 <= before < number:
        told = "`within` needs an earlier step: name it, as in within 2 min of step 1"
        raise InvalidInputError(told, field=f"step {number + 1}")
    alone = "alone" in remark or (belief.is_alone and "by hand" not in remark)
    return {
        "text": _ASIDE.sub("", text),
        "time": " ".join(said[-1]),
        "parallel": alone,
        "interrupt": not alone and belief.is_divisible and "one go" not in remark and within is None,
        "prequisites": sorted({*belief.after, *([before] if within else [])}),
        "time_constraint": {before: within[1]} if within else {},
        "physical": belief.uses,
    }


def described(step: Step, first: int = 1) -> str:
    """Describe how a step is understood. Steps are numbered from `first`."""
    how = "goes on alone" if step.is_autonomous else "may be interrupted" if step.is_interruptible else "in one go"
    after = [f"after {', '.join(str(number + first) for number in step.after)}"] if step.after else []
    within = [f"within {clock(limit)} of {number + first}" for number, limit in step.within.items()]
    uses = []
    for name, use in step.uses.items():
        heat = use.update.get("temperature", use.require.get("temperature"))
        uses.append(name if heat is None else f"{name} {'to' if use.update else 'at'} {heat:g} °F")
    return f"{step.number + first}. {step.text}: {', '.join([clock(step.duration), how, *after, *within, *uses])}"


def beliefs_of(texts: Sequence[str], claims: Sequence[Claim] = ()) -> tuple[Belief, ...]:
    """Return one belief for each step, in the order of the recipe. Claims about a step take precedence; the rules read
    the rest.
    """
    texts = [text.casefold() for text in texts]
    found: list[Belief] = []
    heated: float | None = None
    for place, (text, claim) in enumerate(zip(texts, claims or repeat(Claim()), strict=False)):
        name = next((name for name in _OBJECTS if _OBJECTS[name].search(text)), "")
        after = tuple(sorted(set(_after(texts, found, place, name)))) if claim.after is None else claim.after
        is_heating = bool(_SAYS.heated_up.search(text))
        if not name and any("stove" in found[each].uses for each in after) and _SAYS.stays.search(text):
            name = "" if _SAYS.leaves.search(text) else "stove"
        name = name if claim.object is None else claim.object
        use = {"require": {"temperature": heated}} if name == "oven" and heated is not None else {}
        if name == "oven" and is_heating and (said := _DEGREES.search(text)):
            heated = round(float(said[1]) * 9 / 5 + 32, 1) if (said[2] or "").startswith("c") else float(said[1])
            use = {"update": {"temperature": heated}}
        is_alone, is_divisible = claim.is_alone, claim.is_divisible
        if is_alone is None:
            is_alone = is_heating or (bool(_SAYS.alone.search(text)) and not _SAYS.by_hand.search(text))
        if is_divisible is None:
            is_divisible = bool(_SAYS.divisible.search(text))
        found.append(Belief(is_alone, is_divisible and not is_alone, after, {name: use} if name else {}))
    return tuple(found)


def _after(texts: Sequence[str], found: Sequence[Belief], place: int, name: str) -> Iterator[int]:
    """Yield what it comes after: what is at hand, unless it begins anew, and everything that it names and nothing has used."""
    text = texts[place]
    if _SAYS.heated_up.search(text):
        return
    heaters = [earlier for earlier in range(place) if "update" in found[earlier].uses.get("oven", {})]
    if name == "oven":
        yield from heaters[-1:]
    used = {earlier for belief in found for earlier in belief.after}
    ends = [earlier for earlier in range(place) if earlier not in used and earlier not in heaters]
    yield from (earlier for earlier in ends if _contents(texts, found, earlier) & _things(text))
    if ends and not _SAYS.anew.search(text):
        yield ends[-1]


def _contents(texts: Sequence[str], found: Sequence[Belief], place: int) -> set[str]:
    """Return what has gone into a step."""
    return _things(texts[place]).union(*(_contents(texts, found, each) for each in found[place].after))


def _things(text: str) -> set[str]:
    return {word.rstrip("s") for word in _WORD.findall(text)} - _SAYS.listed("COMMON")
