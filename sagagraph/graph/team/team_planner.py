"""Team planner: has a domain's agents plan together, and makes proposals from what they said."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sagagraph.context.model import Model
from sagagraph.errors import InvalidInputError
from sagagraph.graph.team.team_graph import TeamContext, spoken, team_graph
from sagagraph.planning.agents.briefing import concerns
from sagagraph.planning.agents.speaking import AgentVoice, Asking, ModelVoice, Voice
from sagagraph.planning.agents.team import Agent, Role, Runnable, Said, Team, Teamed
from sagagraph.planning.domain import Infeasible, Json, Proposal
from sagagraph.planning.models.limits import Limits, Record
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.state import Saga
from sagagraph.validators.verdict import Verdict, VerdictStatus

Lessons = Callable[[], Awaitable[Sequence[str]]]
"""What validators objected to in earlier sagas, in our own words."""


async def no_lessons() -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Planned:
    proposals: tuple[Proposal, ...]
    """The preferred one first."""
    agents: tuple[Json, ...]
    """What each agent was shown and said."""


class TeamPlanner:
    """Planner by a team. `model`: takes every role that none of `agents` takes; without one, the search does."""

    def __init__(
        self,
        domain: Teamed,
        *,
        model: Model | None = None,
        limits: Limits | None = None,
        agents: Mapping[str, Agent | Runnable | Model] | None = None,
        lessons: Lessons = no_lessons,
    ) -> None:
        self._domain = domain
        self._model = model
        self._limits = limits or Limits()
        self._agents = agents or {}
        self._lessons = lessons
        self._graph = team_graph(domain.roles)
        if strange := self._agents.keys() - {role.name for role in domain.roles}:
            known = ", ".join(role.name for role in domain.roles)
            raise InvalidInputError(f"there is no role {min(strange)!r}; there are {known}", field="agents")

    async def propose(self, saga: Saga, entries: Sequence[Entry], record: Record) -> Planned | Infeasible:
        """Have the agents plan. `entries`: the saga's journal. Raises `ProviderError` if the provider cannot be asked."""
        team = await self._domain.team(saga.request)
        if isinstance(team, Infeasible):
            return team
        before = _said_before(saga)
        voice_of = self._voices(record, saga)
        context = TeamContext(team, entries, voice_of, await self._lessons(), before, _blamed(saga, before))
        said = await spoken(self._graph, context)
        in_order = tuple(said[role.name] for role in self._domain.roles)
        proposals = await _proposals(team, said, saga.plan.hash if before else None)
        return Planned(proposals, tuple(each.model_dump(mode="json", exclude_defaults=True) for each in in_order))

    def _voices(self, record: Record, saga: Saga) -> Callable[[Role], Voice | None]:
        asked: dict[str, Asking] = {}

        def voice_of(role: Role) -> Voice | None:
            agent = self._agents.get(role.name, self._model)
            if agent is None:
                return None
            if not isinstance(agent, Model):
                return AgentVoice(agent, self._limits)
            return ModelVoice(asked.setdefault(agent.name, Asking(agent, self._limits, record, saga)), role)

        return voice_of


async def _proposals(team: Team, said: Mapping[str, Said], judged: str | None) -> tuple[Proposal, ...]:
    """Return the plan made from what all agents said, then the search's. `judged`: the hash of one that was found INVALID."""
    why = tuple(dict.fromkeys(each.reason for each in said.values() if each.reason))
    solved = tuple(replace(each, reasons=(*each.reasons, *why)) for each in team.solved)
    authors = tuple(dict.fromkeys(each.by for each in said.values() if not each.is_of_the_search))
    if not authors:
        return solved
    found = await team.composed(said)
    if isinstance(found, Verdict) or found.plan_hash == judged:
        again = f"{', '.join(authors)} proposed again what was found INVALID: planned without it"
        told = tuple(each.message for each in found.violations) if isinstance(found, Verdict) else (again,)
        return tuple(replace(each, reasons=(*each.reasons, *told)) for each in solved)
    others = (each for each in solved if each.plan_hash != found.plan_hash)
    return (replace(found, reasons=(*found.reasons, *why), proposed_by=", ".join(authors)), *others)


def _said_before(saga: Saga) -> dict[str, Said]:
    """Return what was said about the plan that was proposed last, if it was judged INVALID."""
    verdict = saga.plan.verdict or {}
    if verdict.get("verdict") != VerdictStatus.INVALID.value:
        return {}
    return {each["agent"]: Said.model_validate(each) for each in saga.plan.agents}


def _blamed(saga: Saga, said: Mapping[str, Said]) -> frozenset[str]:
    """Return the roles whose part the validators object to: all, if it is no single part."""
    violations = (saga.plan.verdict or {}).get("violations", ())
    return frozenset(
        name for name, each in said.items() if any(concerns(violation.get("scope", {}), each.inputs) for violation in violations)
    )
