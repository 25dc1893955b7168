"""What is said in the chat, and what it does: on the real domains, without a browser."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from sagagraph.context.model import Answer
from sagagraph.planning.fields import State
from sagagraph.planning.models.reading import listed
from sagagraph.planning.monitor import grave
from sagagraph.saga.core.state import Saga
from sagagraph.settings import Settings
from sagagraph.ui.chat.conversation import Conversation, Conversations, shown_messages
from sagagraph.ui.chat.labels import book_label
from sagagraph.ui.chat.page_model import PageModel
from sagagraph.ui.chat.talk import Talk
from sagagraph.ui.chat.turn import Deed
from sagagraph.ui.html import cards
from sagagraph.ui.service import Service, open_service
from sagagraph.ui.visitors import guest
from tests.domains.reunion.scripted import LATE, PROBLEM, request
from tests.support.models.script import Say, Status, Step, Text
from tests.support.models.server import ModelServer
from tests.ui.chat import Chat, all_said, board, last_said, plan_hash, refused_in, status, wishes
from tests.ui.searching import Searching

pytestmark = pytest.mark.asyncio(loop_scope="module")

TRIP = "From Boston to Lisbon for 5 nights in May 2025, at most $4,000"
DAY = (
    "Dinner at 6 pm at home in Boston. Sarah is at home. James lands at 1 pm at BOS and rents a car. Grandma needs a pick-up. "
    "Home-BOS 60 minutes, BOS-Grandma 60, Home-Grandma 30"
)
DINNER = "Dinner at 6 pm at home in Boston"


async def test_every_wish_of_a_trip_is_a_phrase_that_means_just_that(service: Service) -> None:
    said = (
        "Two of us from Boston to Lisbon for 3 nights and Porto for 2 nights between 5 May 2025 and 30 May 2025, at most $9,000, "
        "4-5 star hotels, direct flights only, no flights before 9:00, not on a Sunday, in any order"
    )
    page = service.pages["travel"]
    draft = await page.read(said, None)
    assert (draft.questions, draft.not_understood) == ((), ())
    for wish in draft.wishes:
        again = await page.read(wish.text, draft.known)
        assert again.request | {"assumed": {}} == draft.request | {"assumed": {}}, wish
    assert len(draft.wishes) == 12


async def test_an_answer_completes_what_was_supposed_and_still_changes_nothing(service: Service) -> None:
    chat = Chat(service)
    proposed = await chat.say("From Boston to Lisbon for 3 nights and Porto for 2 nights in May 2025")
    await chat.say("what about Brussels?")
    assert chat.deeds == (Deed.ASKED,)
    await chat.say("yes")  # that answers nothing, and books nothing
    assert chat.deeds == (Deed.ASKED,)
    await chat.say("skip")
    await chat.say("what about Brussels?")
    compared = await chat.say("instead of Porto")
    assert chat.deeds == (Deed.COMPARED,)
    assert "Nothing is changed" in last_said(compared)
    assert plan_hash(compared) == plan_hash(proposed)
    changed = await chat.say("do that")
    assert chat.deeds == (Deed.CHANGED,)
    assert plan_hash(changed) != plan_hash(proposed)


async def test_something_is_supposed_where_there_is_no_plan(service: Service) -> None:
    chat = Chat(service)
    assert status(await chat.say("From Boston to Lisbon for 5 nights in May 2025, at most $50")) == "infeasible"
    supposed = await chat.say("what if the budget was $4,000?")
    assert chat.deeds == (Deed.COMPARED,)
    assert "new: " in last_said(supposed)
    assert status(await chat.say("do that")) == "awaiting_approval"


@pytest.mark.parametrize("said", ["take it", "good enough", "yes", None])
async def test_a_plan_is_shown_while_a_better_one_is_sought_and_can_be_taken(
    service: Service, monkeypatch: pytest.MonkeyPatch, said: str | None
) -> None:
    searching = Searching()
    monkeypatch.setattr(service.pages["reunion"].domain, "_planner", searching)
    chat = Chat(service, "reunion")
    sketched = await chat.begin(DAY)
    while not sketched.is_sketch:
        assert sketched.saga is not None
        await service.moved(sketched.saga.id)
        sketched = await chat.look()
    assert sketched.shown is not None
    assert not sketched.waits  # it has not been judged
    assert "better one" in all_said(sketched)
    assert plan_hash(sketched) is None
    if said is None:
        searching.stop.set()
    else:
        await chat.begin(said)
    scene = await chat.quiet()
    searching.stop.set()
    assert scene.shown is not None
    assert scene.shown.plan.content == sketched.shown.plan.content
    assert scene.waits
    assert not scene.is_sketch


async def test_a_wish_that_is_removed_does_not_hold_any_more_and_what_is_needed_is_asked_for_again(service: Service) -> None:
    chat = Chat(service)
    first = await chat.say(TRIP)
    without = await chat.remove("budget")
    assert "budget" not in wishes(without)
    assert without.saga is not None
    assert without.saga.request["budget"] is None
    assert last_said(await chat.remove("first")).startswith("Now: Not before:")
    assert "Back by: 31 May 2025 → –. When do you want to travel" in last_said(await chat.remove("last"))
    assert plan_hash(await chat.say("in May 2025")) == plan_hash(without)
    assert plan_hash(first) is not None


async def test_lines_that_are_no_recipe_stay_on_the_page_of_trips(service: Service) -> None:
    said = last_said(await Chat(service).say("Two of us from Boston to Lisbon for 3 nights\nwith a snorkling flumph"))
    assert said.startswith("When do you want to travel"), said


async def test_yes_approves_the_plan_that_was_shown_and_no_other(service: Service) -> None:
    chat = Chat(service)
    shown = await chat.say(TRIP)
    talk = Talk(service, chat.visitor, chat.conversations.of(chat.visitor), "another plan")
    assert "look at it again" in (await talk.say("yes")).messages[-1].text
    assert status(await chat.quiet()) == "awaiting_approval"
    booked = await chat.say("yes, book it")
    assert (status(booked), plan_hash(booked)) == ("committed", plan_hash(shown))


async def test_a_booking_that_fell_through_is_replaced_after_approval(service: Service) -> None:
    chat = Chat(service)
    await chat.say(TRIP)
    before = await chat.say("yes")
    asked_back = await chat.say("the hotel in Lisbon cancelled on us")
    assert (status(asked_back), "did that happen" in last_said(asked_back)) == ("committed", True)
    asked = await chat.say("yes")
    assert (status(asked), asked.before and asked.before.plan) == ("awaiting_approval", before.saga and before.saga.plan.content)
    assert asked.shown is not None
    assert cards.plan_card(asked.shown, asked.page, changes_saga=asked.saga).count("Confirmation") == 3
    assert asked.before is not None
    card = cards.plan_card(asked.shown, asked.page, (asked.before.plan, asked.before.cost), changes_saga=asked.saga)
    assert card.count("Confirmation") == 2, "the journeys stay booked, and the new hotel is not yet"
    assert re.fullmatch(r"Book the change: (still \$[\d,.]+|\$[\d,.]+ (more|less))( \+.*)?", book_label(asked)), book_label(asked)
    after = await chat.say("yes")
    assert status(after) == "committed"
    assert after.saga is not None
    assert after.saga.plan.version == 2
    assert after.before == asked.before


async def test_a_change_of_what_is_booked_that_cannot_be_had_leaves_the_board_as_it_was(service: Service) -> None:
    chat = Chat(service)
    await chat.say("From Boston to Lisbon for 3 nights and Porto for 2 in May 2025")
    booked = await chat.say("yes")
    assert status(booked) == "committed"
    await chat.reword("stops[0].nights", "4")
    refused = await chat.reword("budget", "10")
    assert (status(refused), "Nothing was changed" in all_said(refused)) == ("committed", True)
    assert refused.conversation.draft.known.budget is None
    assert refused.conversation.draft.known.stops[0].nights == 3
    assert "Now:" not in all_said(refused)
    asked = await chat.reword("travellers", "2")
    assert "nights" not in all_said(asked).rpartition("Wanted: ")[2].partition(".")[0]


@pytest.mark.parametrize(
    ("page", "opening", "field", "value", "why"),
    [
        ("travel", TRIP, "stops[0].nights", "-3", "at least 0"),
        ("travel", TRIP, "stops[0].nights", "500", "at most 365"),
        ("travel", TRIP, "stops[0].nights", "2.5", "a whole number"),
        ("travel", "", "budget", "-100", "at least 1"),
        ("travel", TRIP, "travellers", "0", "at least 1"),
        ("travel", TRIP, "children", "4", "at most 0"),
        ("recipes", "We make lentil soup and apple crumble", "cooks", "0", "at least 1"),
        ("reunion", DAY, "travel_minutes[0]", "-40", "at least 0"),
    ],
)
async def test_what_cannot_be_typed_is_refused_at_its_field(
    service: Service, page: str, opening: str, field: str, value: str, why: str
) -> None:
    chat = Chat(service, page)
    before = await chat.begin(opening) if opening else await chat.look()
    await chat.quiet()
    for _ in range(2):
        refused = await chat.reword(field, value)
        (marked,) = refused_in(refused)
        assert (marked.name, marked.value, marked.note) == (field, value, f"“{value}” cannot be used here: {why}")
    assert refused.conversation.draft.known == before.conversation.draft.known
    assert why not in all_said(refused)
    assert (await chat.say("thanks")).conversation.refused == {}


async def test_what_is_refused_at_one_field_stays_there_while_others_change(service: Service) -> None:
    chat = Chat(service)
    await chat.say(TRIP)
    await chat.reword("stops[0].city", "Atlantis")
    await chat.reword("origin", "Nowhere at all")
    scene = await chat.reword("travellers", "2")
    marked = refused_in(scene)
    assert [(each.name, each.value) for each in marked] == [("origin", "Nowhere at all"), ("stops[0].city", "Atlantis")]
    assert all(each.note.startswith("No city called '") for each in marked)
    assert "city called" not in all_said(scene)
    scene = await chat.reword("stops[0].city", "Porto")
    assert [each.name for each in refused_in(scene)] == ["origin"]


@pytest.mark.parametrize("is_planned", [True, False], ids=["planned", "not yet planned"])
async def test_a_day_that_was_filled_in_is_said_and_only_the_other_is_assumed(service: Service, is_planned: bool) -> None:
    chat = Chat(service)
    await chat.reword("first", "2025-06-25")
    for name, value in (("stops[0].city", "Lisbon"), ("stops[0].nights", "5"), ("origin", "Boston" if is_planned else "")):
        scene = await chat.reword(name, value)
    assert (scene.saga is not None) is is_planned
    fields = board(scene)
    assert (fields["first"].state, fields["first"].note) == (State.SAID, "")
    assert (fields["last"].state, fields["last"].note) == (State.ASSUMED, "assumed: begins within two weeks")
    assert board(await chat.reword("last", "2025-07-12"))["last"].state is State.SAID


async def test_a_child_too_many_is_marked_and_undo_takes_back_only_that(service: Service) -> None:
    chat = Chat(service)
    await chat.reword("travellers", "3")
    await chat.reword("children", "2")
    marked = await chat.reword("travellers", "")
    named = {each.name: each for each in listed(marked.page.fields(marked.conversation.draft))}
    assert (named["children"].state, named["children"].value) == (State.MISSING, "2")
    assert "at least one adult" in named["children"].note
    known = (await chat.say("undo that")).conversation.draft.known
    assert (known.travellers, known.children) == (3, 2)


async def test_the_currency_stays_without_a_budget(service: Service) -> None:
    chat = Chat(service)
    await chat.reword("budget", "1000")
    await chat.reword("currency", "EUR")
    known = (await chat.reword("budget", "")).conversation.draft.known
    assert (known.budget, known.currency) == (None, "EUR")


async def test_what_cannot_be_told_apart_is_asked_about(service: Service) -> None:
    chat = Chat(service)
    await chat.say(TRIP)
    await chat.say("yes")
    assert last_said(await chat.say("our flight is cancelled")).startswith("Which one")


async def test_an_ordered_fault_is_repaired_and_the_new_plan_needs_a_new_approval(service: Service) -> None:
    chat = Chat(service)
    shown = await chat.say(TRIP)
    assert shown.saga is not None
    await service.order_fault(chat.visitor, shown.saga.id, kind="hotel", call="book", fault="refuse")
    repaired = await chat.say("yes")
    assert status(repaired) == "awaiting_approval"
    assert plan_hash(repaired) != plan_hash(shown)
    refused = await chat.say("no")
    assert (status(refused), "undo everything done so far" in all_said(refused)) == ("awaiting_approval", True)
    await service.cancel(chat.visitor, shown.saga.id)
    assert status(await chat.quiet()) == "compensated"


async def test_a_booking_that_fell_through_and_was_not_replaced_is_missed_until_it_is(service: Service) -> None:
    chat = Chat(service)
    await chat.say(TRIP)
    await chat.say("yes")
    await chat.say("the hotel in Lisbon cancelled on us")
    await chat.say("yes")
    kept = await chat.say("no")
    assert kept.saga is not None
    assert (status(kept), kept.saga.missing) == ("committed", ("T2",))
    assert "nothing has taken its place" in all_said(kept)
    asked = await chat.say("5 star hotels")
    assert status(asked) == "awaiting_approval", all_said(asked)
    booked = await chat.say("yes")
    assert booked.saga is not None
    assert (status(booked), booked.saga.missing) == ("committed", ())
    assert "Done: everything is booked" in all_said(booked)


async def test_after_a_restart_the_last_conversation_goes_on_from_the_journal(service: Service) -> None:
    chat = Chat(service)
    shown = await chat.say(TRIP)
    chat.conversations = Conversations("travel")
    again = await chat.look()
    assert (plan_hash(again), wishes(again)["budget"]) == (plan_hash(shown), "at most $4,000")
    cheaper = await chat.say("at most $3,500")
    assert cheaper.saga is not None
    assert cheaper.saga.id == (shown.saga and shown.saga.id)
    assert cheaper.saga.request["budget"] == 3500


async def test_cancelling_in_words_points_to_the_button_that_is_there_and_does_nothing(service: Service) -> None:
    chat = Chat(service)
    await chat.say(TRIP)
    for words in ("cancel everything", "cancel the whole trip now", "please undo it"):
        assert "Discard this plan" in last_said(await chat.say(words))
    assert status(await chat.quiet()) == "awaiting_approval"
    await chat.say("book it")
    told = last_said(await chat.say("cancel everything"))
    assert "Cancel…" in told
    assert "the payment" in told
    assert status(await chat.quiet()) == "committed"


async def told_day(chat: Chat) -> PageModel:
    planned = await chat.say(DAY)
    assert status(planned) == "awaiting_approval"
    return await chat.say("yes")


async def test_a_day_is_planned_told_delayed_repaired_and_ended(service: Service) -> None:
    chat = Chat(service, "reunion")
    told = await told_day(chat)
    assert status(told) == "running"
    delayed = await chat.say("James's flight is delayed until 2")
    assert status(delayed) == "awaiting_approval"
    assert delayed.saga is not None
    assert delayed.saga.request["events"] == [{"at": "13:00", "event": "delayed", "person": "James", "from": "14:00"}]
    (known,) = delayed.page.happened(delayed.saga.request)
    assert known.text == "Known at 13:00: James is delayed until 14:00"
    changed = {line.key for line in delayed.page.view(delayed.saga.plan.content).lines} - {
        line.key
        for line in delayed.page.view(delayed.before and delayed.before.plan).lines
        if line in delayed.page.view(delayed.saga.plan.content).lines
    }
    assert changed == {"James", "Grandma"}
    assert status(await chat.say("yes")) == "running"
    preview = await service.preview(chat.visitor, delayed.saga.id)
    told = cards.preview_card(preview, await service.saga(chat.visitor, delayed.saga.id), delayed.page)
    assert all(f"<td>what {who} was told</td>" in told for who in ("James", "Grandma")), told
    assert "<th>fee</th>" not in told
    assert status(await chat.say("the day is over")) == "committed"


async def test_what_people_forget_is_proposed_and_added_when_asked_for(service: Service) -> None:
    chat = Chat(service, "reunion")
    first = await chat.say(DAY)
    assert any("People often forget" in each.text for each in first.conversation.messages)
    added = await chat.say("add 1")
    assert plan_hash(added) != plan_hash(first)
    await chat.say("add all")
    assert last_said(await chat.say("add all")) == "There is nothing left to add."


async def test_a_reunion_that_was_told_goes_on_after_a_restart(service: Service) -> None:
    chat = Chat(service, "reunion")
    await chat.say(DAY)
    shown = await chat.say("add 1")
    chat.conversations = Conversations("travel")
    again = await chat.look()
    assert (again.page.name, plan_hash(again)) == ("reunion", plan_hash(shown))
    assert again.conversation.messages[0].text.startswith("A reunion (dinner) of Sarah, James, Grandma")
    assert last_said(await chat.say("Sarah stays at home")).startswith("I read nothing there that the plan does not have")
    later = await chat.say("Dinner at 7 pm at home in Boston")
    assert later.saga is not None
    assert later.saga.id == (shown.saga and shown.saga.id)
    assert [goal["by"] for goal in later.saga.request["problem"]["goals"]] == ["19:00"]
    assert any("by: 18:00 → 19:00" in each.text for each in later.conversation.messages)


async def test_what_is_said_later_takes_the_place_of_what_it_contradicts(service: Service) -> None:
    chat = Chat(service, "reunion")
    first = await chat.say(DAY)
    scene = await chat.say("James lands at 2")
    assert scene.saga is not None
    assert {each["from"] for each in scene.saga.request["problem"]["people"] if each["name"] == "James"} == {"14:00"}
    assert plan_hash(await chat.say("James lands at 1 pm")) == plan_hash(first)


async def test_a_reunion_that_has_a_name_takes_changes_in_sentences(service: Service) -> None:
    page = service.pages["reunion"]
    named = await page.read("wedding", None)
    assert (named.wishes, named.assumed) == ((), {"day": "no other day was read"})
    changed = await page.read("Everybody must be at the wedding venue by 4 pm", named.known)
    assert [goal["by"] for goal in changed.request["problem"]["goals"]] == ["16:00"]
    assert page.draft_of(changed.request).known == changed.known


async def test_nonsense_is_answered_and_changes_nothing(service: Service) -> None:
    chat = Chat(service, "reunion")
    scene = await chat.say(DAY)
    assert last_said(await chat.say("The weather is nice")).startswith("I did not understand: The weather is nice. ")
    assert plan_hash(await chat.look()) == plan_hash(scene)


async def test_a_telling_that_is_read_otherwise_now_is_taken_up_as_the_problem_that_was_planned(service: Service) -> None:
    page = service.pages["reunion"]
    request = (await page.read(DAY, None)).request
    other = {**request, "told": {"sentences": ["Dinner at 9 pm at home"]}}
    assert page.draft_of(other).request["problem"] == request["problem"]
    assert page.draft_of(other).wishes == ()


MUDDLE = "By the way, the plane that our dear James is on is now expected on the ground at 2 pm"
LATER = Say({"slots": [{"field": "people[1].from", "value": "14:00", "quote": "on the ground at 2 pm"}]})


@asynccontextmanager
async def with_model(folder: Path, *script: Step) -> AsyncIterator[tuple[Service, ModelServer]]:
    settings = Settings(store=f"sqlite:///{folder / 'saga.db'}", model="openai:m", model_seconds=20)
    with ModelServer(script) as server, pytest.MonkeyPatch.context() as patched:
        for name, value in server.environment("a-secret-key").items():
            patched.setenv(name, value)
        async with open_service(settings) as opened:
            yield opened, server


async def test_what_the_rules_cannot_read_is_read_by_the_model_and_echoed_field_by_field(tmp_path: Path) -> None:
    down = Status(503, "not now")
    async with with_model(tmp_path, down, down, LATER) as (service, _server):
        chat = Chat(service, "reunion")
        first = await chat.say(DAY)
        assert "so I went on without it" in all_said(first)
        changed = await chat.say(MUDDLE)
        assert "James, from: 13:00 → 14:00" in all_said(changed)
        assert plan_hash(changed) != plan_hash(first)


@pytest.mark.parametrize("step", [Status(503, "down"), Text("As you like!"), Say({"sentences": ["Bob lands at BOS at 2 pm."]})])
async def test_a_model_that_is_down_or_says_nonsense_loses_nothing_that_was_said(tmp_path: Path, step: Step) -> None:
    async with with_model(tmp_path, step) as (service, server):
        chat = Chat(service, "reunion")
        first = await chat.say(f"{DAY}. {MUDDLE}")
        assert len(server.asked) == 2  # for what was meant, and for a plan
        assert status(first) == "awaiting_approval"
        assert len(first.conversation.draft.known.problem["people"]) == 3
        assert "I did not understand: By the way" in all_said(first)
        assert "a-secret-key" not in all_said(first)


TWO = "Marie lands at JFK at 3 pm. Tom has a car and is at home. Everybody has to be at home by 6 pm."


async def test_what_a_model_has_read_of_a_table_takes_nothing_from_what_the_rules_have(tmp_path: Path) -> None:
    told = [("people[0].name", "Marie", "Marie lands"), ("people[0].from", "03:00", "at 3 pm")]
    found = Say({"slots": [dict(zip(("field", "value", "quote"), each, strict=True)) for each in told]})
    async with with_model(tmp_path, found, Status(503, "down")) as (service, _server):
        scene = await Chat(service, "reunion").say(TWO)
        assert status(scene) == "awaiting_approval"
        draft = scene.conversation.draft
        assert [(each["name"], each.get("from")) for each in draft.known.problem["people"]] == [("Marie", "03:00"), ("Tom", None)]
        assert draft.others == {"people[0].from": "15:00"}


async def test_a_model_that_names_everybody_or_a_stranger_fails_no_message(tmp_path: Path) -> None:
    told = [("goals[0].people", "everybody", "Everybody has"), ("goals[1].people", "JFK", "at JFK")]
    found = Say({"slots": [dict(zip(("field", "value", "quote"), each, strict=True)) for each in told]})
    async with with_model(tmp_path, found, Status(503, "down")) as (service, _server):
        scene = await Chat(service, "reunion").say(TWO)
        assert status(scene) == "awaiting_approval"
        assert [each["people"] for each in scene.conversation.draft.known.problem["goals"]] == ["all"]
        assert "Left out, because it does not fit here: goals people: JFK." in all_said(scene)


async def test_a_trip_is_understood_by_the_rules_when_the_model_is_down(tmp_path: Path) -> None:
    async with with_model(tmp_path, Status(503, "down")) as (service, _server):
        scene = await Chat(service).say("From Boston to Lisbon for 5 nights")
        told = [each.text for each in scene.conversation.messages]
        assert told[1].startswith("The model could not be asked, so I went on without it: openai:m: ")
        assert told[-1].startswith("When do you want to travel")
        assert "stops[0]" in wishes(scene)


async def test_each_field_shows_the_words_in_which_it_was_said(service: Service) -> None:
    chat = Chat(service)
    first = await chat.say("My wife and I want to go from san francisco to Lisbon for 5 nights, budget 4,000 euros")
    words = {name: said for name, (_, said) in first.conversation.quotes.items()}
    assert words["origin"] == "san francisco"
    assert words["stops[0].nights"] == "5 nights"
    assert words["travellers"] == "My wife"
    assert words["budget"] == "4,000 euros"
    assert "rooms" not in words  # they follow from the people
    changed = await chat.reword("stops[0].nights", "6")
    shown = {
        each.name: each.quoting(changed.conversation.quotes).note
        for each in listed(changed.page.fields(changed.conversation.draft))
    }
    assert shown["origin"] == "said: “san francisco”"
    assert shown["stops[0].nights"] == ""  # that was a click
    again = await chat.say("actually from Boston")
    assert again.conversation.quotes["origin"] == ("Boston", "Boston")


async def test_who_eats_does_not_cook(service: Service) -> None:
    page = service.pages["recipes"]
    for said, cooks in (
        ("lentil soup for 8 people, dinner at 7pm", None),
        ("lentil soup for 8 people with two cooks", 2),
        ("my wife and I make pancakes", 2),
        ("custard, three of us in the kitchen", 3),
    ):
        assert (await page.read(said, None)).known.get("cooks") == cooks, said


async def test_a_menu_without_dishes_asks_for_some_and_keeps_the_plan_from_before(service: Service) -> None:
    chat = Chat(service, "recipes")
    first = await chat.say("custard, dinner at 19:00")
    scene = await chat.remove("recipe Custard")
    assert last_said(scene).startswith("Now: Custard: yes → –. ")
    assert "What shall be cooked?" in last_said(scene)
    assert (plan_hash(scene), book_label(scene)) == (plan_hash(first), "Cook as planned before")


async def test_a_dish_that_is_refused_is_not_cooked(service: Service) -> None:
    for said in ("pancakes, no custard", "pancakes but no custard", "just pancakes, without custard"):
        known = (await service.pages["recipes"].read(said, None)).known
        assert [each["recipe"] for each in known["recipes"]] == ["Pancakes"], said


async def test_the_board_shows_what_the_rules_have_read_while_a_model_reads(service: Service) -> None:
    shown: list[Conversation] = []

    class Slow:
        name = "fake:slow"

        async def answer(self, _question: object) -> Answer:
            assert [each.draft.known.stops[0].city for each in shown] == ["Lisbon"]
            await asyncio.sleep(60)
            raise AssertionError("nobody waits that long")

    page = service.pages["travel"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(page, "model", Slow())
        patched.setattr(service, "settings", replace(service.settings, model_seconds=0.2))
        talk = Talk(service, guest("somebody who waits"), Conversation("travel"), None, shown.append)
        after = await talk.say("5 nights in Lisbon in May 2025")
    assert after.draft.known.stops[0].city == "Lisbon"
    assert any("could not be asked in time" in each.text for each in after.messages)
    assert after.messages[-1].text.startswith("Where does the trip start?")


async def test_while_a_question_is_open_everything_else_is_heard(service: Service) -> None:
    chat = Chat(service)
    await chat.say("5 nights in Lisbon")
    asked = last_said(await chat.say("yes"))
    assert asked.startswith("There is no plan to decide on yet. ")
    assert "Where does the trip start?" in asked
    assert "When do you want to travel" in asked
    scene = await chat.say("ok, at most $4,000 and for 2 people")
    assert scene.conversation.draft.known.budget == 4000
    assert scene.conversation.draft.known.travellers == 2
    assert re.search(r"Now: 2 travellers; .*at most \$4,000\. Where does the trip start\?", last_said(scene))
    assert status(await chat.say("Boston, in May 2025")) == "awaiting_approval"
    assert "for each of 2." in all_said(await chat.say("how much is it each?"))


async def test_what_one_visitor_says_is_heard_one_after_another(service: Service) -> None:
    conversations, visitor = Conversations("reunion"), guest("a token for two windows of one browser")

    async def in_a_window(text: str) -> None:
        async with conversations.turn(visitor):
            talk = Talk(service, visitor, conversations.of(visitor), None)
            await asyncio.sleep(0)
            conversations.keep(visitor, await talk.say(text))

    await asyncio.gather(*(in_a_window(f"{name} is at home") for name in ("Ann", "Bob", "Cleo", "Dan", "Eve")))
    assert len(conversations.of(visitor).draft.known.problem["people"]) == 5


@pytest.mark.parametrize(
    ("words", "event"),
    [
        ("James is delayed by two hours", {"event": "delayed", "person": "James", "from": "15:00"}),
        ("James's flight is 2 hours late", {"event": "delayed", "person": "James", "from": "15:00"}),
        ("James has half an hour delay", {"event": "delayed", "person": "James", "from": "13:30"}),
        (
            "there is an accident at the airport, everything takes three times as long",
            {"event": "travel_factor", "place": "BOS", "factor": 3.0},
        ),
        ("At 13:30, Grandma can't come", {"at": "13:30", "event": "cancelled", "person": "Grandma"}),
        ("the rental car broke down", {"event": "vehicle_down", "vehicle": "rental car"}),
        ("the road from Home to BOS is closed", {"event": "road_closed", "from": "Home", "to": "BOS"}),
    ],
)
async def test_what_happens_is_understood_in_plain_words(service: Service, words: str, event: dict[str, object]) -> None:
    saga = await day_of(service)
    told = service.pages["reunion"].disruption_in(words, saga)
    assert told is not None
    assert {**told.request["events"][-1], **event} == told.request["events"][-1]


async def test_what_is_no_news_is_taken_for_a_wish(service: Service) -> None:
    saga = await day_of(service)
    for words in ("Dinner at 7 pm", "Sarah cooks", "make it 4 stars"):
        assert service.pages["reunion"].disruption_in(words, saga) is None


def with_alternatives(saga: Saga) -> Saga:
    """One ends earlier, and somebody waits for it; in the other nobody fetches Grandma."""
    plan = saga.plan.content["plan"]
    *rest, last = sorted(plan["actions"], key=lambda act: act["end"])
    hurried = [*({**act, "start": "11:00", "end": "12:00"} for act in rest), {**last, "start": "13:00", "end": "13:30"}]
    offered = [
        {"plan": {**saga.plan.content, "plan": {**plan, "actions": acts}}, "plan_hash": name, "cost": {}, "reasons": ()}
        for name, acts in (("hurried", hurried), ("short", rest))
    ]
    return structs.replace(saga, plan=structs.replace(saga.plan, alternatives=tuple(offered)))


@pytest.mark.parametrize(
    ("words", "meant", "said"),
    [
        ("make it cheaper", "short", "less driving. Against the one before: "),
        ("I want less driving, please", "short", "less driving. Against the one before: "),
        ("can we be home sooner?", "hurried", "an earlier end. Against the one before: "),
        ("is there a fairer one?", "short", "minutes more evenly"),
    ],
)
async def test_what_is_preferred_is_chosen_by_figures_and_what_it_costs_is_said(
    service: Service, words: str, meant: str | None, said: str
) -> None:
    saga = with_alternatives(await day_of(service))
    found = await service.pages["reunion"].preferred(words, saga)
    assert found is not None
    assert found.plan_hash == meant
    assert said in found.said


async def test_the_best_that_there_is_is_said_to_be_that(service: Service) -> None:
    saga = with_alternatives(await day_of(service))
    found = await service.pages["reunion"].preferred("less waiting, please", saga)
    assert found is not None
    assert found.plan_hash is None
    assert "this one has the least waiting" in found.said
    alone = structs.replace(saga, plan=structs.replace(saga.plan, alternatives=()))
    found = await service.pages["reunion"].preferred("less waiting, please", alone)
    assert found is not None
    assert (found.plan_hash, found.said[:22]) == (None, "There is no other plan")


async def test_a_preference_that_comes_with_a_wish_is_no_choice_among_plans(service: Service) -> None:
    saga = with_alternatives(await day_of(service))
    assert await service.pages["reunion"].preferred("make it cheaper, nobody should wait alone", saga) is None
    chat = Chat(service)
    shown = await chat.say(TRIP)
    assert shown.saga is not None
    travel = service.pages["travel"]
    for words in ("make it cheaper", "a nicer hotel, please", "can it be faster?"):
        assert await travel.preferred(words, shown.saga) is not None
    for words in (
        "a nicer hotel, please, and not on a Monday",
        "cheaper, but 5 star hotels",
        "add Porto for 2 nights and make it cheaper",
    ):
        assert await travel.preferred(words, shown.saga) is None


async def test_a_change_that_cannot_be_had_leaves_the_plan_that_stood(service: Service) -> None:
    chat = Chat(service)
    shown = await chat.say(TRIP)
    refused = await chat.say("at most $50")
    assert "Your plan stays as it was." in last_said(refused)
    assert (status(refused), plan_hash(refused)) == ("awaiting_approval", plan_hash(shown))
    assert wishes(refused)["budget"] == wishes(shown)["budget"]
    assert status(await chat.say("book it")) == "committed"


async def test_an_open_question_comes_before_an_approval(service: Service) -> None:
    chat = Chat(service)
    shown = await chat.say(TRIP)
    asking = await chat.say("and Porto as well")
    assert last_said(asking).startswith("How many nights")
    assert shown_messages(asking.conversation, asking.shown, asking.page)[-1].text == last_said(asking)
    refused = await chat.say("book it")
    assert last_said(refused).startswith("First, because the plan does not keep all that you have said: How many nights")
    assert (status(refused), plan_hash(refused)) == ("awaiting_approval", plan_hash(shown))
    withdrawn = await chat.say("never mind")
    assert last_said(withdrawn) == "Then everything stays as it was."
    assert (status(withdrawn), wishes(withdrawn).get("stops[1]")) == ("awaiting_approval", None)
    assert status(await chat.say("ok, book it")) == "committed"


async def test_a_question_that_the_board_answers_is_asked_once(service: Service) -> None:
    chat = Chat(service)
    await chat.say("From Boston to Lisbon for 5 nights in May 2025, for 4 people")
    for words in ("the two kids are 7 and 11", "yes, 2 of them are children", "can we fly in the morning?"):
        scene = await chat.say(words)
    asked = [
        each.text for each in scene.conversation.messages if "How many of you travel" in each.text and each.role == "assistant"
    ]
    assert len(asked) <= 1, asked
    assert not scene.conversation.draft.questions


async def test_a_question_about_news_can_be_answered(service: Service) -> None:
    chat = Chat(service, "reunion")
    await told_day(chat)
    assert last_said(await chat.say("James is late")) == "Until when is James delayed?"
    answered = await chat.say("2 pm")
    assert answered.saga is not None
    assert answered.saga.request["events"] == [{"at": "13:00", "event": "delayed", "person": "James", "from": "14:00"}]
    assert "Known at 13:00: James is delayed until 14:00." in [each.text for each in answered.conversation.messages]
    assert last_said(await chat.say("there is an accident")).startswith("Where is that")
    assert last_said(await chat.say("The weather is nice")).startswith("I did not understand: The weather is nice. ")
    assert last_said(await chat.say("2 pm")).startswith("I did not understand")


async def test_a_reunion_that_was_told_is_not_thrown_away_for_one_that_has_a_name(service: Service) -> None:
    chat = Chat(service, "reunion")
    scene = await chat.say("Dinner at 6 pm at home. Sarah is at home")
    assert "begin a new plan" in last_said(await chat.say("wedding"))
    assert wishes(await chat.look()) == wishes(scene)


async def test_what_names_a_time_or_a_person_is_no_choice_among_plans(service: Service) -> None:
    saga = with_alternatives(await day_of(service))
    for words in ("Dinner earlier, at 5 pm", "James comes earlier", "Emily should not wait alone", "the weather is nice"):
        assert await service.pages["reunion"].preferred(words, saga) is None


_days: dict[int, Saga] = {}


async def day_of(service: Service) -> Saga:
    if id(service) not in _days:
        scene = await Chat(service, "reunion").say(DAY)
        assert scene.saga is not None
        _days[id(service)] = scene.saga
    return _days[id(service)]


async def test_every_disruption_that_is_offered_can_be_told_to_the_saga(service: Service) -> None:
    saga = await day_of(service)
    offered = service.pages["reunion"].disruptions(saga)
    assert len(offered) >= 3
    for each in offered:
        assert await service.pages["reunion"].checked(each.request) == each.request
    told = [wish.text for each in offered for wish in service.pages["reunion"].happened(each.request)]
    assert len(told) == len(offered)  # a plan waits, so the day cannot be over
    assert "Known at 13:00: everything at BOS airport takes 3 times as long" in told


@pytest.mark.parametrize(
    ("domain", "text"),
    [
        ("recipes", "we make cobbler and pancakes"),
        ("reunion", "Dinner is at 6 pm at home. Ann is at home. Paul drives from Boston, which is 90 minutes from home."),
    ],
)
async def test_what_belongs_to_another_page_is_begun_there_and_need_not_be_said_again(
    service: Service, domain: str, text: str
) -> None:
    chat = Chat(service)
    await chat.say("to Rome")
    scene = await chat.say(text)
    assert (scene.conversation.domain, scene.waits) == (domain, True)
    assert f"I take that for “{scene.page.title}”." in all_said(scene)
    chat.conversations.open(chat.visitor, "travel")
    assert [each["city"] for each in (await chat.look()).conversation.draft.partial["stops"]] == ["Rome"]


async def test_a_long_talk_is_kept_within_bounds() -> None:
    conversation = Conversation("travel")
    for number in range(500):
        conversation = conversation.heard(str(number))
    assert len(conversation.messages) == 200
    assert conversation.messages[-1].text == "499"


async def test_what_is_foreseen_stands_in_the_status_of_the_plan_that_it_strains(service: Service) -> None:
    chat = Chat(service, "reunion")
    saga_id = await service.begin(chat.visitor, "reunion", request(problem=PROBLEM))
    await service.decide(chat.visitor, saga_id, plan_hash(await chat.quiet()) or "", approved=True)
    before = await chat.quiet()
    assert before.foreseen == ()
    await service.foresee(chat.visitor, saga_id, {**LATE, "at": "11:15", "from": "12:10"})
    judged = await service.foreseen(saga_id)
    assert before.saga is not None
    (told,) = grave(judged, before.saga.plan.version)
    assert told.startswith("violation: Bob arrives 10 late, with room for 0")
    assert f"Foreseen: {told}." in cards.status_card(before.saga, foreseen=(told,))
    repaired = await chat.quiet()
    assert (status(repaired), repaired.foreseen) == ("awaiting_approval", (told,))
    await service.decide(chat.visitor, saga_id, plan_hash(repaired) or "", approved=True)
    assert (await chat.quiet()).foreseen == ()
