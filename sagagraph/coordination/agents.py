"""Agents: who does tasks: functions, actions with compensations, LangChain's tools and runnables, LangGraph's agents."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from sagagraph.context.model import Model
from sagagraph.coordination.core.budget import Priced
from sagagraph.coordination.core.config import Config
from sagagraph.coordination.core.matching import Profile, Tier
from sagagraph.coordination.core.plan import TaskSpec
from sagagraph.coordination.outcomes import Reply
from sagagraph.errors import InvalidInputError, NotAllowedError, Refused
from sagagraph.extras import thing_at
from sagagraph.factory.remote import RemoteAgent
from sagagraph.factory.roster import Roster
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, action
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.policy import Policy, Retry
from sagagraph.workflow.values import Json

ONCE: Final = Policy(retry=Retry(1), timeout_s=86_400.0)
"""Of work without an effect: the mission repeats it, and stops what is silent far earlier."""


@dataclass(frozen=True, slots=True)
class Brief:
    """Brief: all that an agent is told about a task."""

    goal: str
    title: str
    description: str = ""
    criteria: tuple[str, ...] = ()
    inputs: Mapping[str, Json] = field(default_factory=dict)
    """Task → its output, for each prerequisite that hands one on."""
    attempt: int = 1
    of_attempts: int = 3
    turn: int = 1
    so_far: Json = None
    """What the last turn of this attempt left."""
    feedback: tuple[Mapping[str, Json], ...] = ()
    instructions: tuple[str, ...] = ()
    request: Json = None
    tools: tuple[str, ...] = ()
    type: str = "simple"

    @property
    def prompt(self) -> str:
        """The brief as text."""
        lines = [f"Goal: {self.goal}", f"Your task: {self.title}", self.description]
        lines += [f"It counts that: {each}" for each in self.criteria]
        lines += [f"Given by {name}: {value}" for name, value in self.inputs.items()]
        lines += [f"Also: {each}" for each in self.instructions]
        if self.feedback:
            lines.append(f"This is attempt {self.attempt} of {self.of_attempts}. Earlier ones were not accepted:")
            lines += [f"- {dict(each)}" for each in self.feedback]
        if self.turn > 1:
            lines.append(f"This is turn {self.turn}. So far: {self.so_far}")
        return "\n".join(each for each in lines if each)


@dataclass(frozen=True, slots=True)
class Turn:
    """Turn under way: what an agent may do beside its own work. `current_turn()` returns it."""

    brief: Brief
    own: Model | None
    tools: frozenset[str]
    progress: Callable[[str], Awaitable[None]]
    """Tells that something happens: an agent that does is not taken for stalled."""

    @property
    def model(self) -> Model:
        """The agent's model, behind the mission's budget. Raises `Refused` if it has none."""
        if self.own is None:
            raise Refused("this agent has no model", code="unknown_model")
        return self.own


_TURN: ContextVar[Turn] = ContextVar("sagagraph_turn")


def current_turn() -> Turn:
    """Return the turn under way. Raises `NotAllowedError` outside an agent."""
    try:
        return _TURN.get()
    except LookupError:
        raise NotAllowedError("current_turn() works only inside an agent of a mission") from None


def enter_turn(turn: Turn) -> None:
    _TURN.set(turn)


@dataclass(frozen=True, slots=True, eq=False)
class Agent:
    """Agent. `work`: the action whose calls are its turns. `ask`: makes the request of a call from a brief."""

    id: str
    work: Action
    skills: tuple[str, ...] = ()
    tools: frozenset[str] = frozenset()
    model: Priced | None = None
    tier: Tier = Tier.MID
    limit: int = 1
    online: bool = True
    ask: Callable[[Brief], Any] = lambda brief: brief
    price: Decimal = Decimal(0)
    """What a turn costs beside its model's calls: that of an agent with a purse of its own."""

    @property
    def profile(self) -> Profile:
        tier, family = (self.model.tier, self.model.kin) if self.model else (self.tier, "")
        special = self.work.kind is not ActionKind.READ_ONLY
        return Profile(self.id, self.skills, self.tools, tier, family, {}, 0, self.limit, self.online, special)


