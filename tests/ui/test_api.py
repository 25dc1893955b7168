"""The REST interface over the app itself: plan, approve, watch, undo; and what each error is answered with."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from sagagraph.domains.reunion.shipped import shipped
from sagagraph.ui.server.app import create_app
from sagagraph.ui.server.options import ServerOptions
from sagagraph.ui.server.routes.api import PREFIX
from sagagraph.ui.service import Service
from tests.ui.searching import Searching

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.quick]

DAY = "Dinner at 6 pm at home in Boston. Sarah is at home. James lands at 1 pm at BOS and rents a car. Home-BOS 60 minutes"
SENTENCE = "From Boston to Lisbon for 5 nights in May 2025, at most $4,000"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(service: Service) -> Any:
    return create_app(service, ServerOptions())


def browser_on(app: Any) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://localhost" + PREFIX, timeout=30)


@pytest_asyncio.fixture(loop_scope="module")
async def ann(app: Any) -> AsyncIterator[httpx2.AsyncClient]:
    async with browser_on(app) as browser:
        await browser.get("/sagas")
        yield browser


async def followed(browser: httpx2.AsyncClient, saga_id: str, after: int = 0) -> list[dict[str, Any]]:
    """The events of the stream until its end."""
    told = (await browser.get(f"/sagas/{saga_id}/events", params={"after": after})).text
    assert told.endswith("event: end\ndata: {}\n\n")
    return [json.loads(line.removeprefix("data: ")) for line in told.splitlines() if line.startswith('data: {"')]


async def planned(browser: httpx2.AsyncClient) -> tuple[str, str]:
    """The saga and the hash of the plan that it shows."""
    begun = await browser.post("/sagas", json={"text": SENTENCE})
    assert begun.status_code == 202, begun.text
    saga_id = begun.json()["saga_id"]
    assert (await followed(browser, saga_id))[-1]["type"] == "ApprovalAsked"
    return saga_id, (await browser.get(f"/sagas/{saga_id}")).json()["plan_hash"]


async def test_a_trip_is_planned_approved_booked_watched_and_undone(ann: httpx2.AsyncClient) -> None:
    saga_id, plan_hash = await planned(ann)
    offered = (await ann.get(f"/sagas/{saga_id}/plan")).json()
    assert offered["shown"]["plan_hash"] == plan_hash
    assert offered["alternatives"]
    for _click in range(2):
        assert (await ann.post(f"/sagas/{saga_id}/approve", json={"plan_hash": plan_hash})).status_code == 202
    events = await followed(ann, saga_id)
    assert [each["type"] for each in events].count("PlanApproved") == 1
    assert events[-1]["type"] == "SagaCommitted"
    assert [each["version"] for each in events] == list(range(1, len(events) + 1))
    assert await followed(ann, saga_id, after=events[-2]["version"]) == events[-1:]
    booked = (await ann.get(f"/sagas/{saga_id}")).json()
    assert {each["attempts"] for each in booked["operations"]} == {1}
    assert (await ann.post(f"/sagas/{saga_id}/approve", json={"plan_hash": plan_hash})).status_code == 202
    would = (await ann.get(f"/sagas/{saga_id}/cancel")).json()
    assert would["possible"]
    assert len(would["undo"]) >= 3
    await ann.post(f"/sagas/{saga_id}/cancel")
    await followed(ann, saga_id)
    undone = (await ann.get(f"/sagas/{saga_id}")).json()
    assert (undone["status"], undone["problem"]) == ("compensated", "")
    assert (await ann.get(f"/sagas/{saga_id}", params={"version": events[-1]["version"]})).json()["status"] == "committed"


async def test_the_best_plan_so_far_is_told_and_can_be_taken(
    ann: httpx2.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    searching = Searching()
    monkeypatch.setattr(service.pages["reunion"].domain, "_planner", searching)
    problem = shipped("thanksgiving").model_dump(mode="json")
    saga_id = (await ann.post("/sagas", json={"domain": "reunion", "request": problem})).json()["saga_id"]
    while (told := (await ann.get(f"/sagas/{saga_id}/plan")).json())["best_so_far"] is None:
        assert told["status"] == "planning"
        await service.moved(saga_id)
    assert told["shown"]["plan_hash"] is None
    assert (await ann.post(f"/sagas/{saga_id}/enough")).status_code == 202
    assert (await followed(ann, saga_id))[-1]["type"] == "ApprovalAsked"
    searching.stop.set()
    after = (await ann.get(f"/sagas/{saga_id}/plan")).json()
    assert after["shown"]["plan"] == told["best_so_far"]
    assert after["best_so_far"] is None
    refused = await ann.post(f"/sagas/{saga_id}/enough")
    assert (refused.status_code, "no plan is there to be taken" in refused.text) == (409, True)


@pytest.mark.thorough
async def test_a_late_flight_that_is_foreseen_is_judged_and_its_repair_waits_for_approval(ann: httpx2.AsyncClient) -> None:
    problem = shipped("thanksgiving").model_dump(mode="json")
    saga_id = (await ann.post("/sagas", json={"domain": "reunion", "request": problem})).json()["saga_id"]
    await followed(ann, saga_id)
    plan_hash = (await ann.get(f"/sagas/{saga_id}")).json()["plan_hash"]
    await ann.post(f"/sagas/{saga_id}/approve", json={"plan_hash": plan_hash})
    await followed(ann, saga_id)
    assert (await ann.get(f"/sagas/{saga_id}")).json()["monitor"] is None
    foreseen, at = f"/sagas/{saga_id}/foreseen", {"at": "10:00", "event": "delayed", "person": "James"}
    assert (await ann.post(foreseen, json={"news": {**at, "person": "Nobody", "from": "13:40"}})).status_code == 422
    told = (await ann.post(foreseen, json={"news": {**at, "from": "12:55"}})).json()
    assert (told["monitor"]["level"], told["status"]) == ("normal", "running")
    assert (await ann.post(foreseen, json={"news": {**at, "from": "13:40"}})).status_code == 202
    await followed(ann, saga_id)
    told = (await ann.get(f"/sagas/{saga_id}")).json()
    assert (told["monitor"]["level"], told["status"], told["plan_version"]) == ("violation", "awaiting_approval", 1)


async def test_what_was_assumed_and_not_understood_stands_beside_the_request(ann: httpx2.AsyncClient) -> None:
    begun = await ann.post(
        "/sagas", json={"domain": "travel", "text": "What would Boston to Lisbon cost, 5-9 May 2025, with a snorkling flumph?"}
    )
    assert begun.status_code == 202, begun.text
    told = (await ann.get(f"/sagas/{begun.json()['saga_id']}")).json()
    assert told["request"]["stops"] == [{"city": "Lisbon", "nights": 3}]
    assert told["assumed"]["stops[0].nights"] == "from the dates, one night under way"
    assert any("flumph" in each for each in told["not_understood"])
    await followed(ann, begun.json()["saga_id"])


@pytest.mark.parametrize(
    ("domain", "text", "assumed"),
    [
        ("travel", SENTENCE, "travellers"),
        ("reunion", DAY, "vehicles[0].seats"),
        ("recipes", "lentil soup and custard", "cooks"),
    ],
)
async def test_every_domain_begins_with_a_sentence_or_a_request_and_says_what_it_assumed(
    ann: httpx2.AsyncClient, domain: str, text: str, assumed: str
) -> None:
    begun = await ann.post("/sagas", json={"domain": domain, "text": f"{text}, with a snorkling flumph"})
    assert begun.status_code == 202, begun.text
    told = (await ann.get(f"/sagas/{begun.json()['saga_id']}")).json()
    assert told["assumed"][assumed]
    assert any("flumph" in each for each in told["not_understood"]) or domain == "reunion"
    again = await ann.post("/sagas", json={"domain": domain, "request": told["request"]})
    assert (again.status_code, told["request"].keys() <= again.json()["request"].keys()) == (202, True)
    for saga_id in (begun.json()["saga_id"], again.json()["saga_id"]):
        await ann.post(f"/sagas/{saga_id}/cancel")


@pytest.mark.parametrize(
    ("domain", "text", "missing", "known"),
    [
        ("travel", "5 nights in Lisbon in May 2025", "origin", "Lisbon"),
        ("reunion", "Emily lands at 2 pm at BOS and needs a ride", "goals[0].place", "Emily"),
        ("recipes", "for two cooks", "recipes", "2"),
    ],
)
async def test_every_domain_lists_what_is_missing_with_what_is_known(
    app: Any, domain: str, text: str, missing: str, known: str
) -> None:
    async with browser_on(app) as somebody_new:
        answer = await somebody_new.post("/sagas", json={"domain": domain, "text": text})
    told = answer.json()
    assert (answer.status_code, missing in told["missing"], known in str(told["request"])) == (422, True, True), told
    assert len(set(told["missing"])) == len(told["missing"])


async def test_what_is_missing_is_listed_by_its_field_with_all_that_is_known(app: Any) -> None:
    async with browser_on(app) as somebody_new:
        answer = await somebody_new.post("/sagas", json={"text": "5 nights in Lisbon in May 2025, at most $4,000"})
    told = answer.json()
    assert (answer.status_code, told["missing"], told["request"]["stops"][0]["nights"]) == (422, ["origin"], 5)
    assert told["assumed"]["travellers"]


WINDOW = {"first": "2025-06-01", "last": "2025-06-30"}


@pytest.mark.parametrize(
    ("text", "filled", "wanted"),
    [
        ("flights only from Boston to Lisbon for 4 nights", {"window": WINDOW}, {"hotels": False}),
        ("the cheapest from Boston to Lisbon for 4 nights", {"window": WINDOW}, {"prefer": "cheapest"}),
        ("Boston to Lisbon one way", {"window": WINDOW}, {"return_to": None}),
        ("to Lisbon for 4 nights in June 2025", {"origin": "Boston"}, {"return_to": "Boston"}),
        (
            "Boston to Lisbon for 4 nights in June 2025, budget 1000 EUR per person",
            {"travellers": 3},
            {"budget": 3000, "currency": "EUR", "travellers": 3},
        ),
    ],
)
async def test_what_was_incomplete_is_filled_in_and_loses_no_wish(app: Any, text: str, filled: Any, wanted: Any) -> None:
    async with browser_on(app) as newcomer:
        told = (await newcomer.post("/sagas", json={"domain": "travel", "text": text})).json()
        assert set(told["missing"]) == set(filled), told
        begun = await newcomer.post("/sagas", json={"domain": "travel", "request": {**told["request"], **filled}})
    assert begun.status_code == 202, begun.text
    request = begun.json()["request"]
    assert {name: request.get(name) for name in wanted} == wanted
    assert ("travellers" in begun.json()["assumed"]) is ("travellers" not in filled)


async def test_what_is_filled_in_otherwise_is_assumed_no_more(app: Any) -> None:
    async with browser_on(app) as newcomer:
        told = (await newcomer.post("/sagas", json={"text": "from Boston to Lisbon"})).json()
        again = await newcomer.post("/sagas", json={"request": told["request"]})
        assert (again.status_code, again.json()["missing"]) == (422, ["stops[0].nights", "depart"])
        stops = [{"city": "Lisbon", "nights": 4}]
        begun = await newcomer.post(
            "/sagas", json={"request": {**told["request"], "stops": stops, "window": WINDOW, "travellers": 2}}
        )
    assert begun.json()["assumed"] == {"return_to": "a round trip"}


async def test_a_recipe_of_ours_may_stand_by_its_name(app: Any) -> None:
    async with browser_on(app) as newcomer:
        begun = await newcomer.post("/sagas", json={"domain": "recipes", "request": {"recipes": ["Pancakes"]}})
    assert (begun.status_code, begun.json()["request"]["recipes"][0]["recipe"]) == (202, "Pancakes")


async def test_a_board_that_lacks_a_table_begins_nothing(app: Any) -> None:
    async with browser_on(app) as newcomer:
        good = (await newcomer.post("/sagas", json={"domain": "reunion", "text": DAY})).json()["request"]
        before = (await newcomer.get("/sagas")).json()["sagas"]
        for harm in ({"places": None}, {"people": [{"name": "Sarah", "place": "nowhere"}]}, {"name": True}):
            filled = {"problem": {**good["told"]["filled"]["problem"], **harm}}
            broken = await newcomer.post("/sagas", json={"domain": "reunion", "request": {**good, "told": {"filled": filled}}})
            assert broken.status_code == 422, broken.text
            assert broken.json()["error"]["field"].startswith("told.filled.problem")
        assert (await newcomer.get("/sagas")).json()["sagas"] == before


async def test_a_body_that_cannot_be_read_is_answered_like_all_errors(app: Any) -> None:
    async with browser_on(app) as newcomer:
        answer = await newcomer.post("/sagas", content=b'{"text": "\xe9"}', headers={"content-type": "application/json"})
    assert (answer.status_code, "parsing the body" in answer.json()["error"]["message"]) == (400, True)


@pytest.mark.parametrize(
    ("domain", "request_", "missing"),
    [
        ("travel", {"origin": "Boston", "stops": [{"city": "Paris"}, {"nights": 2}]}, {"stops[0].nights", "stops[1].city"}),
        ("reunion", {"problem": {"name": "dinner", "people": [{}]}}, {"people[0].name", "people[0].place"}),
    ],
)
async def test_a_request_that_lacks_something_lists_all_of_it(app: Any, domain: str, request_: Any, missing: set[str]) -> None:
    async with browser_on(app) as somebody_new:
        answer = await somebody_new.post("/sagas", json={"domain": domain, "request": request_})
    told = answer.json()
    assert answer.status_code == 422
    assert {name.removeprefix("problem.") for name in told["missing"]} >= missing
    assert (told["request"], all(name in told["error"]["message"] for name in told["missing"])) == (request_, True)


async def test_the_start_is_that_of_the_visitors_last_trip(app: Any) -> None:
    async with browser_on(app) as bea:
        await bea.get("/sagas")
        first = await bea.post("/sagas", json={"text": SENTENCE})
        await followed(bea, first.json()["saga_id"])
        second = await bea.post("/sagas", json={"text": "to Paris for 3 nights in June 2025"})
        assert second.status_code == 202, second.text
        assert second.json()["request"]["origin"] == "Boston"
        assert second.json()["assumed"]["origin"]
        await followed(bea, second.json()["saga_id"])


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("one way flight from Boston to Lisbon on May 5 2025", ["flight"]),
        ("Boston to Lisbon, 5-9 May 2025, no hotel", ["flight", "flight"]),
        ("Day trip London to Paris on 6 May 2025", 2),
    ],
)
async def test_trips_without_a_hotel_are_planned(ann: httpx2.AsyncClient, text: str, kinds: Any) -> None:
    begun = await ann.post("/sagas", json={"text": text})
    assert begun.status_code == 202, begun.text
    saga_id = begun.json()["saga_id"]
    assert (await followed(ann, saga_id))[-1]["type"] == "ApprovalAsked"
    legs = (await ann.get(f"/sagas/{saga_id}/plan")).json()["shown"]["plan"]["legs"]
    found = [leg["offer"]["kind"] for leg in legs]
    assert "hotel" not in found
    assert (len(found) if isinstance(kinds, int) else found) == kinds


async def test_an_alternative_is_chosen_and_the_plan_before_it_cannot_be_approved_any_more(ann: httpx2.AsyncClient) -> None:
    saga_id, shown = await planned(ann)
    other = (await ann.get(f"/sagas/{saga_id}/plan")).json()["alternatives"][0]["plan_hash"]
    assert (await ann.post(f"/sagas/{saga_id}/choose", json={"plan_hash": other})).status_code == 202
    await followed(ann, saga_id)
    refused = await ann.post(f"/sagas/{saga_id}/approve", json={"plan_hash": shown})
    assert refused.status_code == 409
    assert other in refused.json()["error"]["message"]
    assert (await ann.post(f"/sagas/{saga_id}/choose", json={"plan_hash": "0" * 16})).status_code == 409


async def test_other_wishes_lead_to_another_plan_and_a_rejected_one_is_over(ann: httpx2.AsyncClient) -> None:
    saga_id, first = await planned(ann)
    await ann.post(f"/sagas/{saga_id}/change", json={"text": "3 nights in Lisbon"})
    await followed(ann, saga_id)
    second = (await ann.get(f"/sagas/{saga_id}")).json()["plan_hash"]
    assert second != first
    await ann.post(f"/sagas/{saga_id}/reject", json={"plan_hash": second})
    await followed(ann, saga_id)
    assert (await ann.get(f"/sagas/{saga_id}")).json()["status"] == "rejected"
    assert (await ann.post(f"/sagas/{saga_id}/approve", json={"plan_hash": second})).status_code == 409


async def test_what_replaces_a_lost_booking_is_shown_approved_and_explained(ann: httpx2.AsyncClient) -> None:
    saga_id, plan_hash = await planned(ann)
    before = (await ann.get(f"/sagas/{saga_id}/plan")).json()["shown"]
    await ann.post(f"/sagas/{saga_id}/approve", json={"plan_hash": plan_hash})
    await followed(ann, saga_id)
    await ann.post(f"/sagas/{saga_id}/change", json={"lost": ["T2"]})
    await followed(ann, saga_id)
    asked = (await ann.get(f"/sagas/{saga_id}")).json()
    shown = (await ann.get(f"/sagas/{saga_id}/plan")).json()["shown"]
    assert (asked["status"], asked["plan_hash"] != plan_hash) == ("awaiting_approval", True)
    assert shown["plan_hash"] == asked["plan_hash"]
    await ann.post(f"/sagas/{saga_id}/approve", json={"plan_hash": asked["plan_hash"]})
    await followed(ann, saga_id)
    after = (await ann.get(f"/sagas/{saga_id}/plan")).json()
    assert (after["status"], after["shown"]["plan_hash"]) == ("committed", asked["plan_hash"])
    assert after["shown"]["reasons"] == shown["reasons"] != before["reasons"]


async def test_nobody_sees_or_settles_what_belongs_to_another_visitor(app: Any, ann: httpx2.AsyncClient) -> None:
    saga_id, plan_hash = await planned(ann)
    async with browser_on(app) as bob:
        assert (await bob.get("/sagas")).json() == {"sagas": []}
        for path in ("", "/plan", "/log", "/events", "/cancel", "/files/log.json"):
            assert (await bob.get(f"/sagas/{saga_id}{path}")).status_code == 404
        for path, body in (
            ("approve", {"plan_hash": plan_hash}),
            ("reject", {"plan_hash": plan_hash}),
            ("choose", {"plan_hash": plan_hash}),
            ("change", {"text": "3 nights in Lisbon"}),
            ("cancel", None),
            ("resume", None),
            ("resolve", {"operation": "T1", "resolution": "absent"}),
        ):
            assert (await bob.post(f"/sagas/{saga_id}/{path}", json=body)).status_code == 404
    assert (await ann.get(f"/sagas/{saga_id}")).json()["status"] == "awaiting_approval"


async def test_a_plan_is_shared_until_that_is_ended_without_what_changes_a_booking(app: Any, ann: httpx2.AsyncClient) -> None:
    saga_id, plan_hash = await planned(ann)
    assert (await ann.get(f"/sagas/{saga_id}/share")).json()["path"] is None
    path = (await ann.post(f"/sagas/{saga_id}/share")).json()["path"]
    assert (
        path
        == (await ann.post(f"/sagas/{saga_id}/share")).json()["path"]
        == (await ann.get(f"/sagas/{saga_id}/share")).json()["path"]
    )
    assert path.rpartition("/")[2] not in (await ann.get(f"/sagas/{saga_id}/log")).text
    await ann.post(f"/sagas/{saga_id}/approve", json={"plan_hash": plan_hash})
    await followed(ann, saga_id)
    operations = (await ann.get(f"/sagas/{saga_id}")).json()["operations"]
    booked = [each["output"]["reservation_id"] for each in operations if "reservation_id" in (each["output"] or {})]
    assert len(booked) == 3
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://localhost", timeout=30) as stranger:
        seen = await stranger.get(path)
        assert (seen.status_code, "Lisbon" in seen.text, seen.headers["cache-control"]) == (200, True, "no-store")
        assert [word in seen.text for word in (*booked, saga_id, plan_hash, "data-choose")] == [False] * (len(booked) + 3)
        assert (await stranger.delete(f"{PREFIX}/sagas/{saga_id}/share")).status_code == 404
        assert (await stranger.get("/shared/nobody")).status_code == 404
        assert (await ann.delete(f"/sagas/{saga_id}/share")).json()["path"] is None
        assert (await stranger.get(path)).status_code == 404
        assert (await ann.post(f"/sagas/{saga_id}/share")).json()["path"] != path
        assert (await stranger.get(path)).status_code == 404


@pytest.mark.thorough
async def test_its_documents_can_be_downloaded(ann: httpx2.AsyncClient) -> None:
    saga_id, _hash = await planned(ann)
    calendar = await ann.get(f"/sagas/{saga_id}/files/trip.ics")
    assert calendar.text.startswith("BEGIN:VCALENDAR")
    assert calendar.headers["content-disposition"] == 'attachment; filename="trip.ics"'
    assert (await ann.get(f"/sagas/{saga_id}/files/log.json")).json()["saga_id"] == saga_id
    assert (await ann.get(f"/sagas/{saga_id}/files/saga.json")).json()["status"] == "awaiting_approval"
    assert (await ann.get(f"/sagas/{saga_id}/files/..%2F..%2Fetc%2Fpasswd")).status_code == 404


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"text": "to Lisbon for 5 nights in May 2025"}, "Where does the trip start?"),
        ({"text": SENTENCE, "request": {}}, "either a sentence or a request"),
        ({}, "either a sentence or a request"),
        ({"request": {"origin": "Boston"}}, "stops"),
        ({"text": SENTENCE, "domain": "cookery"}, "cookery"),
    ],
)
async def test_what_cannot_be_planned_is_answered_with_what_is_missing(ann: httpx2.AsyncClient, body: Any, words: str) -> None:
    answer = await ann.post("/sagas", json=body)
    assert answer.status_code == 422
    assert words in answer.json()["error"]["message"]


async def test_a_saga_that_there_is_not_and_bodies_that_are_none_are_told(ann: httpx2.AsyncClient) -> None:
    assert (await ann.get("/sagas/nothing")).status_code == 404
    assert (await ann.post("/sagas", content=b"{")).status_code == 422
    assert (await ann.post("/sagas", json={"text": "x" * 5000})).status_code == 422


async def test_words_that_were_not_understood_are_named_although_there_is_a_plan(ann: httpx2.AsyncClient) -> None:
    begun = await ann.post("/sagas", json={"text": f"{SENTENCE}, with a trampoline"})
    assert (begun.status_code, begun.json()["not_understood"]) == (202, ["trampoline"])
    understood = await ann.post("/sagas", json={"text": SENTENCE})
    assert understood.json()["not_understood"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (rb'{"text": "Boston to \ud800"}', "body"),
        (rb'{"request": {"origin": "\udfff"}}', "body"),
        (b'{"text": 3}', "text"),
        (b'{"text": "Boston", "colour": "red"}', "colour"),
        (b"{", "1"),
    ],
)
async def test_a_body_that_does_not_fit_is_answered_briefly_and_not_repeated(
    ann: httpx2.AsyncClient, body: bytes, field: str
) -> None:
    answer = await ann.post("/sagas", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)
    assert len(answer.content) < 200
    long = b'{"text": "%s"}' % (b"x" * 900_000)
    told = await ann.post("/sagas", content=long, headers={"content-type": "application/json"})
    assert (told.status_code, len(told.content) < 200) == (422, True)


async def test_a_fault_is_ordered_for_a_saga_and_strikes_it(ann: httpx2.AsyncClient) -> None:
    saga_id, plan_hash = await planned(ann)
    order = {"kind": "hotel", "call": "book", "fault": "refuse"}
    assert (await ann.post(f"/sagas/{saga_id}/faults", json=order)).status_code == 202
    assert (await ann.post(f"/sagas/{saga_id}/faults", json={**order, "fault": "earthquake"})).status_code == 422
    await ann.post(f"/sagas/{saga_id}/approve", json={"plan_hash": plan_hash})
    assert "PlanDisrupted" in [each["type"] for each in await followed(ann, saga_id)]
    nowhere = await ann.post(f"/sagas/{saga_id}/resolve", json={"operation": "T99", "resolution": "absent"})
    assert nowhere.status_code == 404


async def test_the_interface_describes_itself_without_anything_from_elsewhere(app: Any) -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://localhost") as browser:
        described = (await browser.get("/openapi.json")).json()["paths"]
        read = (await browser.get("/docs")).text
    assert f"{PREFIX}/sagas/{{saga_id}}/approve" in described
    assert all(path in read for path in described)
    assert "//cdn" not in read
    assert "<script" not in read
