"""Teams: the roles of PRD-102 on a language model, and the same offline, on scripts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel

from sagagraph.context.answering import answer_of
from sagagraph.context.model import Answer, Model, Prices, Question, Usage
from sagagraph.context.slice import BYTES_PER_TOKEN
from sagagraph.coordination.agents import Agent, Brief, Turn, agent, things_at
from sagagraph.coordination.coordinator import Team
from sagagraph.coordination.core.budget import Priced
from sagagraph.coordination.core.matching import Tier
from sagagraph.coordination.outcomes import Reply
from sagagraph.errors import InvalidInputError, Refused, UnusableAnswerError
from sagagraph.graph.nested.child_saga import child_saga
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.harness.designs import design_for
from sagagraph.planning.page import Page
from sagagraph.registry import AnyEntry, entries, limits_of, model_of, open_domain
from sagagraph.saga.engine.actions import to_json
from sagagraph.saga.engine.engine import Engine
from sagagraph.settings import Settings
from sagagraph.workflow.values import Json

_ROLES: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...], Tier]]] = {
    "researcher": (("research",), ("search", "read"), Tier.MID),
    "analyst": (("analysis",), ("read",), Tier.MID),
    "writer": (("writing",), (), Tier.MID),
    "reviewer": (("review",), ("read",), Tier.MID),
    "coder": (("coding",), ("read",), Tier.TOP),
}
"""Role → its skills, tools and tier."""
_REVIEWER: Final = "reviewer"
_ANSWER_TOKENS: Final = 2048
_INSTRUCTIONS: Final = (
    "You do one task of a mission. The data holds the task, what it builds upon, and what was wrong with earlier attempts. "
    "Answer with the output. Say done: false only if you need another turn, and in found what more is needed that nobody has "
    "planned; otherwise leave it empty."
)


class Work(BaseModel):
    output: str
    done: bool = True
    found: str = ""


async def work(brief: Brief, turn: Turn) -> Reply:
    """Have the agent's model do the task."""
    said = await answer_of(turn.model, _INSTRUCTIONS, to_json(brief), Work, max_tokens=_ANSWER_TOKENS)
    if said is None:
        raise UnusableAnswerError(f"{turn.model.name} gave no output")
    return Reply(said.output, said.done, said.found)


def team_of(own: Priced, other: Priced | None = None, *, plans: bool = True) -> Team:
    """Return the roles on a model. `other`: one of another family, which reviews and judges; without it nobody judges."""

    def member(name: str) -> Agent:
        skills, tools, tier = _ROLES[name]
        of = other if name == _REVIEWER and other is not None else own
        return agent(name, work, skills=skills, tools=tools, model=Priced(of.model, tier, of.prices, of.kin))

    models = {tier: Priced(own.model, tier, own.prices, own.kin) for tier in Tier}
    return Team(
        tuple(map(member, _ROLES)),
        own if plans else None,
        (other,) if other else (),
        models,
        lambda name, tier: agent(name, work, model=models[tier]),
    )


def team_from(places: Iterable[str], settings: Settings, engine: Engine) -> Team:
    """Return a team: of the agents at these places, on the model of the settings, or, without either, on scripts; and always of
    the installed domains.

    A place may hold a whole `Team` instead, or a function that makes one. Raises `InvalidInputError`.
    """
    found = [each for place in places for each in things_at(place)]
    if teams := [each for each in found if isinstance(each, Team)]:
        return teams[0]
    own, model = scripted_team(), model_of(settings)
    if model is not None:
        prices = limits_of(settings).prices
        if prices is None:
            raise InvalidInputError("a mission's budget needs the prices of its model", field="SAGAGRAPH_MODEL_PRICES")
        own = team_of(Priced(model, prices=prices))
    if found:
        return replace(own, agents=tuple(found), hires=own.hires if model else None)
    designer = agent("designer", design, skills=("coding",), tools=("rules",))
    domains = [_of_domain(each, engine, settings) for each in entries() if each.runs_sagas and each.is_configured(settings)]
    return replace(own, agents=(*own.agents, designer, *domains))


def _of_domain(entry: AnyEntry, engine: Engine, settings: Settings) -> Agent:
    """Return an agent that is a domain: a task of its is a saga of its own, and undone with the mission."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[tuple[PlanningGraph, Page]]:
        async with open_domain(entry.name, settings, engine.store) as served:
            page = entry.page(served, None)
            if page is None:
                raise Refused(f"{entry.name} reads no requests", code="configuration")
            yield planning_graph(domain=served, engine=engine), page

    work = child_saga(f"agent.{entry.name}", entry.name, engine, opened)
    return agent(entry.name, work, skills=(entry.name,), tools=(entry.name,))


async def design(brief: Brief, _turn: Turn) -> Json:
    """Propose a guess first, and, once it is told which rules that breaks, a design that passes them."""
    request: Any = brief.request
    found = await asyncio.to_thread(design_for, str(request["harness"]))  # a proof takes seconds
    return found if brief.feedback else dict.fromkeys(found, 1)


# -- offline -----------------------------------------------------------------------------------------------------------


class ScriptedModel(Model):
    """A model that says what its script says: the same words for the same question."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    async def answer(self, question: Question) -> Answer:
        data: Any = question.data.data
        content = _SCRIPTS.get(str(question.schema["title"]), _nothing)(data, question.data.nonce)
        usage = Usage(self.name, len(question.data.text) // BYTES_PER_TOKEN, len(str(content)) // BYTES_PER_TOKEN, 0.0)
        if content is None:
            raise UnusableAnswerError(f"{self.name} has no script for this", usage=usage)
        return Answer(content, usage)


def _nothing(_data: Any, _nonce: str) -> Json:
    return None


def _worked(data: Any, _nonce: str) -> Json:
    return {"output": _TEXTS[data["type"]].format(**data), "done": True, "found": ""}


def _scored(data: Any, nonce: str) -> Json:
    scores = [{"number": each["number"], "score": 5, "confidence": 0.9, "reason": "as asked"} for each in data["criteria"]]
    return {"nonce": nonce, "scores": scores, "task_wrong": ""}


_SCRIPTS: Final = {"Work": _worked, "Scores": _scored}
_TEXTS: Final = {
    "research": "Sources on “{goal}”:\n1. An overview: https://example.org/overview\n2. A study: https://example.org/study",
    "analysis": "Key findings on “{goal}”:\n1. It is understood.\n2. It can be measured.\n3. It can be acted on.",
    "writing": "{title}\n\nExecutive Summary\nIt can be done.\n\nFindings\nThree findings.\n\nRecommendations\nBegin.",
    "review": "No factual errors were found in the work for “{goal}”. It is complete.",
    "coding": "The work for “{goal}” is done, with a test.",
    "simple": "Done: {title}.",
}


def scripted_team() -> Team:
    """Return a team that works offline: its work is a script, its journal and its accounts are real."""
    prices = Prices(3.0, 15.0)
    own = Priced(ScriptedModel("scripted:worker"), prices=prices, family="scripted")
    return team_of(own, Priced(ScriptedModel("another:judge"), prices=prices, family="another"), plans=False)
