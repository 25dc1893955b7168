"""A meal as a saga: it is cooked, or thrown away; what is said about it is understood; and its pictures are right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from random import Random
from typing import Any, Final

import pytest

from benchmarks.recipes.repairs import struck
from sagagraph.domains.recipes.actions import Kitchen, Piece
from sagagraph.domains.recipes.domain import Cooking, accepted, reported, served
from sagagraph.domains.recipes.events import event_in
from sagagraph.domains.recipes.page import RecipesPage
from sagagraph.domains.recipes.plan import Cooked, Row
from sagagraph.domains.recipes.request import pairs_in, parse_meal, shipped
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.errors import InvalidInputError, NotAllowedError
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.planning.domain import Infeasible
from sagagraph.planning.fields import Fields, State
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from sagagraph.ui.differences import assumed
from tests.domains.recipes.kitchens import BURNT, REQUEST, SAGA, _faults
from tests.domains.recipes.meals import recipe, step

pytestmark = pytest.mark.quick


@asynccontextmanager
async def cooking() -> AsyncIterator[tuple[Engine, PlanningGraph, Kitchen]]:
    """A custard on the stove."""
    engine = Engine(await open_store("memory:"))
    kitchen = Kitchen(engine.store)
    graph = planning_graph(domain=Cooking(kitchen), engine=engine)
    await graph.start(SAGA, REQUEST, approved_by="Ann")
    assert (await engine.status(SAGA)).status.value == "running"
    yield engine, graph, kitchen
    await engine.close()


async def test_a_meal_is_cooked_as_planned_and_thrown_away_when_it_is_called_off() -> None:
    async with cooking() as (engine, _graph, kitchen):
        kept, thrown = await kitchen.ledger(SAGA)
        assert validate_plan(parse_meal(REQUEST), [list(row) for row in kept]).is_valid
        assert thrown == ()
        await engine.cancel(SAGA, by="Ann")
        assert await kitchen.ledger(SAGA) == ((), kept)


async def test_nothing_is_thrown_away_any_more_once_dinner_is_served() -> None:
    async with cooking() as (engine, graph, kitchen):
        await graph.change(SAGA, served(await engine.load(SAGA)), by="Ann")
        assert ((await engine.status(SAGA)).status.value, len(await kitchen.dinners(SAGA))) == ("committed", 1)
        with pytest.raises(NotAllowedError, match="nothing is being cooked"):
            reported(await engine.load(SAGA), BURNT)


async def test_what_burns_is_thrown_away_and_made_again_and_the_rest_stands() -> None:
    async with cooking() as (engine, graph, kitchen):
        before, _none = await kitchen.ledger(SAGA)
        view = await graph.change(SAGA, reported(await engine.load(SAGA), BURNT), by="Ann")
        assert view.status.value == "awaiting_approval"  # something is made again
        assert await kitchen.ledger(SAGA) == (before, ())  # nothing follows from a report
        await graph.decide(SAGA, approved=True, by="Ann", plan_hash=view.plan_hash)
        saga, (kept, thrown) = await engine.load(SAGA), await kitchen.ledger(SAGA)
        found = accepted(saga)
        assert sorted(kept) == sorted(found.plan)
        begun = {row for row in before if row.start < BURNT["at"]}
        assert found.again == (("Custard", 0), ("Custard", 1))  # the milk would be cold by then
        assert {row.key for row in begun} & {row.key for row in thrown} == set(found.again)
        assert min(row.start for row in kept if row.key == ("Custard", 0)) >= BURNT["at"]
        assert any("is made again: Custard step 0" in each for each in saga.plan.reasons)
        await engine.cancel(SAGA, by="Ann")
        assert (await kitchen.ledger(SAGA))[0] == ()


async def test_what_takes_longer_goes_on_and_is_not_started_again() -> None:
    async with cooking() as (engine, graph, kitchen):
        event = {"event": "longer", "at": 60, "recipe": "Custard", "step": 0, "duration_s": 270}
        row = next(row for row in (await kitchen.ledger(SAGA))[0] if row.key == ("Custard", 0))
        await graph.change(SAGA, reported(await engine.load(SAGA), event), by="Ann", approved_by="Ann")
        kept, thrown = await kitchen.ledger(SAGA)
        assert row._replace(duration=270) in kept
        assert ("Custard", 0) not in {each.key for each in thrown}
        with pytest.raises(InvalidInputError, match="at: it is 00:01:00 already"):
            reported(await engine.load(SAGA), {**BURNT, "at": 30})


async def test_whatever_happens_while_a_pair_cooks_its_saga_takes_the_repair() -> None:
    """Two events after each other in each of several dinners: all that was started once is in the plan, or thrown away."""
    rng, engine = Random(6), Engine(await open_store("memory:"))
    kitchen = Kitchen(engine.store)
    graph = planning_graph(domain=Cooking(kitchen), engine=engine)
    for number, pair in enumerate(list(pairs_in(None).values())[::3]):
        await graph.start(f"{SAGA}{number}", {"recipes": pair}, approved_by="Ann")
        for _ in range(2):
            saga = await engine.load(f"{SAGA}{number}")
            event = struck(accepted(saga), rng).model_dump(exclude_defaults=True)
            if event["at"] >= max((each["at"] for each in saga.request.get("events", ())), default=0):
                await graph.change(saga.id, reported(saga, event), by="Ann", approved_by="Ann")
        saga, (kept, thrown) = await engine.load(f"{SAGA}{number}"), await kitchen.ledger(f"{SAGA}{number}")
        assert saga.stage.value == "running"
        assert sorted(kept) == sorted(accepted(saga).plan)
        assert {row.begins for row in accepted(saga).waste} <= {row.begins for row in thrown}
    await engine.close()


async def test_a_dinner_that_no_plan_is_left_for_stays_as_it_was() -> None:
    engine = Engine(await open_store("memory:"))
    kitchen = Kitchen(engine.store)
    graph = planning_graph(domain=Cooking(kitchen), engine=engine)
    glaze = recipe("Glaze", step("1 min"), step("1 min", 0), step("2 min", 0, 1, within={0: "2 min"}))
    await graph.start(SAGA, {"recipes": [glaze]}, approved_by="Ann")
    before = await kitchen.ledger(SAGA)
    event = {"event": "longer", "at": 30, "recipe": "Glaze", "step": 1, "duration_s": 300}
    await graph.change(SAGA, reported(await engine.load(SAGA), event), by="Ann", approved_by="Ann")
    saga = await engine.load(SAGA)
    assert (saga.stage.value, "events" in saga.request, await kitchen.ledger(SAGA)) == ("running", False, before)
    await engine.close()


async def test_a_meal_that_was_never_begun_is_not_served() -> None:
    engine = Engine(await open_store("memory:"))
    kitchen = Kitchen(engine.store)
    graph = planning_graph(domain=Cooking(kitchen), engine=engine)
    view = await graph.start(SAGA, {**REQUEST, "served": True}, approved_by="Ann")
    assert view.status.value not in ("committed", "running")
    assert (await kitchen.dinners(SAGA), await kitchen.ledger(SAGA)) == ({}, ((), ()))
    await engine.close()


def test_the_judge_of_the_sweep_sees_what_is_wrong() -> None:
    piece = Piece(step=0, recipe="Custard", duration_s=240, start_s=0)
    row = Row(0, "Custard", 240, 0)
    content = Cooked(request=REQUEST, plan=(row,))
    assert len(list(_faults("compensated", content, [(piece, False)], (row,), 0))) == 1
    assert len(list(_faults("committed", content, [(piece, False), (piece, True)], (row,), 0))) == 3
    assert len(list(_faults("running", content, [(piece, False)], (), 1))) == 3


@pytest.mark.parametrize(("events", "offered"), [((), {"cooks": 2}), ((BURNT,), None)])
async def test_another_cook_is_offered_only_before_anything_has_happened(events: tuple[Any, ...], offered: Any) -> None:
    names = ("Lentil-Soup", "Flatbread")
    hopeless = {"recipes": [shipped(each) for each in names], "warm": dict.fromkeys(names, 0), "events": [*events]}
    answer = await _cooking().propose(hopeless)
    assert isinstance(answer, Infeasible)
    assert next((each.change for each in answer.relaxations if each.change and "cooks" in each.change), None) == offered


async def test_a_meal_that_cannot_be_cooked_is_no_saga() -> None:
    glaze = recipe("Glaze", step("1 min"), step("5 min", 0), step("2 min", 0, 1, within={0: "1 min"}))
    answer = await _cooking().propose({"recipes": [glaze]})
    assert isinstance(answer, Infeasible)
    assert answer.conflict == ("Glaze step 2 must start within 1 min of the end of Glaze step 0",)


async def test_each_start_waits_for_what_it_comes_after_and_for_a_cook() -> None:
    cooking = _cooking()
    answer = await cooking.propose({"recipes": [shipped("Custard"), shipped("Flatbread")]})
    assert isinstance(answer, tuple)
    specs = {each.id: each for each in cooking.workflow(answer[0].plan)}
    assert {"Custard.0", "Custard.1"} <= set(specs["Custard.2"].depends_on)
    assert "Flatbread.0" in specs["Flatbread.5"].depends_on  # the same oven
    for spec in specs.values():
        if spec.id == "dinner":
            assert set(spec.depends_on) == set(specs) - {"dinner", "kitchen"}
            assert spec.open_end
        elif spec.depends_on not in ((), ("kitchen",)):
            assert all(specs[other].inputs["start_s"] <= spec.inputs["start_s"] for other in spec.depends_on)


def _cooking() -> Cooking:
    return Cooking(Kitchen(None))  # type: ignore[arg-type]  # nothing is cooked


@pytest.mark.parametrize(
    ("said", "dishes", "dinner", "unread"),
    [
        ("We make lentil soup and apple crumble", ["Lentil-Soup", "Apple-Crumble"], None, ()),
        ("Flatbread and custard, dinner at seven", ["Flatbread", "Custard"], "19:00", ()),
        ("I want custard please, at 6:30 pm", ["Custard"], "18:30", ()),
        ("We make cobbler and pancakes, dinner at seven", ["Cobbler", "Pancakes"], "19:00", ()),
        ("custard, on the table by 19:30", ["Custard"], "19:30", ()),
        ("custard and pizza", ["Custard"], None, ("pizza",)),
    ],
)
async def test_a_sentence_is_understood(said: str, dishes: list[str], dinner: str | None, unread: tuple[str, ...]) -> None:
    draft = await RecipesPage(_cooking()).read(said, None)
    assert [each["recipe"] for each in draft.request["recipes"]] == dishes
    assert (draft.request.get("dinner"), draft.not_understood) == (dinner, unread)


@pytest.mark.parametrize(
    ("said", "warm"),
    [
        ("Soup and flatbread. The bread should not sit for more than 10 minutes before we eat it.", {"Flatbread": "10 min"}),
        ("The soup can stand for 30 minutes, the pancakes only 4", {"Lentil-Soup": "30 min"}),
        ("cobbler and custard; the custard shouldn't wait more than a quarter of an hour", {"Custard": "15 min"}),
        ("The pancakes and the flatbread mustn't get older than 10 minutes", {"Pancakes": "10 min", "Flatbread": "10 min"}),
        (
            "10 minutes at most for the pancakes, the crumble doesn't mind an hour",
            {"Pancakes": "10 min", "Apple-Crumble": "60 min"},
        ),
        ("pancakes (max 5 min) and custard", {"Pancakes": "5 min"}),
        ("We make cobbler. It may rest twenty minutes", {"Cobbler": "20 min"}),
        ("The crumble bakes for 30 minutes, the soup takes 40 minutes", None),
        ("soup and custard, everything on the table within 50 minutes", None),
        ("pancakes 20 minutes, crumble in 40 minutes", None),
    ],
)
async def test_minutes_that_are_said_of_a_dish_are_how_long_it_may_wait(said: str, warm: dict[str, str] | None) -> None:
    draft = await RecipesPage(_cooking()).read(said, None)
    assert draft.request.get("warm") == warm


async def test_all_dishes_are_warm_or_those_that_are_left() -> None:
    page = RecipesPage(_cooking())
    both = await page.read("custard and flatbread at 7, both warm", None)
    assert both.request["warm"] == {"Custard": "10 min", "Flatbread": "10 min"}
    one = await page.read("without the flatbread", both.known)
    assert (one.request["warm"], [wish.text for wish in one.wishes]) == (
        {"Custard": "10 min"},
        ["Custard", "dinner at 19:00", "warm"],
    )
    assert "warm" not in (await page.with_field(one.known, "warm", "")).request


async def test_cooks_are_counted_and_each_has_a_row() -> None:
    page = RecipesPage(_cooking())
    for said, cooks in (
        ("custard and flatbread, two cooks", 2),
        ("with 3 cooks, custard", 3),
        ("custard, two of us cook", 2),
        ("custard, one cook", 1),
        ("custard, my sister is cooking with me", 2),
        ("custard. four pupils from my class will do the cooking", 4),
        ("custard for me and my two flatmates? All of us cook", 3),
    ):
        assert (await page.read(said, None)).request["cooks"] == cooks
    draft = await page.read("Flatbread and lentil soup for two cooks, dinner at 7", None)
    assert [wish.text for wish in draft.wishes] == ["Flatbread", "Lentil Soup", "dinner at 19:00", "2 cooks"]
    answer = await page.domain.propose(draft.request)
    assert not isinstance(answer, Infeasible)
    bars = page.view(answer[0].plan).bars
    assert {"cook 1", "cook 2"} <= {bar.row for bar in bars}
    for cook in ("cook 1", "cook 2"):
        spans = sorted((bar.begins, bar.ends) for bar in bars if bar.row == cook)
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "cooks" not in (await page.with_field(draft.known, "cooks", "")).request
    with pytest.raises(InvalidInputError, match="cooks: must be less than or equal to 10"):
        await page.read("custard with 12 cooks", None)


async def test_a_dish_can_be_added_and_taken_away_again() -> None:
    page = RecipesPage(_cooking())
    first = await page.read("custard, dinner at seven", None)
    both = await page.read("and flatbread", first.known)
    assert [wish.text for wish in both.wishes] == ["Custard", "Flatbread", "dinner at 19:00"]
    without = await page.with_field(both.known, "recipe Custard", "")
    assert [wish.text for wish in without.wishes] == ["Flatbread", "dinner at 19:00"]
    assert (await page.with_field(without.known, "recipe Flatbread", "")).field == "recipes"
    assert (await page.read("something nice", None)).questions == (page.opening,)


async def test_one_cook_is_assumed_and_dishes_are_missing_where_all_are_taken_away() -> None:
    page = RecipesPage(_cooking())
    draft = await page.read("custard", None)
    for each in (draft, await page.with_field(draft.known, "recipe Custard", "")):
        assert [*assumed(page.fields(each))] == ["Cooks: 1 (nobody else was mentioned)"]
        dishes = page.fields(each)[0]
        assert isinstance(dishes, Fields)
        assert [field.state for field in dishes.fields][:2] == [State.OPEN if each is draft else State.MISSING, State.OPEN]
    assert not [*assumed(page.fields(await page.with_field(draft.known, "cooks", "1")))]


async def test_a_gantt_has_a_row_for_the_cook_and_every_object_and_ends_at_dinner() -> None:
    page = RecipesPage(_cooking())
    request = (await page.read("Flatbread and custard, dinner at seven", None)).request
    answer = await page.domain.propose(request)
    assert isinstance(answer, tuple)
    view = page.view(answer[0].plan)
    assert {bar.row for bar in view.bars} == {"cook", "oven", "stove", "on its own"}
    assert f"{max(bar.ends for bar in view.bars):%H:%M}" == "19:00"
    assert Counter(bar.row for bar in view.bars)["oven"] == 2
    assert view.lines[0].when.startswith(f"{min(bar.begins for bar in view.bars):%H:%M}–"), view.lines[0]
    assert len({line.what for line in view.lines}) == len(view.lines), "a step that goes on later is told apart"
    assert {line.when.rpartition(", ")[2] for line in view.lines[:-1]} == {"cook", "on its own"}
    length = max(bar.ends for bar in view.bars) - min(bar.begins for bar in view.bars)
    assert view.lines[-1].when == f"19:00, {length.seconds // 60} min after the beginning"
    assert page.price(answer[0].plan, {"total": 0, "currency": "USD", "fees": None}) == ""


async def test_a_request_from_elsewhere_is_checked() -> None:
    page = RecipesPage(_cooking())
    checked: Any = await page.checked([shipped("Custard")])
    assert parse_meal(checked) == parse_meal(REQUEST)
    for wrong, words in (
        ({"recipes": []}, "recipes: is empty"),
        *(({**REQUEST, "dinner": dinner}, "dinner: must be a time") for dinner in ("soon", "25:99", 7, ["19:00"])),
        *(({**REQUEST, "events": events}, "events: must be a list of events") for events in (5, "x", {"event": "away"}, None)),
        ({**REQUEST, "events": [None]}, "events\\[0\\].event: must be one of"),
        ({**REQUEST, "cooks": 0}, "cooks: must be greater"),
        ({**REQUEST, "served": True}, "served: only a meal that is being cooked"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            await page.checked(wrong)


AT: Final = 18 * 3600
"""When cooking begins, in seconds since midnight."""
NEWS: Final = {
    "the whisked egg yolks are burnt, at 18:05": {"event": "burnt", "at": 300, "recipe": "Custard", "step": 0},
    "at 6:05 heating the milk takes 5 minutes longer": {
        "event": "longer",
        "at": 300,
        "recipe": "Custard",
        "step": 1,
        "duration_s": 660,
    },
    "the stove is broken from 18:05 until 18:20": {"event": "broken", "at": 300, "until": 1200, "object": "stove"},
    "after 5 minutes the stove fails for ten minutes": {"event": "broken", "at": 300, "until": 900, "object": "stove"},
    "I have to leave at 18:10 for 10 minutes": {"event": "away", "at": 600, "until": 1200},
    "what is for dessert": None,
}
UNCLEAR: Final = {
    "the custard is burnt": "When did that happen?",
    "the stove is broken at 18:05": "How long, or until when?",
    "the toaster is broken at 18:05 for 3 minutes": "Which of these: stove?",
    "it is burnt, at 18:05": "Which of these: Custard:",
}


async def test_news_are_understood_or_asked_about() -> None:
    answer = await _cooking().propose(REQUEST)
    assert isinstance(answer, tuple)
    cooked = Cooked.model_validate(answer[0].plan)
    for said, event in NEWS.items():
        assert event_in(said, cooked, AT) == event, said
    for said, asked in UNCLEAR.items():
        with pytest.raises(InvalidInputError, match=re.escape(asked)):
            event_in(said, cooked, AT)


async def test_the_page_offers_what_can_happen_and_takes_it_up_as_the_request_of_the_saga() -> None:
    async with cooking() as (engine, graph, _kitchen):
        page, saga = RecipesPage(_cooking()), await engine.load(SAGA)
        offered = page.disruptions(saga)
        assert [each.words.partition(": ")[2].partition(",")[0] for each in offered[:2]] == [
            "the cook is away until minute 18.5",
            "Custard",
        ]
        for each in offered[:-1]:
            assert page.disruption_in(each.words, saga) == each
            assert page.happened(each.request)[0].text == each.words
        burnt = page.disruption_in("after 5 minutes, the egg yolks are burnt", saga)
        assert burnt is not None
        assert burnt.request["events"] == [BURNT]
        over = page.disruption_in("dinner is served", saga)
        assert over is not None
        await graph.change(SAGA, burnt.request, by="Ann")
        assert page.disruptions(await engine.load(SAGA)) == ()  # first, somebody approves
        await graph.decide(SAGA, approved=True, by="Ann")
        view = page.view((await engine.load(SAGA)).plan.content)
        assert {bar.row for bar in view.bars} >= {"cook", "stove", "thrown away"}
        assert page.on_top(REQUEST, await engine.load(SAGA))["events"] == [BURNT]


async def test_what_is_only_supposed_to_happen_is_shown_on_a_copy() -> None:
    answer = await _cooking().propose({**REQUEST, "events": [BURNT]})
    assert isinstance(answer, tuple)
    assert Cooked.model_validate(answer[0].plan).again == (("Custard", 0), ("Custard", 1))
    assert "is made again: Custard step 0: Whisk egg yolks, sugar and cornflour." in answer[0].reasons


async def test_a_recipe_is_pasted_into_the_conversation() -> None:
    draft = await RecipesPage(_cooking()).read("Rice\n1. Wash the rice (2 min)\n2. Boil the rice (12 min)", None)
    assert [wish.text for wish in draft.wishes] == ["Rice"]
    assert parse_meal(draft.request).steps["Rice", 1].is_autonomous
