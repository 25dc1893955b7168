"""Errors of models as SagaLLM (tables 5 to 8) and ALAS (tables 22 to 27) have them, in a trip, by the real clients over HTTP.

Each is named by the validator whose slice shows it; the trip ends VALID in at most three rounds, or by the search. Without the
validators most of them would have been booked: the ablation counts how many.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from sagagraph import Engine
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.planning.agents import TripTeam
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.domains.travel.request import TripRequest
from sagagraph.domains.travel.rules.evidence import gather_evidence
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.planning.agents.speaking import ROUNDS
from sagagraph.planning.agents.team import Role, Said
from sagagraph.planning.models.limits import Limits
from sagagraph.planning.models.llm import init_model
from sagagraph.saga.core import events as e
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from tests.support.agents import Options, candidates, first, picking, role_of, shown_to
from tests.support.models import Asked, ModelServer, Say
from tests.support.models.script import Move
from tests.support.today import TODAY

pytestmark = pytest.mark.skipif(find_spec("langchain_openai") is None, reason="the optional extra 'llm' is not installed")

REQUEST: dict[str, Any] = {
    "origin": "New York",
    "stops": [{"city": "London", "nights": 3}, {"city": "Paris", "nights": 2}],
    "depart": "2025-06-04",
    "budget": 1700,
}
Chosen = dict[str, list[str]]


@dataclass(frozen=True)
class Error:
    """`wrong`: what the model answers as that agent, once or always; the others choose what stands first."""

    name: str
    role: str
    wrong: Callable[[Mapping[str, Options]], Any]
    validator: str
    always: bool = False


def firsts(inputs: Mapping[str, Options]) -> Chosen:
    return {part: [options[0]["id"]] for part, options in inputs.items()}


def dearest(inputs: Mapping[str, Options]) -> Any:
    return candidates({part: [max(some, key=lambda each: float(each["price"]))["id"]] for part, some in inputs.items()})


def another_day(inputs: Mapping[str, Options]) -> Any:
    """A first flight that lands on another day than the hotel is booked for."""

    def lands(option: Mapping[str, Any]) -> str:
        return str(option["note"])[-16:-6]

    options = inputs["T1"]
    (late, *_) = [each["id"] for each in options if lands(each) != lands(options[0])]
    return candidates({**firsts(inputs), "T1": [late]})


def without_the_last(inputs: Mapping[str, Options]) -> Any:
    return candidates(dict(list(firsts(inputs).items())[:-1]))


def swapped(inputs: Mapping[str, Options]) -> Any:
    return candidates(dict(zip(inputs, reversed(list(firsts(inputs).values())), strict=True)))


def invented(inputs: Mapping[str, Options]) -> Any:
    return candidates({part: [f"{names[0]}0"] for part, names in firsts(inputs).items()})


def somebody_s(inputs: Mapping[str, Options]) -> Any:
    return candidates({**firsts(inputs), "T9": ["hotel.ROM-1.2024-01-01.2024-01-05.x1"]})


ERRORS = (
    Error("forgets the budget over the wishes (attention narrowing)", "hotel", dearest, "money", always=True),
    Error("forgets the budget once", "hotel", dearest, "money"),
    Error("fetches people on a day on which they have not landed", "flight", another_day, "calendar"),
    Error("invents a booking (a shop that had closed)", "hotel", invented, "shown"),
    Error("loses the last stop (context lost over a long plan)", "hotel", without_the_last, "complete"),
    Error("mixes up two legs", "flight", swapped, "shown"),
    Error("answers for somebody else's plan", "hotel", somebody_s, "shown"),
    Error(
        "shortens a journey (45 minutes for 60)", "train", lambda some: candidates(firsts(some), "it arrives at 06:07"), "claims"
    ),
    Error("changes a price", "flight", lambda some: candidates(firsts(some), "it costs only $17.31"), "claims"),
    Error("is surer than sure of itself", "hotel", lambda some: candidates(firsts(some), confidence=1.7), "form"),
    Error("says that all is fine", "flight", lambda _: {"valid": True}, "form", always=True),
)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with EmbeddedSandbox(SandboxSettings(tmp_path_factory.mktemp("sandbox") / "sandbox.db", today=TODAY)) as service:
        yield service.url


@pytest.fixture
async def travel(sandbox: str, tmp_path: Any) -> AsyncIterator[Travel]:
    async with HttpReservationProvider(sandbox) as provider:
        yield await Travel.connect(provider, tmp_path)


def erring(error: Error) -> Callable[[Asked], Move]:
    done: list[str] = []

    def answer(asked: Asked) -> Move:
        if role_of(asked) != error.role or (done and not error.always):
            return picking(first)(asked)
        done.append(error.name)
        return Say(error.wrong(shown_to(asked)["inputs"]))

    return answer


@pytest.mark.parametrize(("number", "error"), list(enumerate(ERRORS)), ids=[each.name for each in ERRORS])
async def test_an_error_is_named_by_its_validator_and_the_trip_ends_valid(number: int, error: Error, travel: Travel) -> None:
    provider = ("openai", "anthropic")[number % 2]
    import_module(f"langchain_{provider}")
    with ModelServer([erring(error)] * 40) as server:
        async with Engine.open("memory:") as engine:
            model = init_model(f"{provider}:m", environment=server.environment())
            graph = planning_graph(domain=travel, engine=engine, model=model, limits=Limits(seconds=60))
            view = await graph.start("trip", REQUEST)
            events = [entry.event for entry in await engine.journal("trip")]
    assert view.status == "awaiting_approval"
    assert error.validator in named(events)
    judged = [each for each in events if isinstance(each, e.PlanJudged)]
    assert judged[-1].verdict["verdict"] == "VALID"
    assert len(judged) <= ROUNDS
    asked = [each for each in events if isinstance(each, e.ModelAsked) and each.role == error.role]
    assert 2 <= len(asked) <= ROUNDS


def named(events: list[e.Event]) -> set[str]:
    """The validators that found something, of an agent's answer or of a plan; each was shown a slice of at most 1,000 tokens."""
    found = set()
    for event in events:
        if isinstance(event, e.ModelAsked) and event.outcome.startswith("not taken by "):
            found.add(event.outcome.removeprefix("not taken by ").partition(":")[0])
        elif isinstance(event, e.PlanJudged):
            certificates = [each for each in event.verdict["certificates"] if each.get("found")]
            assert all(each["slice_tokens"] <= 1000 for each in certificates)
            found |= {each["validator"] for each in certificates}
    return found


