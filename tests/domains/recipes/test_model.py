"""Models that read recipes and plan meals: what is not in the words is not taken, what breaks a rule is named, the end VALID."""

from __future__ import annotations

from typing import Any

import pytest

from sagagraph.domains.recipes.actions import Kitchen
from sagagraph.domains.recipes.domain import Cooking, accepted, reported
from sagagraph.domains.recipes.model_reading import read_by_model, read_recipes
from sagagraph.domains.recipes.text import read_meal
from sagagraph.errors import InvalidInputError, ModelError
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.planning.models.limits import Limits
from sagagraph.planning.models.llm import init_model
from sagagraph.saga.core.events import ModelAsked
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from tests.domains.recipes.kitchens import BURNT, REQUEST, SAGA
from tests.support.models import ModelServer, Say
from tests.support.scripted_model import Scripted

Json = dict[str, Any]
PROSE = (
    "For the plum pie, preheat the oven to 180 C, which takes ten minutes. Meanwhile slice the plums for 8 minutes. "
    "Bake the plums for half of 60 minutes, that is 30 minutes."
)
LINES = "Plum pie\n1. Preheat the oven to 180 C (10 min).\n2. Slice the plums (8 min).\n3. Bake the plums (30 min)."


def told(words: str, minutes: float, alone: str = "", divisible: str = "", after: Any = (), needs: Any = ()) -> Json:
    linked = [{"step": step, "words": said} for step, said in after]
    used = [{"object": name, "words": said} for name, said in needs]
    return {"words": words, "minutes": minutes, "alone": alone, "divisible": divisible, "after": linked, "needs": used}


def dishes(*steps: Json, name: str = "plum pie") -> Json:
    return {"dishes": [{"name": name, "steps": list(steps)}]}


OF_PROSE = (
    told("preheat the oven to 180 C, which takes ten minutes", 10, "preheat", needs=[("oven", "the oven")]),
    told("slice the plums for 8 minutes", 8, divisible="slice"),
    told(
        "Bake the plums for half of 60 minutes, that is 30 minutes",
        30,
        "Bake",
        after=[(1, "Bake"), (2, "the plums")],
        needs=[("oven", "Bake")],
    ),
)
OF_LINES = (
    told("Preheat the oven to 180 C (10 min)", 10, "Preheat", needs=[("oven", "the oven")]),
    told("Slice the plums (8 min)", 8, divisible="Slice"),
    told("Bake the plums (30 min)", 30, "Bake", after=[(1, "Bake"), (2, "the plums")], needs=[("oven", "Bake")]),
)


async def test_a_recipe_in_prose_that_only_a_model_can_read_is_read_with_the_words_that_say_it() -> None:
    with pytest.raises(InvalidInputError):
        read_meal(PROSE)
    meal, remarks = await read_recipes(PROSE, Scripted(dishes(*OF_PROSE)))
    pie = meal.recipes["plum-pie"]
    assert [each.duration for each in pie] == [600, 480, 1800]
    assert [(each.is_autonomous, each.is_interruptible, each.after) for each in pie] == [
        (True, False, ()),
        (False, True, ()),
        (True, False, (0, 1)),
    ]
    assert pie[2].uses["oven"].require == {"temperature": 356.0}
    assert remarks[0].startswith("read with the help of")


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (0, told("preheat the grill to 180 C", 10)),
        (1, told("slice the plums for 9 minutes", 9)),
    ],
)
async def test_a_step_that_nobody_wrote_is_not_read(place: int, wrong: Json) -> None:
    steps = [wrong if n == place else each for n, each in enumerate(OF_PROSE)]
    with pytest.raises(InvalidInputError):
        await read_recipes(PROSE, Scripted(dishes(*steps)))


async def test_what_the_words_of_a_step_do_not_say_is_named_and_left_to_the_rules() -> None:
    wrong = told("Slice the plums (8 min)", 8, "it goes on by itself", after=[(1, "the oven")], needs=[("stove", "in a pan")])
    meal, remarks = await read_recipes(LINES, Scripted(dishes(OF_LINES[0], wrong, OF_LINES[2], name="Plum pie")))
    assert meal.recipes["Plum-pie"][1] == read_meal(LINES).recipes["Plum-pie"][1].model_copy(update={"is_interruptible": False})
    for what in ("goes on alone", "comes after 1", "needs the stove"):
        assert f"not in the words, and left to the rules: Plum pie step 2 {what}" in remarks
    assert any(each.startswith("the rules read: 2. Slice the plums") for each in remarks)