def agent(
    name: str,
    thing: Any,
    *,
    skills: Iterable[str] = (),
    tools: Iterable[str] = (),
    model: Priced | None = None,
    tier: Tier = Tier.MID,
    limit: int = 1,
    ask: Callable[[Brief], Any] | None = None,
    price: str | Decimal = "0",
) -> Agent:
    """Make an agent of an action, a function `f(brief, turn)`, a tool, a LangChain runnable or LangGraph agent, or a remote one.

    Only an action can have effects, with its compensation; it is called with the task's `request`. `ask` says otherwise what a
    call is made with. Raises `InvalidInputError` for anything else.
    """
    if isinstance(thing, Action):
        work, how = thing, _request_of
    elif isinstance(thing, RemoteAgent):
        work, how = thing.action(name, _tells), _request_of
    elif inspect.isfunction(thing) or inspect.ismethod(thing):
        work, how = _of_function(name, thing), (lambda brief: brief)
    else:
        is_named = getattr(thing, "name", None) or not hasattr(thing, "with_config")
        member = Roster.of([thing if is_named else thing.with_config(run_name=name)])
        work, how = member.members[0].action, _messages_of if _takes_messages(thing) else _request_of
    made = replace(work, policy=ONCE) if work.kind is ActionKind.READ_ONLY else work
    return Agent(name, made, tuple(skills), frozenset(tools), model, tier, limit, ask=ask or how, price=Decimal(price))


async def _tells(what: str) -> None:
    await current_turn().progress(what)


def _takes_messages(thing: Any) -> bool:
    """Tell whether it is a graph whose state has messages, as LangGraph's agents do."""
    return "messages" in getattr(thing, "channels", {})


def _request_of(brief: Brief) -> Any:
    return brief.prompt if brief.request is None else brief.request


def _messages_of(brief: Brief) -> Any:
    return {"messages": [{"role": "user", "content": brief.prompt}]}


def _of_function(name: str, function: Callable[..., Any]) -> Action:
    @action(name=f"agent.{name}", kind=ActionKind.READ_ONLY)
    async def work(request: Any, call: Call) -> Any:  # noqa: ARG001 - an action's signature
        turn = current_turn()
        found = function(turn.brief, turn)
        return await found if inspect.isawaitable(found) else found

    return work


def reply_of(output: Any) -> Reply:
    """Return what an agent's output says: a `Reply`, the last of its messages, or the output itself."""
    if isinstance(output, Mapping):
        if set(output) == {"output", "done", "found"}:
            return Reply(output["output"], bool(output["done"]), str(output["found"]))
        messages = output.get("messages")
        if isinstance(messages, list) and messages:
            last = messages[-1]
            return Reply(last.get("content") if isinstance(last, Mapping) else str(last))
    return Reply(output)


# -- policy of tools (section 11) --------------------------------------------------------------------------------------


def allowed_tools(config: Config, task: TaskSpec, has: frozenset[str]) -> frozenset[str]:
    """Return the tools that an agent may use for a task: each tier only narrows, and a denial wins."""
    allowed = has if config.allowed_tools is None else has & frozenset(config.allowed_tools)
    return (allowed & frozenset(task.tools) if task.tools else allowed) - frozenset(config.denied_tools)


def things_at(place: str) -> tuple[Any, ...]:
    """Return what is at `package.module:NAME`, or what a function there makes. Raises `InvalidInputError`."""
    found = thing_at(place, "--agents")
    made = found() if inspect.isfunction(found) else found
    things = tuple(made) if isinstance(made, list | tuple) else (made,)
    if strange := [each for each in things if not isinstance(each, Agent) and not hasattr(each, "agents")]:
        raise InvalidInputError(f"{place!r} holds a {type(strange[0]).__name__}, and no Agent", field="--agents")
    return things
