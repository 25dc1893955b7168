"""A meal as a saga: it is cooked, or thrown away; what is said about it is understood; and its pictures are right."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sagagraph.domains.recipes.actions import Kitchen
from sagagraph.domains.recipes.domain import Cooking
from sagagraph.domains.recipes.page import RecipesPage
from sagagraph.domains.recipes.plan import Row
from sagagraph.domains.recipes.request import parse_meal, shipped
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.errors import InvalidInputError
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.planning.domain import Infeasible
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from tests.domains.recipes.kitchens import REQUEST, SAGA, _faults
from tests.domains.recipes.meals import recipe, step

pytestmark = pytest.mark.quick


async def test_a_meal_is_cooked_as_planned_and_thrown_away_when_it_is_called_off() -> None:
    engine = Engine(await open_store("memory:"))
    kitchen = Kitchen(engine.store)
    graph = planning_graph(domain=Cooking(kitchen), engine=engine)
    await graph.start(SAGA, REQUEST, approved_by="Ann")
    assert (await engine.status(SAGA)).status.value == "committed"
    kept, thrown = await kitchen.ledger(SAGA)
    assert validate_plan(parse_meal(REQUEST), [list(row) for row in kept]).is_valid
    assert (thrown, list(_faults("committed", kept, thrown))) == ((), [])
    await engine.cancel(SAGA, by="Ann")
    assert await kitchen.ledger(SAGA) == ((), kept)
    await engine.close()


def test_the_judge_of_the_sweep_sees_what_is_wrong() -> None:
    row = Row(0, "Custard", 240, 0)
    assert len(list(_faults("compensated", (row,), ()))) == 1
    assert len(list(_faults("committed", (row, row), ()))) == 2
    assert len(list(_faults("compensated", (), (row, row)))) == 1


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
        assert all(specs[other].inputs["start_s"] <= spec.inputs["start_s"] for other in spec.depends_on)


def _cooking() -> Cooking:
    return Cooking(Kitchen(None))  # type: ignore[arg-type]  # nothing is cooked


@pytest.mark.parametrize(
    ("said", "dishes", "dinner", "unread"),
    [
        ("We make lentil soup and apple crumble", ["Lentil-Soup", "Apple-Crumble"], None, ()),
        ("Flatbread and custard, dinner at seven", ["Flatbread", "Custard"], "19:00", ()),
        ("I want custard please, at 6:30 pm", ["Custard"], "18:30", ()),
        ("custard and pizza", ["Custard"], None, ("pizza",)),
    ],
)
async def test_a_sentence_is_understood(said: str, dishes: list[str], dinner: str | None, unread: tuple[str, ...]) -> None:
    draft = await RecipesPage(_cooking()).read(said, None)
    assert [each["recipe"] for each in draft.request["recipes"]] == dishes
    assert (draft.request.get("dinner"), draft.not_understood) == (dinner, unread)


async def test_a_dish_can_be_added_and_taken_away_again() -> None:
    page = RecipesPage(_cooking())
    first = await page.read("custard, dinner at seven", None)
    both = await page.read("and flatbread", first.known)
    assert [wish.text for wish in both.wishes] == ["Custard", "Flatbread", "dinner at 19:00"]
    without = await page.changed(both.known, "recipe Custard", None)
    assert [wish.text for wish in without.wishes] == ["Flatbread", "dinner at 19:00"]
    assert (await page.changed(without.known, "recipe Flatbread", None)).field == "recipes"
    assert (await page.read("something nice", None)).questions == (page.opening,)


async def test_a_gantt_has_a_row_for_the_cook_and_every_object_and_ends_at_dinner() -> None:
    page = RecipesPage(_cooking())
    request = (await page.read("Flatbread and custard, dinner at seven", None)).request
    answer = await page.domain.propose(request)
    assert isinstance(answer, tuple)
    view = page.view(answer[0].plan)
    assert {bar.row for bar in view.bars} == {"cook", "oven", "stove", "on its own"}
    assert f"{max(bar.ends for bar in view.bars):%H:%M}" == "19:00"
    assert Counter(bar.row for bar in view.bars)["oven"] == 2
    assert {line.when for line in view.lines} >= {f"{min(bar.begins for bar in view.bars):%H:%M}"}


async def test_a_request_from_elsewhere_is_checked() -> None:
    page = RecipesPage(_cooking())
    checked: Any = await page.checked([shipped("Custard")])
    assert parse_meal(checked) == parse_meal(REQUEST)
    for wrong, words in (({"recipes": []}, "recipes: is empty"), ({**REQUEST, "dinner": "soon"}, "dinner: must be a time")):
        with pytest.raises(InvalidInputError, match=words):
            await page.checked(wrong)