async def test_steps_and_times_that_the_rules_read_stand_whatever_a_model_says() -> None:
    fewer = Scripted(dishes(*OF_LINES[:2], name="Plum pie"))
    assert await read_recipes(LINES, fewer) == (
        read_meal(LINES),
        (f"{fewer.name} was of no help, so the rules have read it alone",),
    )
    down = Scripted(*[ModelError("down: no connection")] * 2)
    assert await read_recipes(LINES, down) == (read_meal(LINES), ("down: no connection: read without it",))
    with pytest.raises(ModelError):
        await read_recipes(PROSE, down)
    assert await read_by_model(LINES, Scripted({"dishes": "none"})) is None


# -- planning, over the wire --------------------------------------------------------------------------------------------


def said(*rows: tuple[int, int, int], reasoning: str = "It fits.") -> Say:
    """Rows of a custard: step, seconds that it takes, start."""
    plan = [{"recipe": "Custard", "step": step, "duration_s": takes, "start_s": start} for step, takes, start in rows]
    return Say({"reasoning": reasoning, "plan": plan})


SLOW = ((0, 240, 0), (1, 360, 240), (2, 120, 600), (3, 420, 720), (4, 60, 1140))
"""Right, four minutes slower than need be."""
COLD = ((0, 240, 0), (1, 360, 240), (2, 120, 750), (3, 420, 870), (4, 60, 1290))
"""The milk has been off the stove for 150 s."""
AGAIN = ((0, 240, 330), *SLOW[2:])
"""What is left after the egg yolks burnt at five minutes: the milk goes on."""


async def planned(*script: Say, provider: str = "openai", event: Json | None = None) -> tuple[Saga, tuple[str, ...], Any]:
    """The saga, what came of each question, and what the model was asked at last."""
    engine = Engine(await open_store("memory:"))
    with ModelServer(script) as server:
        model = init_model(f"{provider}:m", time_limit_s=120, environment=server.environment())
        graph = planning_graph(domain=Cooking(Kitchen(engine.store)), engine=engine, model=model, limits=Limits(seconds=120))
        await graph.start(SAGA, REQUEST, approved_by="Ann")
        if event is not None:
            await graph.change(SAGA, reported(await engine.load(SAGA), event), by="Ann", approved_by="Ann")
        asked = server.asked[-1]
        assert server.left == 0
    saga, journal = await engine.load(SAGA), await engine.journal(SAGA)
    await engine.close()
    return saga, tuple(each.event.outcome for each in journal if isinstance(each.event, ModelAsked)), asked


def starts(saga: Saga) -> list[tuple[int, int, int]]:
    return sorted((row.step, row.duration, row.start) for row in accepted(saga).plan)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_plan_of_a_model_that_breaks_a_rule_is_named_and_mended_in_the_next_round(provider: str) -> None:
    saga, outcomes, asked = await planned(said(*COLD), said(*SLOW), provider=provider)
    assert starts(saga) == sorted(SLOW)
    assert (saga.plan.proposed_by, saga.plan.reasoning) == (f"{provider}:m", "It fits.")
    assert outcomes[-1] == "proposed"
    assert "starts 150 s after Custard step 1 has ended; at most 60 s are allowed" in outcomes[0]
    assert "at most 60 s are allowed" in asked.user


async def test_after_three_rounds_the_solver_finishes_what_the_model_began() -> None:
    saga, outcomes, _asked = await planned(said(*COLD), said((7, 60, 0)), said(*COLD))
    assert len(outcomes) == 3
    assert all(each.startswith("not taken: ") for each in outcomes)
    assert any("finished by the solver from what openai:m proposed" in each for each in saga.plan.reasons)
    assert (0, 240, 0) in starts(saga)


async def test_a_model_repairs_what_is_cooking_and_does_not_touch_what_is_over() -> None:
    rewritten = said((0, 240, 30), *AGAIN[1:])
    saga, outcomes, asked = await planned(said(*SLOW), rewritten, said(*AGAIN), event=BURNT)
    assert starts(saga) == sorted((SLOW[1], *AGAIN))
    assert (saga.plan.proposed_by, accepted(saga).waste[0].begins) == ("openai:m", ("Custard", 0, 0))
    assert "begins before 00:05:00, and was not begun then" in outcomes[1]
    assert "is burnt" not in asked.system
    assert '"what has happened"' in asked.user


async def test_a_repair_that_no_model_can_make_is_the_solvers() -> None:
    saga, outcomes, _asked = await planned(said(*SLOW), *[said()] * 2, event=BURNT)
    assert len(outcomes) == 3
    assert saga.plan.proposed_by == "solver"
    assert accepted(saga).again == (("Custard", 0),)
