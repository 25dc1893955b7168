"""Roster: who can carry tasks out, whatever they are: actions, tools of LangChain and MCP servers, agents and other runnables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from inspect import ismodule
from typing import Any

from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from sagagraph.errors import InvalidInputError
from sagagraph.extras import thing_at
from sagagraph.factory.remote import RemoteAgent
from sagagraph.graph.tools import action_of
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, action
from sagagraph.workflow.kind import ActionKind


@dataclass(frozen=True, slots=True)
class Member:
    """Member of a roster. `capabilities`: in words of its own; the names of its action and its fields count as well.

    `most_context`: how many tokens of context it takes, at most.
    """

    action: Action
    capabilities: frozenset[str] = frozenset()
    most_context: int | None = None


@dataclass(frozen=True, slots=True)
class Roster:
    members: tuple[Member, ...]
    actions: Mapping[str, Action] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", {each.action.name: each.action for each in self.members})

    @classmethod
    def of(cls, things: Iterable[Any]) -> Roster:
        """Return a roster of actions, tools, named runnables and members. Raises `InvalidInputError` for anything else."""
        return cls(tuple(_member(each) for each in things))


def roster_at(places: Iterable[str]) -> Roster:
    """Return what is at each `package.module:NAME`; of a module alone, all its actions. Raises `InvalidInputError`."""
    return Roster.of(each for place in places for each in _things_at(place))


def _things_at(place: str) -> Iterable[Any]:
    found = thing_at(place, "--actions")
    things = [each for each in vars(found).values() if isinstance(each, Action)] if ismodule(found) else found
    things = getattr(things, "actions", things)
    if not isinstance(things, list | tuple):
        raise InvalidInputError(f"{place!r} is a {type(things).__name__}, and no list of actions or tools", field="--actions")
    return things


def _member(thing: Any) -> Member:
    if isinstance(thing, Member):
        return thing
    if isinstance(thing, Action):
        return Member(thing)
    if isinstance(thing, RemoteAgent):
        return Member(thing.action(thing.name))
    if isinstance(thing, BaseTool):
        return Member(_of_tool(thing), frozenset(thing.description.lower().split()))
    name = getattr(thing, "name", None)
    if isinstance(thing, Runnable) and name:
        return Member(_of_runnable(thing, name))
    raise InvalidInputError(f"{thing!r} is neither an action nor a tool nor a runnable with a name", field="--actions")


def _of_tool(tool: BaseTool) -> Action:
    """Return the action that `saga_tool` or `mcp_tools` made of it; any other tool reads, and changes nothing."""
    return action_of(tool) or _of_runnable(tool, tool.name)


def _of_runnable(runnable: Runnable[Any, Any], name: str) -> Action:
    @action(name=name, kind=ActionKind.READ_ONLY)
    async def ask(request: Any, call: Call) -> Any:
        """A thread of its own for each operation: an agent that is asked again goes on where it was."""
        answer = await runnable.ainvoke(request, {"configurable": {"thread_id": call.operation_key}})
        return answer.model_dump(mode="json") if hasattr(answer, "model_dump") else answer

    return ask
