"""One operator or more for each code: it breaks exactly that rule of a day that was right, by construction."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from sagagraph.domains.reunion.times import text_of
from tests.domains.reunion.days import OVEN, PLACES, Day, minutes_of, names_in, problem_of
from tests.domains.reunion.plans import Json, plan_of, task


@dataclass
class Corrupted:
    """`at`: the actions at which the code is expected; None where it is at none. `names`: what a scope must name."""

    problem: Json
    plan: Json
    at: list[int | None]
    names: list[str]
    against: Json | None = None
    until: str | None = None
    events: list[Json] = field(default_factory=list)


Operator = Callable[[Day, Random], Corrupted]


def _copy(day: Day) -> tuple[Json, list[Json]]:
    return copy.deepcopy(problem_of(day)), copy.deepcopy(day.actions)


def _journey(rng: Random, actions: list[Json], *, riders: bool = False) -> int:
    return rng.choice([n for n, act in enumerate(actions) if act["do"] == "travel" and (act["riders"] or not riders)])


def _work(rng: Random, actions: list[Json]) -> int:
    return rng.choice([n for n, act in enumerate(actions) if act["do"] == "task" and act["task"] != "roast"])


def _named(problem: Json, table: str, name: str) -> Json:
    found: Json = next(each for each in problem[table] if each["name"] == name)
    return found


def _shifted(moment: str, minutes: int) -> str:
    return text_of(minutes_of(moment) + minutes)


# -- MALFORMED and UNKNOWN_REFERENCE ---------------------------------------------------------------------------------


def without_a_field(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = rng.randrange(len(actions))
    needed = ["do", "start", "end", *(["task", "who"] if actions[n]["do"] == "task" else ["vehicle", "from", "to"])]
    del actions[n][rng.choice(needed)]
    return Corrupted(problem, plan_of(*actions), [n], [])


def of_another_type(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = rng.randrange(len(actions))
    name = rng.choice([name for name in actions[n] if name != "place"])
    actions[n][name] = rng.choice([7, {"a": 1}, True])
    return Corrupted(problem, plan_of(*actions), [n], [])


def backwards(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = rng.randrange(len(actions))
    actions[n]["start"], actions[n]["end"] = actions[n]["end"], actions[n]["start"]
    return Corrupted(problem, plan_of(*actions), [n], [])


def no_action_at_all(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = rng.randrange(len(actions))
    return Corrupted(problem, plan_of(*actions[:n], rng.choice([None, "rest", {}, []]), *actions[n + 1 :]), [n], [])


def of_the_other_kind_of_time(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = rng.randrange(len(actions))
    actions[n]["start"] = f"2025-11-27T{actions[n]['start']}+00:00"
    return Corrupted(problem, plan_of(*actions), [n], [])


def a_strange_name(day: Day, rng: Random) -> Corrupted:
    """In the place of one that there is."""
    problem, actions = _copy(day)
    n = rng.randrange(len(actions))
    act = actions[n]
    name = rng.choice(["task", "who"] if act["do"] == "task" else ["vehicle", "driver", "riders", "from", "to"])
    act[name] = [*act[name][:-1], "Nobody"] if isinstance(act[name], list) else "Nobody"
    return Corrupted(problem, plan_of(*actions), [n], ["Nobody"])


def one_more_stranger(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = _journey(rng, actions)
    actions[n]["riders"].append("Nobody")
    return Corrupted(problem, plan_of(*actions), [n], ["Nobody"])


# -- who is where and when -------------------------------------------------------------------------------------------


def a_rider_from_elsewhere(day: Day, rng: Random) -> Corrupted:
    """Somebody starts the day elsewhere than where their first action is."""
    problem, actions = _copy(day)
    name = rng.choice(list(day.people))
    first = min((n for n, act in enumerate(actions) if name in names_in(act)), key=lambda n: actions[n]["start"])
    person = _named(problem, "people", name)
    person["place"] = rng.choice([place for place in PLACES if place != person["place"]])
    return Corrupted(problem, plan_of(*actions), [first], [name])


def a_vehicle_from_elsewhere(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    name = rng.choice(list(day.vehicles))
    first = next(n for n, act in enumerate(actions) if act.get("vehicle") == name)
    vehicle = _named(problem, "vehicles", name)
    vehicle["place"] = rng.choice([place for place in PLACES if place != vehicle["place"]])
    return Corrupted(problem, plan_of(*actions), [first], [name])


def in_two_places(day: Day, rng: Random) -> Corrupted:
    """A second thing to do, for one person, in the middle of a first one."""
    problem, actions = _copy(day)
    n = rng.randrange(len(actions))
    if actions[n].get("task") == "roast":
        n = _journey(rng, actions)
    act, name = actions[n], rng.choice(names_in(actions[n]))
    later = _shifted(act["start"], 1)
    problem["tasks"].append({"name": "distraction", "optional": True})
    actions.append(task("distraction", name, later, later))
    return Corrupted(problem, plan_of(*actions), [len(actions) - 1], [name])


def too_early_for_a_person(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    name = rng.choice(list(day.people))
    mine = [n for n, act in enumerate(actions) if name in names_in(act)]
    first = min(mine, key=lambda n: actions[n]["start"])
    person = _named(problem, "people", name)
    person["from"] = _shifted(person["from"], 1)
    return Corrupted(problem, plan_of(*actions), [first], [name])


def too_early_for_a_vehicle(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = _journey(rng, actions)
    at = actions[n]["start"]
    down = {"at": at, "event": "vehicle_down", "vehicle": actions[n]["vehicle"], "until": _shifted(at, 1)}
    return Corrupted(problem, plan_of(*actions), [n], [actions[n]["vehicle"]], events=[down])


def before_it_is_unlocked(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = next(n for n, act in enumerate(actions) if act.get("task") == "unlock")
    actions[n]["start"], actions[n]["end"] = _shifted("10:30", -10), "10:31"
    # The cook would be in two actions at once: somebody else unlocks it.
    problem["people"].append({"name": "guard", "place": OVEN})
    actions[n]["who"] = ["guard"]
    problem["tasks"] = [
        {**each, "attention": "active", "minutes": 0} if each["name"] == "roast" else each for each in problem["tasks"]
    ]
    return Corrupted(problem, plan_of(*actions), [len(actions) - 1], ["rental"])


# -- journeys --------------------------------------------------------------------------------------------------------


def too_fast(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = _journey(rng, actions)
    actions[n]["end"] = _shifted(actions[n]["start"], day.minutes(actions[n]["from"], actions[n]["to"]) - 1)
    return Corrupted(problem, plan_of(*actions), [n], [actions[n]["vehicle"]])


def without_a_road(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    ends = {actions[(n := _journey(rng, actions))]["from"], actions[n]["to"]}
    problem["travel_minutes"] = [row for row in problem["travel_minutes"] if set(row[:2]) != ends]
    at: list[int | None] = [i for i, act in enumerate(actions) if {act.get("from"), act.get("to")} == ends]
    return Corrupted(problem, plan_of(*actions), at, [actions[n]["vehicle"], *ends])


def a_closed_road(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = _journey(rng, actions)
    at, ends = actions[n]["start"], [actions[n]["to"], actions[n]["from"]]
    closed = {"at": at, "event": "road_closed", "from": ends[0], "to": ends[1], "until": _shifted(at, 1)}
    there: list[int | None] = [
        i for i, act in enumerate(actions) if {act.get("from"), act.get("to")} == set(ends) and act["start"] == at
    ]
    return Corrupted(problem, plan_of(*actions), there, ends, events=[closed])


def nobody_at_the_wheel(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = _journey(rng, actions)
    actions[n]["driver"] = None
    return Corrupted(problem, plan_of(*actions), [n], [actions[n]["vehicle"]])


def a_rider_at_the_wheel(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = _journey(rng, actions, riders=True)
    act = actions[n]
    act["driver"], act["riders"] = act["riders"][0], [*act["riders"][1:], act["driver"]]
    return Corrupted(problem, plan_of(*actions), [n], [act["driver"], act["vehicle"]])


def a_driver_who_does_not_drive(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = _journey(rng, actions)
    _named(problem, "people", actions[n]["driver"])["drives"] = False
    at: list[int | None] = [i for i, act in enumerate(actions) if act.get("driver") == actions[n]["driver"]]
    return Corrupted(problem, plan_of(*actions), at, [actions[n]["driver"]])


def too_few_seats(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = _journey(rng, actions, riders=True)
    name = actions[n]["vehicle"]
    vehicle = _named(problem, "vehicles", name)
    vehicle["seats"] -= 1
    at: list[int | None] = [
        i for i, act in enumerate(actions) if act.get("vehicle") == name and len(names_in(act)) > vehicle["seats"]
    ]
    return Corrupted(problem, plan_of(*actions), at, [name])


# -- tasks -----------------------------------------------------------------------------------------------------------


def outside_its_window(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = _work(rng, actions)
    at = actions[n]
    window = rng.choice([[_shifted(at["start"], 1), None], [None, _shifted(at["end"], -1)]])
    _named(problem, "tasks", at["task"])["window"] = window
    return Corrupted(problem, plan_of(*actions), [n], [at["task"], *at["who"]])


def too_short(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = _work(rng, actions)
    stated = minutes_of(actions[n]["end"]) - minutes_of(actions[n]["start"])
    _named(problem, "tasks", actions[n]["task"])["minutes"] = stated + 0.5
    return Corrupted(problem, plan_of(*actions), [n], [actions[n]["task"]])


def out_of_order(day: Day, rng: Random) -> Corrupted:
    """Something that is done at the very end was to come before."""
    problem, actions = _copy(day)
    n = _work(rng, actions)
    act = actions[n]
    problem["people"].append({"name": "latecomer", "place": "A"})
    problem["tasks"].append({"name": "prelude", "place": "A"})
    after = _shifted(act["start"], 1)
    actions.append(task("prelude", "latecomer", act["start"], after))
    _named(problem, "tasks", act["task"]).setdefault("after", []).append("prelude")
    return Corrupted(problem, plan_of(*actions), [n], [act["task"]])


def by_somebody_else(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = _work(rng, actions)
    name = rng.choice(actions[n]["who"])
    others = [each for each in day.people if each != name]
    _named(problem, "tasks", actions[n]["task"])["who"] = others
    return Corrupted(problem, plan_of(*actions), [n], [name, actions[n]["task"]])


def by_too_few(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = _work(rng, actions)
    _named(problem, "tasks", actions[n]["task"])["people"] = len(actions[n]["who"]) + 1
    return Corrupted(problem, plan_of(*actions), [n], [actions[n]["task"]])


def nobody_beside_it(day: Day, rng: Random) -> Corrupted:
    """The cook leaves a little too early; what the others do has nothing to do with it."""
    problem, actions = _copy(day)
    actions[-1]["start"] = _shifted("10:30", -rng.randint(1, 60))
    n = len(actions) - 3
    return Corrupted(problem, plan_of(*actions), [n], ["roast", OVEN])


def nobody_beside_the_cook(day: Day, rng: Random) -> Corrupted:
    """Who must not wait alone does, between the last task and leaving."""
    problem, actions = _copy(day)
    actions[-2].update(start="08:30", end=_shifted("08:40", rng.randint(0, 60)))
    _named(problem, "people", "cook")["never_alone"] = True
    return Corrupted(problem, plan_of(*actions), [None], ["cook", OVEN])


def left_out(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    name = rng.choice(problem["tasks"])["name"]
    return Corrupted(problem, plan_of(*(act for act in actions if act.get("task") != name)), [None], [name])


# -- goals and the past ----------------------------------------------------------------------------------------------


def a_minute_late(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    name, place, _ = rng.choice(day.goals)
    arrives = max(minutes_of(act["end"]) for act in actions if act["do"] == "travel" and name in names_in(act))
    goal = {"people": [name], "place": place, "by": text_of(arrives - 1)}
    return Corrupted({**problem, "goals": [goal]}, plan_of(*actions), [None], [name, place])


def elsewhere_in_the_end(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    name, place, by = rng.choice(day.goals)
    other = rng.choice([each for each in PLACES if each != place])
    _named(problem, "people", name)["goals"] = [{"place": other, "by": text_of(by + 60)}]
    return Corrupted(problem, plan_of(*actions), [None], [name, other])


def told_otherwise(day: Day, rng: Random) -> Corrupted:
    """What was done before took another minute."""
    problem, actions = _copy(day)
    old = copy.deepcopy(actions)
    n = rng.randrange(len(actions))
    old[n]["end"] = _shifted(old[n]["end"], 1)
    return Corrupted(problem, plan_of(*actions), [n], [], against=plan_of(*old), until="24:00")


def made_up(day: Day, rng: Random) -> Corrupted:
    problem, actions = _copy(day)
    n = rng.randrange(len(actions))
    old = [act for i, act in enumerate(actions) if i != n]
    rng.shuffle(old)
    return Corrupted(problem, plan_of(*actions), [n], [], against=plan_of(*old), until="24:00")


def forgotten(day: Day, rng: Random) -> Corrupted:
    """The index is the old plan's."""
    problem, actions = _copy(day)
    n = rng.randrange(len(actions))
    new = [act for i, act in enumerate(actions) if i != n]
    return Corrupted(problem, plan_of(*new), [n], [], against=plan_of(*actions), until="24:00")


