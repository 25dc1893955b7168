"""Teams: people, vehicles and tasks that share nothing with the rest of a plan, so that each team can be planned alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, permutations
from operator import or_
from typing import Final

import networkx as nx

from sagagraph.domains.reunion.plan import Act, Journey
from sagagraph.domains.reunion.planning.model.situation import drivers_of, roads_of
from sagagraph.domains.reunion.request import Person, ReunionProblem, Task
from sagagraph.domains.reunion.times import whole_minutes

Node = tuple[str, str]
Minutes = Mapping[str, Mapping[str, float]]
_FAR: Final = 1e6


@dataclass(frozen=True, slots=True)
class Team:
    people: frozenset[str] = frozenset()
    vehicles: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()

    def __or__(self, other: Team) -> Team:
        return Team(self.people | other.people, self.vehicles | other.vehicles, self.tasks | other.tasks)

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


# -- who fetches whom at first: a guess by the length of tours, which the search over teams then improves --------------


@dataclass(slots=True)
class _Tour:
    """Tour of a team's vehicles: from home in rounds, each with as many people as there are seats."""

    team: Team
    home: str
    minutes: float = 0.0


def allot(problem: ReunionProblem) -> tuple[Team, ...]:
    """Divide the whole problem into teams. People who are already where they are to be stay out of it, with what can be done
    there. All others, and tasks elsewhere, are taken in rounds of neighbours, the longest rounds first, by the vehicle that is
    back first.
    """
    teams = teams_of(problem)
    cars = {each.name: each for each in problem.vehicles}
    tours = [_Tour(team, cars[next(name for name in cars if name in team.vehicles)].place) for team in teams if team.vehicles]
    if not tours:
        return (joined(teams),)
    home = _at_home(problem, teams)
    waiting = [team for team in teams if not team.vehicles and not (team.people | team.tasks) <= (home.people | home.tasks)]
    room = [max(cars[name].seats - (cars[name].drivers is not None) for name in tour.team.vehicles) for tour in tours]
    rounds = _Rounds(problem)
    start = tours[0].home
    for team in sorted(rounds.of(waiting, start, max(1, min(room))), key=lambda each: -rounds.length(each, start)):
        best = min(tours, key=lambda tour: tour.minutes + rounds.length(team, tour.home))
        best.minutes += rounds.length(team, best.home)
        best.team |= team
    return (*((home,) if home.people else ()), *(tour.team for tour in tours))


def _at_home(problem: ReunionProblem, teams: tuple[Team, ...]) -> Team:
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


class _Rounds:
    """Rounds by the shortest ways."""

    def __init__(self, problem: ReunionProblem) -> None:
        self._problem = problem
        roads: nx.DiGraph[str] = nx.DiGraph()
        roads.add_nodes_from(problem.places)
        roads.add_weighted_edges_from((here, there, taken) for here, there, taken, _ in roads_of(problem))
        self._minutes: Minutes = dict(nx.all_pairs_dijkstra_path_length(roads))

    def of(self, teams: list[Team], home: str, seats: int) -> list[Team]:
        """Go from neighbour to neighbour, with as many people at a time as there are seats."""
        left = sorted(teams, key=lambda each: (sorted(each.people), sorted(each.tasks)))
        rounds: list[Team] = []
        place, current = home, Team()
        while left:
            near = min(left, key=lambda each: self._way([place, *self._stops(each)[:1]]))
            left.remove(near)
            if current.people and len(current.people | near.people) > seats:
                rounds.append(current)
                current = Team()
            current |= near
            place = (self._stops(near) or [place])[-1]
        return [*rounds, current] if current != Team() else rounds

    def length(self, team: Team, home: str) -> float:
        """Return the length of the way there and back, with what is to be done on the way."""
        work = sum(whole_minutes(task.minutes) for task in self._problem.tasks if task.name in team.tasks)
        return self._way([home, *self._stops(team), home]) + work

    def _stops(self, team: Team) -> list[str]:
        people = [each.place for each in self._problem.people if each.name in team.people]
        tasks = [task.place for task in self._problem.tasks if task.name in team.tasks and task.place is not None]
        return list(dict.fromkeys((*people, *tasks)))

    def _way(self, stops: list[str]) -> float:
        return sum(self._minutes[here].get(there, _FAR) for here, there in pairwise(stops))
