"""Allotment: who fetches whom at first: a guess by the length of tours, which the search over teams then improves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import networkx as nx

from sagagraph.domains.reunion.planning.model.situation import roads_of
from sagagraph.domains.reunion.planning.teams.team import Team, teams_of
from sagagraph.domains.reunion.times import whole_minutes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sagagraph.domains.reunion.request import Person, ReunionProblem, Task

    Minutes = Mapping[str, Mapping[str, float]]


@dataclass(slots=True)
class _Tour:
    """Of the vehicles of a team: from home in rounds, each with as many as there are seats."""

    team: Team
    home: str
    seats: int
    minutes: float = 0.0


_FAR: Final = 1e6


def allot(problem: ReunionProblem) -> tuple[Team, ...]:
    """Teams that all of the problem is divided into. Whoever is where they are to be stays out of it, with what can be done
    there. All others, and what is to be done elsewhere, are taken in rounds of neighbours, the longest rounds first, by the
    vehicle that is back first."""
    minutes = _distances(problem)
    teams = teams_of(problem)
    tours = [_tour(problem, team) for team in teams if team.vehicles]
    if not tours:
        return (_all(problem),)
    home = _at_home(problem, teams)
    waiting = [team for team in teams if not team.vehicles and not (team.people | team.tasks) <= (home.people | home.tasks)]
    seats = min(tour.seats for tour in tours)
    rounds = _rounds(problem, minutes, waiting, tours[0].home, seats)
    for team in sorted(rounds, key=lambda each: -_length(problem, minutes, each, tours[0].home)):
        best = min(tours, key=lambda tour: tour.minutes + _length(problem, minutes, team, tour.home))
        best.minutes += _length(problem, minutes, team, best.home)
        best.team |= team
    return (*((home,) if home.people else ()), *(tour.team for tour in tours))


def _at_home(problem: ReunionProblem, teams: tuple[Team, ...]) -> Team:
    """Those who need not go anywhere, and what they can do where they are."""
    home = Team()
    for team in teams:
        people = [each for each in problem.people if each.name in team.people]
        if people and not team.vehicles and all(_may_stay(problem, each) for each in people):
            home |= team
    stay = [each for each in problem.people if each.name in home.people]
    doable = (team for team in teams if not team.vehicles and not team.people)
    for team in doable:
        if all(task.place is None or _can_do(task, stay) for task in _tasks(problem, team)):
            home |= team
    return home


def _rounds(problem: ReunionProblem, minutes: Minutes, teams: list[Team], home: str, seats: int) -> list[Team]:
    """From neighbour to neighbour, as many people at a time as there are seats."""
    left = sorted(teams, key=lambda each: (sorted(each.people), sorted(each.tasks)))
    rounds: list[Team] = []
    place, current = home, Team()
    while left:
        near = min(left, key=lambda each: _way(minutes, place, _stops(problem, each)[:1]))
        left.remove(near)
        if current.people and len(current.people | near.people) > seats:
            rounds.append(current)
            current = Team()
        current |= near
        place = (_stops(problem, near) or [place])[-1]
    return [*rounds, current] if current != Team() else rounds


def _stops(problem: ReunionProblem, team: Team) -> list[str]:
    people = (each.place for each in problem.people if each.name in team.people)
    tasks = (task.place for task in _tasks(problem, team) if task.place is not None)
    return list(dict.fromkeys((*people, *tasks)))


def _length(problem: ReunionProblem, minutes: Minutes, team: Team, home: str) -> float:
    """There and back, with what is to be done on the way."""
    work = sum(whole_minutes(task.minutes) for task in _tasks(problem, team))
    return _way(minutes, home, [*_stops(problem, team), home]) + work


def _way(minutes: Minutes, start: str, stops: list[str]) -> float:
    return sum(minutes[here].get(there, _FAR) for here, there in pairwise([start, *stops]))


def _all(problem: ReunionProblem) -> Team:
    return Team(
        frozenset(each.name for each in problem.people),
        frozenset(each.name for each in problem.vehicles),
        frozenset(each.name for each in problem.tasks),
    )


def _tasks(problem: ReunionProblem, team: Team) -> list[Task]:
    return [task for task in problem.tasks if task.name in team.tasks]


def _can_do(task: Task, people: list[Person]) -> bool:
    able = [each for each in people if each.place == task.place and (task.who is None or each.name in task.who)]
    return len(able) >= task.people


def _may_stay(problem: ReunionProblem, person: Person) -> bool:
    shared = (goal for goal in problem.goals if goal.people == "all" or person.name in goal.people)
    return all(goal.place == person.place for goal in (*person.goals, *shared))


def _tour(problem: ReunionProblem, team: Team) -> _Tour:
    cars = [each for each in problem.vehicles if each.name in team.vehicles]
    seats = max(each.seats - (0 if each.drivers is None else 1) for each in cars)
    return _Tour(team, cars[0].place, max(1, seats))


def _distances(problem: ReunionProblem) -> Minutes:
    """Of the shortest ways."""
    roads: nx.DiGraph[str] = nx.DiGraph()
    roads.add_nodes_from(problem.places)
    roads.add_weighted_edges_from((here, there, taken) for here, there, taken, _ in roads_of(problem))
    return dict(nx.all_pairs_dijkstra_path_length(roads))