OPERATORS: Mapping[str, tuple[Operator, ...]] = {
    "MALFORMED": (without_a_field, of_another_type, backwards, no_action_at_all, of_the_other_kind_of_time),
    "UNKNOWN_REFERENCE": (a_strange_name, one_more_stranger),
    "CONTINUITY": (a_rider_from_elsewhere, a_vehicle_from_elsewhere),
    "OVERLAP": (in_two_places,),
    "NOT_YET_AVAILABLE": (too_early_for_a_person, too_early_for_a_vehicle, before_it_is_unlocked),
    "TRAVEL_TIME": (too_fast,),
    "NO_ROUTE": (without_a_road, a_closed_road),
    "NO_DRIVER": (nobody_at_the_wheel, a_rider_at_the_wheel, a_driver_who_does_not_drive),
    "CAPACITY": (too_few_seats,),
    "WINDOW": (outside_its_window,),
    "DURATION": (too_short,),
    "ORDER": (out_of_order,),
    "UNATTENDED": (nobody_beside_it,),
    "ALONE": (nobody_beside_the_cook,),
    "NOT_ALLOWED": (by_somebody_else, by_too_few),
    "MISSING_TASK": (left_out,),
    "GOAL_MISSED": (a_minute_late, elsewhere_in_the_end),
    "PAST_REWRITTEN": (told_otherwise, made_up, forgotten),
}
