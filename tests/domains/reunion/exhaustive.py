"""Every plan there is, minute by minute: what the solver is compared with on tiny problems. Knows nothing of CP-SAT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

from sagagraph.domains.reunion.problem import Attention, ReunionProblem


@dataclass(frozen=True, slots=True)
class Body:
    """A person or a vehicle: `place` from `free` on; `moves`: on the way until then."""

    place: str
    free: int
    moves: bool = False


@dataclass(frozen=True, slots=True)
class State:
    people: tuple[Body, ...]
    cars: tuple[Body, ...]
    ends: tuple[int | None, ...]
    """Of tasks; None: not begun."""


class Exhaustive:
    """`stays`: who has met their last goal sets out no more."""

    def __init__(self, problem: ReunionProblem, *, stays: bool) -> None:
        self._problem = problem
        self._stays = stays
        self._goals = [
            [*person.goals, *(goal for goal in problem.goals if goal.people == "all" or person.name in goal.people)]
            for person in problem.people
        ]
        self._names = [person.name for person in problem.people]
        roads = {(r.here, r.there): int(r.amount) for r in problem.travel_minutes}
        roads |= {(r.there, r.here): int(r.amount) for r in problem.travel_minutes if not r.one_way}
        self._roads = roads
        due = [goal.by for goals in self._goals for goal in goals]
        self._last = max([*due, *(task.window.closes or 0 for task in problem.tasks)], default=0)
        self._known: dict[tuple[int, State], int | None] = {}

    def least_driving(self) -> int | None:
        """None: there is no plan."""
        people = tuple(Body(each.place, each.available or 0) for each in self._problem.people)
        cars = tuple(Body(each.place, each.from_ or 0) for each in self._problem.vehicles)
        begins = min(each.free for each in (*people, *cars))
        return self._from_minute(begins, State(people, cars, (None,) * len(self._problem.tasks)))

    def _from_minute(self, now: int, state: State) -> int | None:
        """Goals that are due now are looked at before anybody leaves."""
        for body, goals in zip(state.people, self._goals, strict=True):
            for goal in goals:
                if goal.by == now and not (body.place == goal.place and body.free <= now):
                    return None
        return self._least(now, state)

    def _least(self, now: int, state: State) -> int | None:
        key = now, state
        if key not in self._known:
            answers = [cost + rest for cost, after in self._actions(now, state) if (rest := self._least(now, after)) is not None]
            if self._is_watched(now, state):
                done = all(end is not None or t.optional for end, t in zip(state.ends, self._problem.tasks, strict=True))
                rest = (0 if done else None) if now >= self._last else self._from_minute(now + 1, _settled(state, now + 1))
                answers += [] if rest is None else [rest]
            self._known[key] = min(answers, default=None)
        return self._known[key]

    def _is_watched(self, now: int, state: State) -> bool:
        for task, end in zip(self._problem.tasks, state.ends, strict=True):
            if task.attention is Attention.WATCHED and end is not None and end - int(task.minutes) <= now < end:
                there = (b.place == task.place and not (b.moves and b.free > now) for b in state.people)
                came = (each.available or 0 for each in self._problem.people)
                if not any(present and since <= now for present, since in zip(there, came, strict=True)):
                    return False
        return True

    def _actions(self, now: int, state: State) -> Iterator[tuple[int, State]]:
        yield from self._journeys(now, state)
        for number, task in enumerate(self._problem.tasks):
            able = [i for i, b in enumerate(state.people) if b.place == task.place and (b.free <= now)]
            able = [i for i in able if task.who is None or self._names[i] in task.who]
            end = now + int(task.minutes)
            if state.ends[number] is not None or end > (task.window.closes or end) or now < (task.window.opens or now):
                continue
            for who in combinations(able, task.people):
                people = list(state.people)
                for i in who if task.attention is Attention.ACTIVE else ():
                    people[i] = Body(people[i].place, end)
                yield 0, replace(state, people=tuple(people), ends=(*state.ends[:number], end, *state.ends[number + 1 :]))

    def _journeys(self, now: int, state: State) -> Iterator[tuple[int, State]]:
        for number, car in enumerate(self._problem.vehicles):
            at = state.cars[number]
            if at.free > now:
                continue
            free = [i for i, b in enumerate(state.people) if b.place == at.place and b.free <= now and self._may_leave(i, now)]
            for size in range(min(car.seats, len(free)) + 1):
                for aboard in combinations(free, size):
                    if car.drivers is not None and not any(self._names[i] in car.drivers for i in aboard):
                        continue
                    for (here, there), minutes in self._roads.items():
                        if here == at.place and now + minutes <= self._last:
                            yield minutes, self._moved(state, number, aboard, Body(there, now + minutes, moves=True))

    def _may_leave(self, person: int, now: int) -> bool:
        return not self._stays or not self._goals[person] or now < max(goal.by for goal in self._goals[person])

    @staticmethod
    def _moved(state: State, car: int, aboard: tuple[int, ...], to: Body) -> State:
        people = tuple(to if i in aboard else body for i, body in enumerate(state.people))
        return replace(state, people=people, cars=(*state.cars[:car], to, *state.cars[car + 1 :]))


def _settled(state: State, now: int) -> State:
    """Whose journey is over is not on the way any more: states that differ only in the past are one."""

    def settle(body: Body) -> Body:
        return Body(body.place, min(body.free, now)) if body.free <= now else body

    return replace(state, people=tuple(map(settle, state.people)), cars=tuple(map(settle, state.cars)))


def tiny(seed: int) -> ReunionProblem:
    """Two or three of everything, and some ten minutes."""
    random = Random(f"tiny {seed}")
    places = ["A", "B", "C"][: random.choice([2, 3, 3])]
    people = [
        {
            "name": f"p{n}",
            "place": random.choice(places),
            "from": f"08:0{random.choice([0, 0, 1, 2])}",
            "goals": [] if random.random() < 0.3 else [{"place": random.choice(places), "by": f"08:{random.randint(3, 9):02}"}],
        }
        for n in range(random.choice([2, 3]))
    ]
    vehicles = [
        {
            "name": f"v{n}",
            "seats": random.choice([1, 2, 3]),
            "place": random.choice(places),
            **({} if random.random() < 0.4 else {"drivers": [f"p{n % len(people)}"]}),
            "from": f"08:0{random.choice([0, 0, 1])}",
        }
        for n in range(random.choice([1, 1, 2]))
    ]
    roads = [[a, b, random.randint(1, 3), *(["one-way"] if random.random() < 0.1 else [])] for a, b in combinations(places, 2)]
    tasks = [
        {
            "name": f"t{n}",
            "place": random.choice(places),
            "minutes": random.randint(1, 4),
            "window": [None if random.random() < 0.7 else "08:02", f"08:{random.randint(5, 9):02}"],
            "attention": random.choice(["active", "watched"]),
            "people": random.choice([1, 1, 2]),
        }
        for n in range(random.choice([0, 1, 1]))
    ]
    return ReunionProblem.model_construct(
        **dict(
            ReunionProblem.model_validate(
                {
                    "name": f"tiny {seed}",
                    "places": {name: name for name in places},
                    "travel_minutes": [*roads, *([[b, a, 9, "one-way"] for a, b, *rest in roads if rest[-1] == "one-way"])],
                    "people": people,
                    "vehicles": vehicles,
                    "tasks": tasks,
                }
            )
        )
    )


def least_driving(problem: ReunionProblem) -> int | None:
    """As the planner reads problems: only where nobody can stay, they need not."""
    usual = Exhaustive(problem, stays=True).least_driving()
    return Exhaustive(problem, stays=False).least_driving() if usual is None else usual
