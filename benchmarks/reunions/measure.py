"""Plans, strikes and repairs one generated problem, and has every plan judged by the validator."""

from __future__ import annotations

from time import process_time
from typing import Any, Final

from benchmarks.reunions.anew import recompute
from benchmarks.reunions.generator import generate
from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.parsing import parse_events
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planning.model.search import Unsolved
from sagagraph.domains.reunion.planning.planner import plan
from sagagraph.domains.reunion.planning.repair import Repaired, repair
from sagagraph.domains.reunion.planning.solving import Solved
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.domains.reunion.times import text_of
from sagagraph.planning.budget import Budget

Case = dict[str, Any]
EVENTS: Final = ("cancelled", "delayed", "vehicle_down")
KINDS: Final[dict[str, dict[str, bool]]] = {
    "fetching": {},
    "several goals": {"goals": True},
    "hand-overs": {"hand_overs": True},
    "both": {"goals": True, "hand_overs": True},
}


def measured(people: int, seed: int, kind: str, seconds: float) -> Case:
    """`seconds` are of CPU, which a busy machine changes least."""
    problem = generate(people, seed, **KINDS[kind])
    began, found = process_time(), list[float]()
    answer = plan(problem, Budget.of(seconds, process_time), tell=lambda _: found.append(round(process_time() - began, 2)))
    took = round(process_time() - began, 2)
    case: Case = {"people": people, "seed": seed, "kind": kind, "vehicles": len(problem.vehicles), "seconds": took}
    if isinstance(answer, Unsolved):
        return {**case, "status": "none found"}
    best = answer.objectives[0]
    case |= {
        "status": answer.status.value,
        "first": found[0] if found else took,
        "value": best.value,
        "bound": best.bound,
        "actions": len(answer.plan.actions),
        "verdict": _verdict(problem, answer.plan, (), None),
    }
    return {**case, "struck": [_struck(problem, answer, event, seconds) for event in EVENTS if seed == 1]}


def _struck(problem: ReunionProblem, known: Solved, kind: str, seconds: float) -> Case:
    """By what becomes known after a third of the journeys have begun."""
    starts = sorted(action.start for action in known.plan.actions if action.do == "travel")
    now = starts[len(starts) // 3]
    later = [action for action in known.plan.actions if action.do == "travel" and action.start >= now]
    guest = next(name for action in later for name in action.people if name.startswith("guest"))
    event = {
        "cancelled": {"person": guest},
        "delayed": {"person": guest, "from": text_of(now + 10)},
        "vehicle_down": {"vehicle": later[0].vehicle, "until": text_of(now + 5)},
    }[kind]
    events = parse_events(problem, [{"at": text_of(now), "event": kind, **event}])
    arms = {"repair": repair, "recompute": recompute}
    return {"event": kind, **{name: _arm(problem, known, events, how, seconds) for name, how in arms.items()}}


def _arm(problem: ReunionProblem, known: Solved, events: tuple[Event, ...], how: Any, seconds: float) -> Case:
    began = process_time()
    answer = how(problem, known.plan, events, Budget.of(seconds, process_time))
    took = round(process_time() - began, 2)
    if not isinstance(answer, Repaired):
        return {"seconds": took, "status": "none: proven" if answer.is_proof else "none found"}
    dropped = sum(each.before is not None for each in answer.changed)
    return {
        "seconds": took,
        "status": answer.solved.status.value,
        "value": answer.solved.objectives[0].value,
        "changed": answer.edit_radius.actions,
        "kept": len(known.plan.actions) - dropped,
        "moved": answer.edit_radius.minutes,
        "verdict": _verdict(problem, answer.solved.plan, events, known.plan),
    }


def _verdict(problem: ReunionProblem, made: ReunionPlan, events: tuple[Event, ...], against: ReunionPlan | None) -> str:
    old = None if against is None else against.model_dump(mode="json")
    return validate_plan(problem, made.model_dump(mode="json"), events, against=old).verdict.value
