"""The agents of Recipe2Plan's paper: open loop, closed loop, and a planner whose critics are our validators.

A model is a function from a prompt to an answer, in which actions are lines `Step(3, Cobbler, 00:01:00, 00:02:00)`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from benchmarks.recipes.heuristic import heuristic
from sagagraph.domains.recipes.plan import Row, clock, makespan
from sagagraph.domains.recipes.planning.planner import plan_meal
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.request import Meal
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.planning.budget import Budget
from sagagraph.validators.verdict import Violation

Ask = Callable[[str], str]
ROUNDS: Final = 10
_ACTION: Final = re.compile(r"Step\((\d+), ([^,()]+), (\d+):(\d\d):(\d\d), (\d+):(\d\d):(\d\d)\)")
_WAIT: Final = re.compile(r"Wait\((\d+):(\d\d):(\d\d)\)")
CRITICS: Final = {
    "completeness": {"MISSING_STEP", "UNKNOWN_RECIPE", "UNKNOWN_STEP", "MALFORMED"},
    "duration": {"DURATION", "REPEATED"},
    "concurrency": {"OVERLAP", "IN_THE_PAST"},
    "interruption": {"NOT_INTERRUPTIBLE"},
    "dependency": {"NOT_READY"},
    "time constraint": {"TOO_LATE"},
    "object": {"OCCUPIED", "TEMPERATURE", "VOLUME"},
}
"""By critic: the codes of which it speaks."""


@dataclass(frozen=True, slots=True)
class Ended:
    rows: tuple[Row, ...]
    how: str
    """`done`, or why the agent was stopped; of a loop of critics: who made the plan, `model` or `solver`."""
    rounds: int = 1


def actions_in(answer: str) -> tuple[Row, ...]:
    return tuple(
        Row(int(step), recipe.strip(), _seconds(*duration), _seconds(*start))
        for step, recipe, *times in _ACTION.findall(answer)
        for duration, start in [(times[:3], times[3:])]
    )


def written(rows: Iterable[Row]) -> str:
    return "\n".join(f"Step({row.step}, {row.recipe}, {clock(row.duration)}, {clock(row.start)})" for row in rows)


def _seconds(hours: str, minutes: str, seconds: str) -> int:
    return 3600 * int(hours) + 60 * int(minutes) + int(seconds)


def open_loop(meal: Meal, ask: Ask) -> Ended:
    """One plan, as it comes."""
    return Ended(actions_in(ask(_task(meal))), "done")


def closed_loop(meal: Meal, ask: Ask) -> Ended:
    """One action or one wait at a time; stopped at a third attempt of the same action and at any broken time constraint."""
    rows: tuple[Row, ...] = ()
    tried: Counter[Row] = Counter()
    now, told = 0, ""
    while not validate_plan(meal, _listed(rows)).is_valid:
        answer = ask(f"{_task(meal)}\nNow: {clock(now)}\nDone and going on:\n{written(rows)}\n{told}")
        action, wait = actions_in(answer)[:1], _WAIT.search(answer)
        if wait:
            now, told = now + max(1, _seconds(*wait.groups())), ""
        elif not action:
            return Ended(rows, "no action")
        else:
            tried[action[0]] += 1
            faults = _faults_of_last(meal, (*rows, *action))
            if "TOO_LATE" in {fault.code for fault in faults}:
                return Ended(rows, "a time constraint is broken")
            if faults and (tried[action[0]] == 3 or tried.total() - len(rows) > ROUNDS):
                return Ended(rows, "the same action again" if tried[action[0]] == 3 else "too many revisions")
            told = "\n".join(fault.message for fault in faults)
            rows, now = (rows, now) if faults else ((*rows, *action), max(now, action[0].start))
        if now > 2 * sum(step.duration for step in meal.steps.values()) + 3600:
            return Ended(rows, "nothing goes on")
    return Ended(rows, "done")


def _faults_of_last(meal: Meal, rows: Sequence[Row]) -> list[Violation]:
    """What is wrong with the last action; that steps are not complete yet is wrong only if it comes after them."""
    step = meal.steps.get(rows[-1].key)
    before = {each.key for each in meal.before(step)} if step else set()
    left = {key: each.duration - sum(row.duration for row in rows if row.key == key) for key, each in meal.steps.items()}
    faults = []
    for fault in validate_plan(meal, _listed(rows)).violations:
        key = fault.scope.get("recipe"), fault.scope.get("step")
        is_last = fault.scope.get("row") == len(rows) - 1
        is_unfinished = fault.code == "DURATION" and key in left and left[key] > 0
        if (is_last and not is_unfinished) or (key in before and (fault.code == "MISSING_STEP" or is_unfinished)):
            faults.append(fault)
    return faults


def critiqued(meal: Meal, ask: Ask, rounds: int = ROUNDS) -> Ended:
    """Have a plan revised until all critics are silent; after so many rounds the solver plans."""
    told = ""
    for number in range(1, rounds + 1):
        rows = actions_in(ask(f"{_task(meal)}\n{told}"))
        found = critique(meal, rows)
        if not found:
            return Ended(rows, "model", number)
        told = f"Your plan:\n{written(rows)}\nIs not right:\n" + "\n".join(f"{who}: {what}" for who, what in found)
    return Ended(plan_meal(Situation(meal), Budget.of(20)).plan, "solver", rounds)


def hasty(meal: Meal) -> Ask:
    """A scripted model that fills every idle minute and does not look ahead at limits, whatever it is told."""
    answer = written(heuristic(meal.without_time_constraints(), looks_back=False) or ())
    return lambda _prompt: answer


def stepwise(meal: Meal) -> Ask:
    """The same model, one action at a time: what is refused it tries half a minute later, with all that is left."""
    rows = heuristic(meal.without_time_constraints(), looks_back=False) or ()
    late = count(step=30)

    def ask(prompt: str) -> str:
        done = prompt.partition("Done and going on:")[2]
        place, told = done.count("Step("), done.rpartition(")\n")[2].strip()
        delay[0] = next(late) if told and place else delay[0]
        return written(row._replace(start=row.start + delay[0]) for row in rows[place : place + 1])

    delay = [next(late)]
    return ask


def critique(meal: Meal, rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Each critic with what it has found, on all of the plan."""
    found = validate_plan(meal, _listed(rows)).violations
    return [(who, fault.message) for fault in found for who, codes in CRITICS.items() if fault.code in codes]


def idle(meal: Meal, rows: Sequence[Row]) -> list[tuple[int, int]]:
    """When nobody works at anything: what the critic of efficiency has to say of a plan that is right."""
    now, spans = 0, []
    for row in sorted((row for row in rows if not meal.steps[row.key].is_autonomous), key=lambda row: row.start):
        spans += [(now, row.start)] if row.start > now else []
        now = max(now, row.end)
    return [*spans, *([(now, makespan(tuple(rows)))] if makespan(tuple(rows)) > now else [])]


def _listed(rows: Iterable[Row]) -> list[list[Any]]:
    return [list(row) for row in rows]


def _task(meal: Meal) -> str:
    lines = ["Cook these recipes, complete as early as possible. Answer in lines Step(number, recipe, duration, start)."]
    for step in meal.steps.values():
        kind = "goes on alone" if step.is_autonomous else "may be interrupted" if step.is_interruptible else "in one go"
        limits = "".join(f", at most {limit} s after step {number}" for number, limit in step.within.items())
        lines.append(f"{step}: {step.text} ({clock(step.duration)}, {kind}{limits})")
    return "\n".join(lines)
