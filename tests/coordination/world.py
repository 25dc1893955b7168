"""A world for missions: virtual time, agents that do as they are told, and a ledger of every call of agent, judge and planner."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, TypeVar

from sagagraph.context.model import Answer, Prices, Question, Usage
from sagagraph.coordination.agents import Agent, Brief, Turn, agent
from sagagraph.coordination.coordinator import Coordinator, Team
from sagagraph.coordination.core.budget import Priced
from sagagraph.coordination.core.config import Config, read_config
from sagagraph.coordination.core.matching import Tier
from sagagraph.coordination.core.mission import Mission
from sagagraph.coordination.templates import Template
from sagagraph.coordination.view import events_json
from sagagraph.errors import ModelError
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.memory import MemorySagaStore
from tests.saga.simulated_world import VirtualLoop

T = TypeVar("T")
MUST = {"criterion": "is good", "must_pass": True}
NOTHING_TO_JUDGE = {"criterion": "is there", "must_pass": True, "check": {"length": {"min": 1}}}


def task(order: int, **changes: Any) -> dict[str, Any]:
    return {"order": order, "title": f"T{order}", "type": "writing", "cost": "0.10", "criteria": [NOTHING_TO_JUDGE], **changes}


def plan(tasks: Sequence[dict[str, Any]], edges: Sequence[tuple[int, int]] = (), **rules: str) -> dict[str, Any]:
    return {"tasks": list(tasks), "edges": [{"from": of, "to": to, **rules} for of, to in edges]}


def chain(number: int, **changes: Any) -> dict[str, Any]:
    return plan([task(n, **changes) for n in range(1, number + 1)], [(n, n - 1) for n in range(2, number + 1)])


DIAMOND = plan([task(n) for n in range(1, 5)], [(2, 1), (3, 1), (4, 2), (4, 3)])


@dataclass
class Script:
    """A model of scripts: what it says next to a question with this title; the last entry is repeated."""

    name: str
    says: dict[str, list[Any]] = field(default_factory=dict)
    tokens: tuple[int, int] = (100, 100)
    asked: list[Question] = field(default_factory=list)

    async def answer(self, question: Question) -> Answer:
        self.asked.append(question)
        script = self.says.get(str(question.schema["title"]), [])
        said = (script.pop(0) if len(script) > 1 else script[0]) if script else None
        if said is None:
            raise ModelError(f"{self.name} is down")
        content = said(question) if callable(said) else said
        return Answer(content, Usage(self.name, *self.tokens, 0.0))


def scored(score: int, reason: str = "", confidence: float = 0.9, wrong: str = "") -> Callable[[Question], Any]:
    def say(question: Question) -> Any:
        data: Any = question.data.data
        one = {"score": score, "confidence": confidence, "reason": reason}
        scores = [{"number": each["number"], **one} for each in data["criteria"]]
        return {"nonce": question.data.nonce, "scores": scores, "task_wrong": wrong}

    return say


Work = Callable[[Brief, Turn], Any]
WORLDS: list[World] = []
"""Those to close when a test has ended."""


def fine(brief: Brief, turn: Turn) -> str:
    return f"{brief.title} is done"


class World:
    """`agents`: name → what it does; `judge`: what it says of outputs, one after the other."""

    def __init__(
        self,
        document: Mapping[str, Any],
        agents: Mapping[str, Work] | Sequence[Agent] = {"ann": fine},
        *,
        judge: Sequence[Any] = (),
        planner: Sequence[Any] = (),
        limit: int = 3,
        **team: Any,
    ) -> None:
        self.loop = VirtualLoop()
        WORLDS.append(self)
        self.calls: list[tuple[str, str, int]] = []
        """Agent, task, attempt."""
        self.briefs: list[Brief] = []
        made = agents if isinstance(agents, Sequence) else [self.agent(name, each, limit=limit) for name, each in agents.items()]
        self.judge = Script("other:judge", {"Scores": list(judge)})
        self.planner = Script("own:planner", {"Revision": list(planner), "MissionPlan": list(planner)})
        template = Template("go", "go", dict(document), (("go",),))
        self.team = Team(
            tuple(made),
            Priced(self.planner) if planner else None,
            (Priced(self.judge),) if judge else (),
            templates=() if team.pop("novel", False) else (template,),
            **team,
        )
        self.store = MemorySagaStore(self.loop.time)
        self.engine = Engine(self.store, clock=self.loop.time)
        self.coordinator = self.another(self.engine)

    def another(self, engine: Engine) -> Coordinator:
        numbers = count(1)
        return Coordinator(engine, self.team, clock=self.loop.time, new_id=lambda: f"{id(engine):x}{next(numbers)}")

    def agent(self, name: str, work: Work, **options: Any) -> Agent:
        async def listed(brief: Brief, turn: Turn) -> Any:
            self.calls.append((name, brief.title, brief.attempt))
            self.briefs.append(brief)
            found = work(brief, turn)
            return await found if asyncio.iscoroutine(found) else found

        return agent(name, listed, skills=options.pop("skills", ("writing",)), **options)

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(doing)

    def staff(self, *agents: Agent, **team: Any) -> None:
        """Give the work to others."""
        self.team = replace(self.team, agents=agents, **team)
        self.coordinator = self.another(self.engine)

    def close(self) -> None:
        if self.loop.is_closed():
            return
        self.run(self.engine.close())
        for each in asyncio.all_tasks(self.loop):
            each.cancel()
        self.run(asyncio.sleep(0.01))
        self.loop.close()

    def begin(self, goal: str = "go", mission_id: str = "m", **config: Any) -> Mission:
        return self.run(self.coordinator.begin(goal, configured(**config), mission_id=mission_id))

    def say(self, verb: str, mission_id: str = "m", **told: Any) -> Mission:
        return self.run(self.coordinator.say(mission_id, verb, told, by="Pat"))

    def events(self, mission_id: str = "m") -> list[dict[str, Any]]:
        return events_json(self.run(self.engine.load(mission_id)))

    def kinds(self, order: int | None = None) -> list[str]:
        """The types of events, of one task or of the mission, without those about models and wishes."""
        told = [each for each in self.events() if each.get("task") == order]
        return [each["type"] for each in told if not each["type"].startswith(("model_", "wish_"))]


def configured(**config: Any) -> Config:
    return read_config({"autonomy_mode": "full_auto", "max_seconds": 1e9, **config})


def states(mission: Mission) -> list[str]:
    return [each.state.value for each in mission.tasks.values()]


async def spends(brief: Brief, turn: Turn) -> str:
    """An agent that asks its model once."""
    from sagagraph.context.quoting import Quoted

    question = Question("work", Quoted({"task": brief.title}, "n"), {"title": "Work"}, max_tokens=100)
    answer = await turn.model.answer(question)
    return str(answer.content)


def spender(world: World | None = None, *, dollars: float = 0.10, tier: Tier = Tier.MID) -> Priced:
    """A model each of whose calls costs so many dollars: 100 tokens in and 100 out."""
    script = Script("own:worker", {"Work": ["done"]})
    return Priced(script, tier, Prices(0.0, dollars * 10_000), "own")
