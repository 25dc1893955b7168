"""Agents of a reunion: transport, tasks and people (SagaLLM section 4).

The search finds whole days. The transport agent decides how each person travels, the tasks agent who does what and when; the same
search makes the day that keeps most of their choices; the people agent decides between that day and the search's, by what they
ask of everybody.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Final

from sagagraph.domains.reunion.plan import Act, Journey, ReunionPlan, Work
from sagagraph.domains.reunion.planning.measure import reasons, tradeoffs
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.times import text_of
from sagagraph.planning.agents.team import Option, Role, Said, Task
from sagagraph.planning.background import in_background
from sagagraph.planning.domain import Proposal
from sagagraph.validators.candidates import LONGEST_REASON, MOST_CANDIDATES, Candidate
from sagagraph.validators.verdict import Verdict, Violation

TRANSPORT, TASKS, PEOPLE = "transport", "tasks", "people"
DAY: Final = "the day"
MOST_PARTS: Final = 12
"""Parts for one agent: those that offer a choice come first. The search decides the other parts."""
_HOW: Final = (
    "For each part of `inputs`, choose one option, or several with the best one first. Use only the ids of that part's options, "
    "exactly as they are written. Give each a reason of one sentence that uses only numbers from the data, and your confidence "
    "from 0 to 1."
)
ROLES: Final = tuple(
    Role(name, f"You are the {name} agent of a team that plans a reunion. {does} {_HOW}", (), after)
    for name, does, after in (
        (TRANSPORT, "You choose how each person travels: with whom, in which vehicle, and when.", ()),
        (TASKS, "You choose who does each task, and when.", ()),
        (PEOPLE, "You choose the day that is best for everybody who takes part.", (TRANSPORT, TASKS)),
    )
)
Acts = tuple[Act, ...]
Way = tuple[Acts, str, list[ReunionPlan]]
"""The plans' options for a part, also in words, and which plans these are."""


@dataclass(frozen=True)
class ReunionTeam:
    """Team: the agents at work on one reunion. `plans`: the days that the search found, in the order of `solved`."""

    problem: ReunionProblem
    plans: tuple[ReunionPlan, ...]
    solved: tuple[Proposal, ...]
    finish: Callable[[ReunionProblem, ReunionPlan], ReunionPlan | None]
    proposal: Callable[[ReunionPlan, ReunionPlan], Awaitable[Proposal]]
    """Of a plan, compared with the preferred one."""
    _made: dict[Acts, ReunionPlan | None] = field(default_factory=dict)
    """Days that keep what was chosen, by the choice: the search makes each once."""

    async def task(self, role: str, said: Mapping[str, Said]) -> Task:
        if role == PEOPLE:
            days = await self._days(said)
            return self._task({DAY: [(each.actions, "; ".join(reasons(self.problem, each)), [each]) for each in days]})
        parts = self._parts(role)
        in_order = sorted(parts, key=lambda part: len(parts[part]) < 2)
        return self._task({part: parts[part] for part in in_order[:MOST_PARTS]})

    async def composed(self, said: Mapping[str, Said]) -> Proposal | Verdict:
        days = {f"{DAY} {n}": each for n, each in enumerate(await self._days(said), 1)}
        preferred = [each.choose for each in said[PEOPLE].candidates.get(DAY, ())]
        plan = next((days[name] for name in preferred if name in days), None)
        if plan is None:
            message = "no valid day has what the agents chose"
            return Verdict.of([Violation(code="UNAVAILABLE", message=message, scope={"part": DAY})])
        return await self.proposal(plan, self.plans[0])

    # -- what there is to choose from ----------------------------------------------------------------------------------

    def _parts(self, role: str) -> dict[str, list[Way]]:
        """Return the parts that the role decides, each with the plans' options for it, and which plans have them."""
        kind, nothing = (Journey, "does not travel") if role == TRANSPORT else (Work, "nobody does it")
        acts = {plan: [act for act in plan.in_time if isinstance(act, kind)] for plan in self.plans}
        found: dict[str, list[Way]] = {}
        for part in dict.fromkeys(name for own in acts.values() for act in own for name in _concerned(act)):
            ways: dict[Acts, list[ReunionPlan]] = {}
            for plan, own in acts.items():
                ways.setdefault(tuple(act for act in own if part in _concerned(act)), []).append(plan)
            found[part] = [(chosen, "; ".join(map(_in_words, chosen)) or nothing, plans) for chosen, plans in ways.items()]
        return found

    def _task(self, parts: Mapping[str, Sequence[Way]]) -> Task:
        options = {
            part: tuple(Option(f"{part} {n}", {"what": what}) for n, (_, what, _) in enumerate(ways, 1))
            for part, ways in parts.items()
        }
        proposed = {
            part: tuple(self._candidate(f"{part} {n}", plans) for n, (_, _, plans) in enumerate(ways[:MOST_CANDIDATES], 1))
            for part, ways in parts.items()
        }
        return Task(options, proposed)

    def _candidate(self, name: str, plans: Sequence[ReunionPlan]) -> Candidate:
        """Return a candidate. The search's confidence in an option is the share of measures in which no plan beats one that has
        it.
        """
        best = [min(column) for column in zip(*(self._figures(each) for each in self.plans), strict=True)]
        mine = [min(column) for column in zip(*(self._figures(each) for each in plans), strict=True)]
        sure = sum(have <= least for have, least in zip(mine, best, strict=True)) / len(best)
        preferred = self.plans[0]
        why = "it is in the best day" if preferred in plans else reasons(self.problem, plans[0], preferred)[0]
        return Candidate(choose=name, reason=why[:LONGEST_REASON], confidence=round(sure, 2))

    def _figures(self, plan: ReunionPlan) -> tuple[float, ...]:
        return tuple(each or 0 for each in astuple(tradeoffs(self.problem, plan)))

    # -- the day that keeps most of what was chosen --------------------------------------------------------------------

    async def _days(self, said: Mapping[str, Said]) -> tuple[ReunionPlan, ...]:
        """Return the days to choose between: the one made from the agents' choices, then those of the search."""
        if all(said[role].is_of_the_search for role in (TRANSPORT, TASKS)):
            return self.plans
        acts = self._chosen(said)
        if acts not in self._made:
            draft = ReunionPlan.model_construct(problem=self.problem.name, actions=acts)
            self._made[acts] = await in_background(self.finish, self.problem, draft)
        made = self._made[acts]
        return self.plans if made is None else (made, *(each for each in self.plans if each != made))

    def _chosen(self, said: Mapping[str, Said]) -> Acts:
        """Return everything that was chosen, and what the preferred plan has for parts that nobody decided."""
        acts: dict[Act, None] = {}
        for role in (TRANSPORT, TASKS):
            for part, ways in self._parts(role).items():
                some = said[role].candidates.get(part)
                number = int(some[0].choose.removeprefix(f"{part} ")) if some else 1
                acts |= dict.fromkeys(ways[number - 1][0])
        return tuple(acts)


def _concerned(act: Act) -> tuple[str, ...]:
    """Return the parts that an act belongs to: everybody in a journey, or the task that is done."""
    return act.people if isinstance(act, Journey) else (act.task,)


def _in_words(act: Act) -> str:
    when = f"{text_of(act.start)} to {text_of(act.end)}"
    if isinstance(act, Journey):
        riders = f" with {', '.join(act.riders)}" if act.riders else ""
        return f"{when} {act.driver or act.vehicle} drives {act.vehicle} from {act.from_} to {act.to}{riders}"
    return f"{when} {', '.join(act.who)}"
