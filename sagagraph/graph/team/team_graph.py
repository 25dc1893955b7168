"""Team graph: one node for each agent of a domain, in the order in which they depend on each other, then a plan from all of it.

It is a typed LangGraph state graph inside the planning graph's node `plan`. Each agent has a state of its own (`Said`); none sees
another's slice, only the results that it depends on. Agents that do not depend on each other run at the same time.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from sagagraph.context.manager import ContextManager, Issued
from sagagraph.errors import ContextMismatchError
from sagagraph.planning.agents.briefing import need_of, source_at
from sagagraph.planning.agents.speaking import Voice, heard
from sagagraph.planning.agents.team import SEARCH, Role, Said, Team
from sagagraph.saga.core.events import Entry

OPTIONS_TOKENS = 600
"""Room for the options in a slice of a thousand tokens."""


class TeamState(TypedDict):
    said: Annotated[dict[str, Said], operator.or_]
    """By role."""


@dataclass(frozen=True, slots=True)
class TeamContext:
    """Context that the agents' nodes work with."""

    team: Team
    entries: Sequence[Entry]
    """The saga's journal."""
    voice_of: Callable[[Role], Voice | None]
    """The voice of a role; None: the search."""
    lessons: Sequence[str] = ()
    before: Mapping[str, Said] = field(default_factory=dict)
    """What was said for the plan that was judged INVALID."""
    blamed: frozenset[str] = frozenset()
    """Roles to whose part the validators object."""


Compiled = Any  # LangGraph's compiled graph has four type parameters that mean nothing here


def team_graph(roles: Sequence[Role]) -> Compiled:
    """Return the graph of these roles, compiled. Each comes after those that it depends on."""
    graph: Any = StateGraph(TeamState, context_schema=TeamContext)
    by_name = {role.name: role for role in roles}
    for role in roles:
        graph.add_node(role.name, _speaking(role, by_name))
        graph.add_edge(list(role.after) or START, role.name)
    needed = {each for role in roles for each in role.after}
    graph.add_edge([role.name for role in roles if role.name not in needed], END)
    return graph.compile()


async def spoken(graph: Compiled, context: TeamContext) -> dict[str, Said]:
    """Run it, and return what each agent said.

    It runs apart from the graph whose node this is, whose checkpointer would otherwise keep what providers wrote.
    """
    apart = copy_context()
    apart.run(var_child_runnable_config.set, None)
    running = asyncio.create_task(graph.ainvoke({"said": {}}, context=context), context=apart)
    said: dict[str, Said] = (await running)["said"]
    return said


def _speaking(role: Role, roles: Mapping[str, Role]) -> Any:
    async def speak(state: TeamState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
        return {"said": {role.name: await _said(role, roles, state["said"], runtime.context)}}

    return speak


async def _said(role: Role, roles: Mapping[str, Role], said: Mapping[str, Said], context: TeamContext) -> Said:
    task = await context.team.task(role.name, said)
    inputs = task.within(OPTIONS_TOKENS)
    before = context.before.get(role.name)
    if before is not None and role.name not in context.blamed and before.inputs == inputs and _stands(before, roles, context):
        return before
    version = len(context.entries)
    manager = ContextManager(source_at(context.entries, roles, {role.name: inputs}, said))
    shown = manager.issue(role.name, role.name, need_of(role), version)
    told = Said(
        agent=role.name,
        version=version,
        slice_hash=shown.hash,
        slice_tokens=shown.tokens,
        inputs=inputs,
        candidates=task.proposed,
    )
    voice = context.voice_of(role)
    if voice is None or not any(len(options) > 1 for options in inputs.values()):
        return told
    candidates, why = await heard(voice, shown, context.lessons)
    if candidates:
        return told.model_copy(update={"by": voice.name, "candidates": candidates})
    return _partly(before, told, context).model_copy(update={"reason": why})


def _partly(before: Said | None, told: Said, context: TeamContext) -> Said:
    """Return what is still valid for an agent that has no round left: its candidates except the first, then those of the
    search.
    """
    if before is None or before.is_of_the_search or before.inputs != told.inputs:
        return told
    parts = {part: (*(before.candidates.get(part, ())[1:]), *some) for part, some in told.candidates.items()}
    is_kept = any(len(some) > len(told.candidates[part]) for part, some in parts.items())
    return told.model_copy(update={"candidates": parts, "by": before.by if is_kept else SEARCH})


def _stands(before: Said, roles: Mapping[str, Role], context: TeamContext) -> bool:
    """Tell whether an answer was given to the slice that its context still yields: after a crash as before it."""
    return restored(before, roles, context.entries, context.before) is not None


def restored(
    before: Said, roles: Mapping[str, Role], entries: Sequence[Entry], said: Mapping[str, Said]
) -> Mapping[str, Any] | None:
    """Return the facts that an agent was shown, made again from the journal; None if the journal now says something else."""
    issued = Issued(
        before.agent, before.agent, need_of(roles[before.agent]), before.version, before.slice_hash, before.slice_tokens
    )
    manager = ContextManager(source_at(entries, roles, {before.agent: before.inputs}, said))
    try:
        return manager.restore(issued).facts
    except ContextMismatchError:
        return None
