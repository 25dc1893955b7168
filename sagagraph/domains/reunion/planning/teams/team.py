"""Teams: people, vehicles and tasks that share nothing with the rest of a plan, so that each team can be planned alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import networkx as nx

from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.planning.model.situation import drivers_of, is_watched, roads_of

if TYPE_CHECKING:
    from sagagraph.domains.reunion.plan import Work
    from sagagraph.domains.reunion.request import Person, ReunionProblem

    Action = Journey | Work
    Node = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Team:
    people: frozenset[str] = frozenset()
    vehicles: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()

    def __or__(self, other: Team) -> Team:
        return Team(self.people | other.people, self.vehicles | other.vehicles, self.tasks | other.tasks)

    @property
    def size(self) -> int:
        return len(self.people) + len(self.vehicles)

    def takes_part_in(self, action: Action) -> bool:
        if isinstance(action, Journey):
            return action.vehicle in self.vehicles or not self.people.isdisjoint(action.people)
        return action.task in self.tasks or not self.people.isdisjoint(action.people)


def excerpt(problem: ReunionProblem, team: Team, also: frozenset[str] = frozenset()) -> ReunionProblem:
    """What of the problem is theirs, without the places that none of it names, where those it names, and those in `also`, are all
    joined by roads."""
    shared = (goal for goal in problem.goals if goal.people == "all" or not team.people.isdisjoint(goal.people))
    own = problem.model_copy(
        update={
            "people": tuple(each for each in problem.people if each.name in team.people),
            "vehicles": tuple(each for each in problem.vehicles if each.name in team.vehicles),
            "tasks": tuple(each for each in problem.tasks if each.name in team.tasks),
            "goals": tuple(shared),
            "apart": tuple(names for names in problem.apart if team.people.issuperset(names)),
        }
    )
    return _nearby(own, also | set(_places(own)))


def _places(problem: ReunionProblem) -> Iterator[str]:
    yield from (goal.place for goal in problem.goals)
    yield from (person.place for person in problem.people)
    yield from (vehicle.place for vehicle in problem.vehicles)
    yield from (goal.place for person in problem.people for goal in person.goals)
    yield from (task.place for task in problem.tasks if task.place is not None)


def _nearby(problem: ReunionProblem, places: frozenset[str]) -> ReunionProblem:
    roads = {(here, there) for here, there, _, _ in roads_of(problem)}
    if not all(pair in roads for pair in permutations(places, 2)):
        return problem
    return problem.model_copy(
        update={
            "places": {name: text for name, text in problem.places.items() if name in places},
            "travel_minutes": tuple(each for each in problem.travel_minutes if {each.here, each.there} <= places),
            "distance_km": tuple(each for each in problem.distance_km if {each.here, each.there} <= places),
        }
    )


def teams_of(problem: ReunionProblem, actions: Iterable[Action] = ()) -> tuple[Team, ...]:
    """The smallest that these actions leave, in the order of the problem; a vehicle and who drives it, a task and what must come
    before it are always in one."""
    bonds: nx.Graph[Node] = nx.Graph()
    bonds.add_nodes_from(_nodes(problem))
    known = set(bonds.nodes)
    listed = tuple(actions)
    bound = (*_standing_bonds(problem), *_bonds_of(listed), *_watching(problem, listed), *_accompanying(problem, listed))
    for one, other in bound:
        if one in known and other in known:
            bonds.add_edge(one, other)
    order = {node: number for number, node in enumerate(_nodes(problem))}
    found = [
        _team(component) for component in sorted(nx.connected_components(bonds), key=lambda each: min(order[n] for n in each))
    ]
    return tuple(found)


def _team(nodes: Iterable[Node]) -> Team:
    def named(kind: str) -> frozenset[str]:
        return frozenset(name for of, name in listed if of == kind)

    listed = tuple(nodes)
    return Team(named("person"), named("vehicle"), named("task"))


def _nodes(problem: ReunionProblem) -> Iterator[Node]:
    yield from (("vehicle", each.name) for each in problem.vehicles)
    yield from (("person", each.name) for each in problem.people)
    yield from (("task", each.name) for each in problem.tasks)


def _standing_bonds(problem: ReunionProblem) -> Iterator[tuple[Node, Node]]:
    for vehicle in problem.vehicles:
        yield from ((("vehicle", vehicle.name), ("person", name)) for name in drivers_of(problem, vehicle.name) or ())
        if vehicle.unlocked_by is not None:
            yield ("vehicle", vehicle.name), ("task", vehicle.unlocked_by)
    for names in problem.apart:
        yield from ((("person", names[0]), ("person", name)) for name in names[1:])
    for task in problem.tasks:
        yield from ((("task", task.name), ("task", name)) for name in task.after)
        if task.who is not None and len(task.who) <= task.people:
            yield from ((("task", task.name), ("person", name)) for name in task.who)


def _bonds_of(actions: Iterable[Action]) -> Iterator[tuple[Node, Node]]:
    for action in actions:
        what = ("vehicle", action.vehicle) if isinstance(action, Journey) else ("task", action.task)
        yield from ((what, ("person", name)) for name in action.people)


def _watching(problem: ReunionProblem, actions: tuple[Action, ...]) -> Iterator[tuple[Node, Node]]:
    """Who watches belongs to what is watched: one who stays for all of it, or else whoever is there for a while."""
    watched = {task.name: task for task in problem.tasks if is_watched(task)}
    for action in actions:
        if isinstance(action, Journey) or action.task not in watched:
            continue
        place = action.place or watched[action.task].place
        moving = {name for each in actions if isinstance(each, Journey) for name in each.people if each.start < action.end}
        sitters = [name for name in action.who if name not in moving]
        coming = {name for each in actions if isinstance(each, Journey) for name in each.people if each.to == place}
        there = sitters[:1] or [each.name for each in problem.people if each.place == place or each.name in coming]
        yield from ((("task", action.task), ("person", name)) for name in there)


def _accompanying(problem: ReunionProblem, actions: tuple[Action, ...]) -> Iterator[tuple[Node, Node]]:
    """Who must not wait alone belongs to all whom they may meet where they wait."""
    for person in problem.people:
        if person.never_alone:
            places = _stands_at(person, actions) - _last_goals(problem, person)
            met = (each for each in problem.people if not places.isdisjoint(_stands_at(each, actions)))
            yield from ((("person", person.name), ("person", each.name)) for each in met)


def _stands_at(person: Person, actions: tuple[Action, ...]) -> set[str]:
    return {person.place, *(each.to for each in actions if isinstance(each, Journey) and person.name in each.people)}


def _last_goals(problem: ReunionProblem, person: Person) -> set[str]:
    shared = (goal for goal in problem.goals if goal.people == "all" or person.name in goal.people)
    last = max((*person.goals, *shared), key=lambda goal: goal.by, default=None)
    return set() if last is None else {last.place}
