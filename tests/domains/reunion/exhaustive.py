"""Every plan there is, minute by minute: what the solver is compared with on tiny problems. Knows nothing of CP-SAT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

from sagagraph.domains.reunion.request import Attention, ReunionProblem


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
    acted: frozenset[int] = frozenset()
    """Of those who must not wait alone and were there from the beginning: who has been in an action."""


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
        stated = [each.available for each in self._problem.people] + [each.from_ for each in self._problem.vehicles]
        begins = min(each for each in stated if each is not None)
        people = tuple(Body(each.place, begins if each.available is None else each.available) for each in self._problem.people)
        cars = tuple(Body(each.place, begins if each.from_ is None else each.from_) for each in self._problem.vehicles)
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
            if self._is_watched(now, state) and not any(self._is_alone(now, state, each) for each in range(len(state.people))):
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

    def _is_alone(self, now: int, state: State, person: int) -> bool:
        """For the minute that begins now, though they must not be."""
        body, goals = state.people[person], self._goals[person]
        if not self._problem.people[person].never_alone or not goals or body.free > now:
            return False
        last = max(goals, key=lambda goal: goal.by)
        has_come = self._problem.people[person].from_ is not None or person in state.acted
        if body.place == last.place or now >= last.by or not has_come:
            return False
        others = (number for number in range(len(state.people)) if number != person)
        came = [each.available or 0 for each in self._problem.people]
        there = (o for o in others if state.people[o].place == body.place and came[o] <= now)
        return all(state.people[o].moves and state.people[o].free > now for o in there)

    def _acting(self, state: State, people: tuple[int, ...]) -> frozenset[int]:
        told = [n for n in people if self._problem.people[n].never_alone and self._problem.people[n].from_ is None]
        return state.acted.union(told)

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
                acted = self._acting(state, who) if task.attention is Attention.ACTIVE else state.acted
                ends = (*state.ends[:number], end, *state.ends[number + 1 :])
                yield 0, replace(state, people=tuple(people), ends=ends, acted=acted)

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

    def _moved(self, state: State, car: int, aboard: tuple[int, ...], to: Body) -> State:
        people = tuple(to if i in aboard else body for i, body in enumerate(state.people))
        cars = (*state.cars[:car], to, *state.cars[car + 1 :])
        return replace(state, people=people, cars=cars, acted=self._acting(state, aboard))


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


def in_company(seed: int) -> ReunionProblem:
    """A tiny problem in which some must not wait alone, a few of them there from the beginning."""
    random = Random(f"in company {seed}")
    problem = tiny(seed)

    def changed(number: int) -> dict[str, object]:
        is_there = number > 0 and random.random() < 0.3
        return {"never_alone": random.random() < 0.6, **({"from_": None} if is_there else {})}

    people = tuple(each.model_copy(update=changed(number)) for number, each in enumerate(problem.people))
    return problem.model_copy(update={"people": people})


def least_driving(problem: ReunionProblem) -> int | None:
    """As the planner reads problems: only where nobody can stay, they need not."""
    usual = Exhaustive(problem, stays=True).least_driving()
    return Exhaustive(problem, stays=False).least_driving() if usual is None else usual