async def test_without_validators_most_of_these_errors_would_have_been_booked(travel: Travel) -> None:
    wrong = {error.name: await _would_be_booked(error, travel) for error in ERRORS}
    booked = [name for name, why in wrong.items() if why]
    harmless = {each.name for each in ERRORS if each.validator == "claims"} | {"is surer than sure of itself"}
    assert set(booked) == {each.name for each in ERRORS} - harmless  # a wrong reason alone changes no booking
    assert len(booked) == 8


async def _would_be_booked(error: Error, travel: Travel) -> tuple[str, ...]:
    """What is wrong with a plan that is made of the first answers as they are."""
    team = await travel.team(REQUEST)
    assert isinstance(team, TripTeam)
    said: dict[str, Said] = {}
    chosen: Chosen = {}
    for role in travel.roles[:4]:
        chosen |= await _answers(role, error, team, said)
    known = {name: await travel.provider.offer(name) for names in chosen.values() for name in names}
    strange = [name for name, offer in known.items() if offer is None]
    offers = [known[chosen[part][0]] for part in sorted(chosen) if known[chosen[part][0]] is not None]
    request = TripRequest.model_validate(REQUEST)
    plan = Itinerary.of(request, [each for each in offers if each is not None])
    shown = await gather_evidence(plan, request, (), team.trips[0].fees, travel.provider, travel.cities)
    verdict = await travel.validate(REQUEST, plan.model_dump(mode="json"), shown.model_dump(mode="json"))
    return (*(f"{name} does not exist" for name in strange), *(each.code for each in verdict.violations))


async def _answers(role: Role, error: Error, team: TripTeam, said: dict[str, Said]) -> Chosen:
    task = await team.task(role.name, said)
    inputs: Any = task.within(600)
    said[role.name] = Said(agent=role.name, slice_hash="", slice_tokens=0, inputs=inputs, candidates=dict(task.proposed))
    answer = error.wrong(inputs) if role.name == error.role and inputs else candidates(firsts(inputs))
    is_of_legs = role.name != "itinerary"
    listed = {part: some for part, some in answer.items() if isinstance(some, list)} if is_of_legs else {}
    return {part: [each["choose"] for each in some] for part, some in listed.items()}
