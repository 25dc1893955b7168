"""Teams: people, vehicles and tasks that share nothing with the rest of a plan, so that each team can be planned alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import permutations
from operator import or_

import networkx as nx

from sagagraph.domains.reunion.plan import Act, Journey
from sagagraph.domains.reunion.planning.model.situation import drivers_of, roads_of
from sagagraph.domains.reunion.request import Person, ReunionProblem, Task

Node = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Team:
    people: frozenset[str] = frozenset()
    vehicles: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()

    def __or__(self, other: Team) -> Team:
        return Team(self.people | other.people, self.vehicles | other.vehicles, self.tasks | other.tasks)

    def without(self, other: Team) -> Team:
        return Team(self.people - other.people, self.vehicles - other.vehicles, self.tasks - other.tasks)

    def takes_part_in(self, action: Act) -> bool:
        is_theirs = action.vehicle in self.vehicles if isinstance(action, Journey) else action.task in self.tasks
        return is_theirs or not self.people.isdisjoint(action.people)


def joined(teams: Iterable[Team]) -> Team:
    return reduce(or_, teams, Team())


def excerpt(problem: ReunionProblem, team: Team, before: Iterable[Act] = ()) -> ReunionProblem:
    """Return the team's part of the problem, without the places that neither it nor journeys `before` name, if all others are
    joined by roads.
    """
    own = problem.model_copy(
        update={
            "people": tuple(each for each in problem.people if each.name in team.people),
            "vehicles": tuple(each for each in problem.vehicles if each.name in team.vehicles),
            "tasks": tuple(each for each in problem.tasks if each.name in team.tasks),
            "goals": tuple(each for each in problem.goals if each.people == "all" or not team.people.isdisjoint(each.people)),
            "apart": tuple(names for names in problem.apart if team.people.issuperset(names)),
        }
    )
    places = {end for each in before if isinstance(each, Journey) for end in (each.from_, each.to)}
    places |= {goal.place for goal in own.every_goal} | {each.place for each in own.people} | {car.place for car in own.vehicles}
    places |= {task.place for task in own.tasks if task.place is not None}
    roads = {(here, there) for here, there, _, _ in roads_of(own)}
    if not roads.issuperset(permutations(places, 2)):
        return own
    return own.model_copy(
        update={
            "places": {name: text for name, text in own.places.items() if name in places},
            "travel_minutes": tuple(each for each in own.travel_minutes if {each.here, each.there} <= places),
            "distance_km": tuple(each for each in own.distance_km if {each.here, each.there} <= places),
        }
    )


def teams_of(problem: ReunionProblem, actions: Iterable[Act] = ()) -> tuple[Team, ...]:
    """Return the smallest teams that these actions allow, in the order of the problem; a vehicle and its drivers, and a task and
    its prerequisites, are always in one.
    """
    nodes: list[Node] = [
        *(("vehicle", each.name) for each in problem.vehicles),
        *(("person", each.name) for each in problem.people),
        *(("task", each.name) for each in problem.tasks),
    ]
    bonds: nx.Graph[Node] = nx.Graph()
    bonds.add_nodes_from(nodes)
    listed = tuple(actions)
    for one, other in (*_standing_bonds(problem), *_bonds_of(problem, listed)):
        if one in bonds and other in bonds:
            bonds.add_edge(one, other)
    order = {node: number for number, node in enumerate(nodes)}
    found = sorted(nx.connected_components(bonds), key=lambda each: min(order[node] for node in each))

    def named(component: set[Node], kind: str) -> frozenset[str]:
        return frozenset(name for of, name in component if of == kind)

    return tuple(Team(named(each, "person"), named(each, "vehicle"), named(each, "task")) for each in found)


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


def _bonds_of(problem: ReunionProblem, actions: tuple[Act, ...]) -> Iterator[tuple[Node, Node]]:
    """Return who must be in one team. Watchers belong to what is watched: one who stays for all of it, or else everybody who is
    there for a while. Somebody who must not wait alone belongs to everybody whom they may meet where they wait.
    """
    journeys = [each for each in actions if isinstance(each, Journey)]
    watched = {task.name: task for task in problem.tasks if task.is_watched}
    for action in actions:
        what = ("vehicle", action.vehicle) if isinstance(action, Journey) else ("task", action.task)
        yield from ((what, ("person", name)) for name in action.people)
        if isinstance(action, Journey) or action.task not in watched:
            continue
        place = action.place or watched[action.task].place
        moving = {name for each in journeys for name in each.people if each.start < action.end}
        sitters = [name for name in action.who if name not in moving]
        coming = {name for each in journeys for name in each.people if each.to == place}
        there = sitters[:1] or [each.name for each in problem.people if each.place == place or each.name in coming]
        yield from ((what, ("person", name)) for name in there)
    stands_at = {who.name: {who.place, *(each.to for each in journeys if who.name in each.people)} for who in problem.people}
    for person in (each for each in problem.people if each.never_alone):
        last = max(problem.goals_of(person), key=lambda goal: goal.by, default=None)
        places = stands_at[person.name] - ({last.place} if last is not None else set())
        met = (name for name, at in stands_at.items() if not places.isdisjoint(at))
        yield from ((("person", person.name), ("person", name)) for name in met)


def at_home(problem: ReunionProblem, teams: tuple[Team, ...]) -> Team:
    """Return the people who need not go anywhere, and what they can do where they are."""

    def may_stay(person: Person) -> bool:
        return all(goal.place == person.place for goal in problem.goals_of(person))

    def can_be_done(task: Task) -> bool:
        able = [each for each in stay if each.place == task.place and (task.who is None or each.name in task.who)]
        return task.place is None or len(able) >= task.people

    leaving = {each.name for each in problem.people if not may_stay(each)}
    home = joined(team for team in teams if team.people and not team.vehicles and leaving.isdisjoint(team.people))
    stay = [each for each in problem.people if each.name in home.people]
    for team in teams:
        if not team.vehicles and not team.people and all(can_be_done(task) for task in problem.tasks if task.name in team.tasks):
            home |= team
    return home
