"""A plan is never lost: what cannot be had leaves the plan that stood, names remedies, and every version can be had again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from sagagraph.domains.reunion.planning.solver import Solver
from sagagraph.ui.chat.conversation import Conversation
from sagagraph.ui.chat.talk import Talk
from sagagraph.ui.pictures.comparison import choices_of
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import Visitor
from tests.ui.chat import Chat, all_said, plan_hash
from tests.ui.test_api import DAY, app, browser_on, followed

__all__ = ["app"]
pytestmark = pytest.mark.asyncio(loop_scope="module")

TRIP = "From Boston to Lisbon for 5 nights in May 2025, at most $4,000"


@pytest_asyncio.fixture(loop_scope="module")
async def ann(app: Any) -> AsyncIterator[httpx2.AsyncClient]:
    async with browser_on(app) as browser:
        await browser.get("/sagas")
        yield browser


async def begun(browser: httpx2.AsyncClient, **body: Any) -> str:
    answer = await browser.post("/sagas", json=body)
    assert answer.status_code == 202, answer.text
    saga_id = str(answer.json()["saga_id"])
    await followed(browser, saga_id)
    return saga_id


async def shown(browser: httpx2.AsyncClient, saga_id: str) -> dict[str, Any]:
    told: dict[str, Any] = (await browser.get(f"/sagas/{saga_id}")).json()
    return told


@pytest.mark.quick
async def test_a_trip_that_cannot_be_had_leaves_the_plan_and_each_remedy_can_be_posted_as_it_is(ann: httpx2.AsyncClient) -> None:
    saga_id = await begun(ann, text=TRIP)
    before = await shown(ann, saga_id)
    refused = await ann.post(f"/sagas/{saga_id}/change", json={"text": "at most $100"})
    told = refused.json()
    assert (refused.status_code, "cannot be had" in told["error"]["message"]) == (422, True)
    after = await shown(ann, saga_id)
    assert (after["status"], after["plan_hash"], after["request"]) == (
        "awaiting_approval",
        before["plan_hash"],
        before["request"],
    )
    (remedy,) = [each for each in told["remedies"] if each["request"]["budget"] != 100]
    assert (await ann.post(f"/sagas/{saga_id}/change", json={"request": remedy["request"]})).status_code == 202
    await followed(ann, saga_id)
    assert (await shown(ann, saga_id))["request"]["budget"] == remedy["request"]["budget"]


async def test_a_first_request_that_cannot_be_had_lists_its_remedies_with_the_saga(ann: httpx2.AsyncClient) -> None:
    saga_id = await begun(ann, text=TRIP.replace("$4,000", "$100"))
    told = await shown(ann, saga_id)
    assert told["status"] == "infeasible"
    other = await begun(ann, domain="travel", request=told["remedies"][0]["request"])
    assert (await shown(ann, other))["status"] == "awaiting_approval"


@pytest.mark.parametrize("when", ["between 3 and 7 May 2025", "leaving on 3 May 2025 and back by 7 May"])
async def test_nights_that_do_not_fit_are_answered_with_what_can_be_had_and_that_begins(
    ann: httpx2.AsyncClient, when: str
) -> None:
    refused = await ann.post("/sagas", json={"text": f"From Boston to Paris for 6 nights, {when}"})
    assert refused.status_code == 422
    requests = [each["request"] for each in refused.json()["remedies"]]
    assert requests
    for request in requests:
        assert (await shown(ann, await begun(ann, domain="travel", request=request)))["status"] == "awaiting_approval"


async def test_every_version_can_be_had_again_exactly_as_it_was(ann: httpx2.AsyncClient) -> None:
    saga_id = await begun(ann, text=TRIP)
    hashes = [(await shown(ann, saga_id))["plan_hash"]]
    for text in ("3 nights in Lisbon", "for 2 people"):
        await ann.post(f"/sagas/{saga_id}/change", json={"text": text})
        await followed(ann, saga_id)
        hashes.append((await shown(ann, saga_id))["plan_hash"])
    for text in ("go back", "undo"):
        assert (await ann.post(f"/sagas/{saga_id}/change", json={"text": text})).status_code == 202
        await followed(ann, saga_id)
    assert (await shown(ann, saga_id))["plan_hash"] == hashes[0]
    assert (await ann.post(f"/sagas/{saga_id}/back", json={})).status_code == 409
    versions = (await ann.get(f"/sagas/{saga_id}/versions")).json()["versions"]
    assert [each["plan_hash"] for each in versions] == hashes
    assert [each["is_shown"] for each in versions] == [True, False, False]
    await ann.post(f"/sagas/{saga_id}/back", json={"version": versions[2]["version"]})
    await followed(ann, saga_id)
    last = await shown(ann, saga_id)
    assert (last["plan_hash"], last["request"]["travellers"], last["status"]) == (hashes[2], 2, "awaiting_approval")
    assert (await ann.post(f"/sagas/{saga_id}/back", json={"version": 999})).status_code == 409


async def test_a_meal_that_cannot_be_had_leaves_the_plan_and_goes_back(ann: httpx2.AsyncClient) -> None:
    saga_id = await begun(ann, domain="recipes", text="lentil soup and flatbread")
    before = await shown(ann, saga_id)
    steps = before["request"]["recipes"]
    hopeless = {**before["request"], "warm": {each["recipe"]: 0 for each in steps}}
    refused = await ann.post(f"/sagas/{saga_id}/change", json={"request": hopeless})
    assert refused.status_code == 422, refused.text
    assert (await shown(ann, saga_id))["plan_hash"] == before["plan_hash"]
    remedy = refused.json()["remedies"][0]["request"]
    assert (await ann.post(f"/sagas/{saga_id}/change", json={"request": remedy})).status_code == 202
    await followed(ann, saga_id)
    await ann.post(f"/sagas/{saga_id}/change", json={"text": "undo"})
    await followed(ann, saga_id)
    assert (await shown(ann, saga_id))["plan_hash"] == before["plan_hash"]


async def test_a_meal_for_which_one_cook_is_too_few_offers_another_one(ann: httpx2.AsyncClient) -> None:
    asked = {"recipes": ["Lentil-Soup", "Flatbread"], "warm": {"Lentil-Soup": 0, "Flatbread": 0}}
    told = await shown(ann, await begun(ann, domain="recipes", request=asked))
    assert (told["status"], told["remedies"][0]["label"]) == ("infeasible", "2 cooks instead of 1")
    other = await begun(ann, domain="recipes", request=told["remedies"][0]["request"])
    assert (await shown(ann, other))["status"] == "awaiting_approval"


async def test_a_reunion_that_cannot_be_had_leaves_the_plan_once_that_is_proven(
    ann: httpx2.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.pages["reunion"].domain, "_planner", Solver(plan_s=20, why_s=60))
    saga_id = await begun(ann, domain="reunion", text=DAY)
    before = await shown(ann, saga_id)
    hopeless = {**before["request"], "problem": {**before["request"]["problem"]}}
    hopeless["problem"]["goals"] = [{**each, "by": "13:30"} for each in hopeless["problem"]["goals"]]
    assert (await ann.post(f"/sagas/{saga_id}/change", json={"request": hopeless})).status_code == 202
    await followed(ann, saga_id)
    after = await shown(ann, saga_id)
    assert (after["status"], after["plan_hash"], after["request"]) == (
        "awaiting_approval",
        before["plan_hash"],
        before["request"],
    )
    assert after["reason"]
    assert not any("people." in each["label"] or "[" in each["label"] for each in after["remedies"]), after["remedies"]
    remedy = after["remedies"][0]["request"]
    goals, people = remedy["problem"]["goals"], {each["name"] for each in remedy["problem"]["people"]}
    assert {name for goal in goals for name in (people if goal["people"] == "all" else goal["people"])} == people
    assert not any(each.get("goals") for each in remedy["problem"]["people"])
    assert (await ann.post(f"/sagas/{saga_id}/change", json={"request": remedy})).status_code == 202
    await followed(ann, saga_id)
    changed = await shown(ann, saga_id)
    assert (changed["status"], changed["plan_hash"] != before["plan_hash"]) == ("awaiting_approval", True)
    await ann.post(f"/sagas/{saga_id}/back", json={})
    await followed(ann, saga_id)
    assert (await shown(ann, saga_id))["plan_hash"] == before["plan_hash"]


async def test_in_the_chat_a_remedy_is_one_click_and_so_is_every_version(service: Service) -> None:
    carl = Visitor("carl", "carl")
    talk = Talk(service, carl, Conversation("travel"), None)

    async def quiet() -> str:
        saga_id = str(talk.conversation.saga_id)
        while service.is_busy(saga_id):
            await service.moved(saga_id)
        return str((await service.saga(carl, saga_id)).plan.hash)

    await talk.say(TRIP)
    first = await quiet()
    await talk.say("at most $100")
    assert (await quiet(), "cannot be had" in talk.conversation.messages[-1].text) == (first, True)
    (place,) = [number for number, each in enumerate(talk.conversation.remedies) if each.request["budget"] != 100]
    await talk.take_remedy(place)
    second = await quiet()
    assert (second != first or talk.conversation.draft.request["budget"] != 4000, talk.conversation.remedies) == (True, ())
    versions = await service.versions(carl, str(talk.conversation.saga_id))
    await talk.go_back(versions[0].number)
    assert await quiet() == first
    await talk.go_back(99)
    assert "not there any more" in talk.conversation.messages[-1].text


async def test_what_cannot_be_had_is_refused_at_its_field_while_something_else_is_being_planned(service: Service) -> None:
    chat = Chat(service)
    shown = await chat.say(TRIP)
    talk = Talk(service, chat.visitor, chat.conversations.of(chat.visitor), None)
    await talk.fill("stops[0].nights", "6")
    assert (await chat.look()).is_busy
    chat.conversations.keep(chat.visitor, await talk.fill("budget", "100"))
    scene = await chat.quiet()
    assert (scene.waits, plan_hash(scene) != plan_hash(shown)) == (True, True)
    assert scene.saga is not None
    assert (scene.saga.request["stops"][0]["nights"], scene.saga.request["budget"]) == (6, 4000)
    assert scene.conversation.refused["budget"][:2] == ("4000", "4000")
    assert scene.conversation.refused["budget"][2].startswith("“100” cannot be had: ")
    said = all_said(scene)
    assert ("At most: 4000 → 100" in said, said.count("Now: "), "Your plan stays as it was." in said) == (False, 1, True)


async def test_nights_that_do_not_fit_the_dates_are_one_click_from_a_plan(service: Service) -> None:
    chat = Chat(service)
    scene = await chat.say("From Boston to Paris for 6 nights and Rome for 2 nights, 3 to 8 April 2025")
    assert [each.label for each in scene.remedies] == ["until 2025-04-11", "3 nights in Paris"]
    talk = Talk(service, chat.visitor, chat.conversations.of(chat.visitor), None)
    chat.conversations.keep(chat.visitor, await talk.take_remedy(1))
    scene = await chat.quiet()
    assert scene.waits
    assert scene.saga is not None
    assert [each["nights"] for each in scene.saga.request["stops"]] == [3, 2]
    assert not scene.remedies


async def test_a_booked_trip_that_cannot_be_changed_so_offers_what_can_be_had_at_a_click(service: Service) -> None:
    chat = Chat(service)
    await chat.say(TRIP)
    booked = (await chat.say("book it")).saga
    scene = await chat.say("at most $100")
    assert booked is not None
    assert scene.saga is not None
    assert (scene.saga.plan.hash, scene.saga.stage, scene.waits) == (booked.plan.hash, booked.stage, False)
    (least,) = [number for number, each in enumerate(scene.remedies) if each.request["budget"] != 100]
    assert scene.remedies[least].request["budget"] == booked.plan.cost["total"]  # what is booked and kept costs nothing more
    talk = Talk(service, chat.visitor, chat.conversations.of(chat.visitor), None)
    chat.conversations.keep(chat.visitor, await talk.take_remedy(least))
    scene = await chat.quiet()
    assert scene.saga is not None
    assert (scene.saga.amendment_note, scene.remedies) == ("", ()), all_said(scene)


async def test_what_could_be_had_of_a_trip_goes_with_the_trip(service: Service) -> None:
    chat = Chat(service)
    await chat.say(TRIP)
    await chat.say("book it")
    scene = await chat.say("at most $100")
    assert scene.remedies
    assert scene.saga is not None
    await service.cancel(chat.visitor, scene.saga.id)
    assert (await chat.quiet()).remedies == ()


async def test_a_day_that_cannot_be_moved_any_more_stops_no_other_change(service: Service) -> None:
    chat = Chat(service, "reunion")
    await chat.say("Dinner is at 6 pm at home. Ann is at home. Paul drives from Boston, which is 90 minutes from home.")
    await chat.say("book it")
    day = await service.today("reunion") + timedelta(days=3)
    await chat.reword("day", day.isoformat())
    scene = await chat.say("dinner at 7 instead")
    assert scene.saga is not None
    assert scene.shown is not None
    assert scene.shown.plan.content["plan"]
    assert [each["by"] for each in scene.page.draft_of(scene.shown.request).known.problem["goals"]] == ["19:00"], all_said(scene)


async def test_remedies_go_with_what_they_were_for(service: Service) -> None:
    chat = Chat(service)
    await chat.say(TRIP)
    assert (await chat.say("at most $100")).remedies
    assert not (await chat.say("book it")).remedies


async def test_each_plan_keeps_its_number_whichever_is_shown(service: Service) -> None:
    chat = Chat(service)
    scene = await chat.say(TRIP.replace("Lisbon for 5 nights", "Paris for 3 nights and Rome for 2 nights"))
    assert scene.shown is not None
    before = {each.told: each.number for each in choices_of(scene.shown, scene.page)}
    other = next(each for each in choices_of(scene.shown, scene.page) if each.hash)
    scene = await chat.say(f"number {other.number}")
    assert scene.shown is not None
    after = {each.told: each.number for each in choices_of(scene.shown, scene.page)}
    assert (scene.shown.plan.hash, after) == (other.hash, before)
    assert "is the plan that is shown" in (await chat.say(f"number {other.number}")).conversation.messages[-1].text
