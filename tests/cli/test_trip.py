"""`trip`, `approve` and `reject`: from a sentence to five reservations, or to none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sagagraph.sandbox.server import EmbeddedSandbox
from tests.cli.commands import BOOKINGS, CommandLine, ended, spawned
from tests.cli.conftest import OpenService
from tests.cli.contract import Plans, Saga

SENTENCE = (
    "San Francisco to Berlin (4 nights) and Cologne (2 nights) and back, leaving on 2025-06-04, budget $5,000,"
    " 3-4 star hotels, direct flights when possible"
)


def saga_in(document: Any) -> Saga:
    return Saga.model_validate(document)


def test_a_trip_is_booked_as_a_sentence_says(command: CommandLine) -> None:
    told = command("trip", SENTENCE, "--yes", "--json")
    saga = saga_in(told.json)
    assert (told.code, saga.status, told.err) == (0, "committed", "")
    assert [each.id for each in saga.operations] == ["check", *BOOKINGS, "payment", "itinerary"]
    assert {each.status for each in saga.operations} == {"succeeded"}
    assert [each.action for each in saga.operations][1:6] == [
        "book_flight", "book_hotel", "book_train", "book_hotel", "book_flight",
    ]  # fmt: skip
    assert saga.operations[1].idempotency_key == f"{saga.saga_id}/T1/1"
    assert 0 < saga.cost.total <= 5000
    ledger = command.ledger()
    assert (ledger.standing, ledger.repeated) == ((5, 1), [])
    assert [row["amount"] for row in ledger.rows["payments"]] == [saga.cost.total]


def test_the_itinerary_is_sent(command: CommandLine) -> None:
    command.trip("sent", "--yes")
    outbox = command.store_file.with_name("saga.db.outbox") / "sent"
    assert (outbox / "itinerary.ics").read_text().startswith("BEGIN:VCALENDAR")
    assert "Berlin" in (outbox / "itinerary.txt").read_text()


def test_what_was_not_understood_is_named(command: CommandLine) -> None:
    told = command("trip", f"{SENTENCE}, with a pool", "--plan-only", "--json")
    assert (told.code, told.err.strip()) == (0, "not understood: pool")


def test_a_budget_in_another_currency_is_booked_in_the_one_of_the_offers(command: CommandLine) -> None:
    told = command("trip", SENTENCE.replace("$5,000", "€5,000"), "--saga-id", "euros", "--yes", "--json")
    saga = saga_in(told.json)
    assert (saga.status, saga.cost.currency) == ("committed", "USD")
    written = (command.store_file.with_name("saga.db.outbox") / "euros" / "itinerary.txt").read_text()
    assert " EUR by the rate of 28 February 2025 (European Central Bank" in written


def test_people_are_told_what_happens_and_how_it_ended(command: CommandLine) -> None:
    told = command("trip", "--request", command.request_file(), "--saga-id", "told", "--yes")
    understood, plan, *_, outcome = told.out.splitlines()
    assert (told.code, told.err) == (0, "")
    assert understood.startswith("understood: from San Francisco; 4 nights in Berlin;")
    assert "$5,000" in understood
    assert plan.startswith("plan 1 (")
    assert "USD" in plan
    assert outcome.startswith("saga told: committed")


def test_the_journal_is_told_as_it_grows_to_whoever_asks_for_it(command: CommandLine) -> None:
    told = command("trip", "--request", command.request_file(), "--saga-id", "told", "--yes", "--verbose")
    assert told.out.splitlines()[-1].startswith("saga told: committed")
    assert "AttemptStarted operation=T1" in told.err
    assert "Traceback" not in told.err


def test_a_trip_is_booked_at_a_service_that_runs_elsewhere(command: CommandLine, service: EmbeddedSandbox) -> None:
    command.provider = service.url
    assert command.trip("far", "--yes")["status"] == "committed"
    assert command.ledger().standing == (5, 1)
    assert not command.store_file.with_name("saga.db.sandbox").exists()


def test_the_clock_of_the_service_inside_the_command_is_set_to_the_day_that_is_said(
    command: CommandLine, service: EmbeddedSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SAGAGRAPH_TODAY")
    past = command("trip", SENTENCE, "--plan-only", "--json")
    assert past.complaint.endswith("4 June 2025 is in the past.")
    assert command("trip", SENTENCE, "--today", "2025-03-01", "--plan-only", "--json").json["plans"]
    elsewhere = command("trip", SENTENCE, "--today", "2025-03-01", "--plan-only", "--provider", service.url)
    assert (elsewhere.code, elsewhere.complaint.partition(":")[0]) == (2, "--today")


def test_settings_come_from_the_environment_and_options_go_before_them(
    command: CommandLine, service: EmbeddedSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAGAGRAPH_STORE", command.store)
    monkeypatch.setenv("SAGAGRAPH_PROVIDER_URL", service.url)
    told = command.bare("trip", "--request", str(command.request_file()), "--saga-id", "env", "--yes", "--json")
    assert (told.code, told.json["status"]) == (0, "committed")
    assert command.bare("status", "env").code == 0
    elsewhere = command.folder / "elsewhere.db"
    told = command.bare("status", "env", "--store", f"sqlite:///{elsewhere}")
    assert (told.code, told.complaint.startswith(f"there is no store sqlite:///{elsewhere}: ")) == (2, True)
    told = command.bare("cancel", "env", "--provider", "http://127.0.0.1:9")
    assert told.code == 3


def test_a_store_in_memory_is_enough_for_one_trip(command: CommandLine) -> None:
    told = command("trip", "--request", command.request_file(), "--store", "memory:", "--yes", "--json")
    assert (told.code, told.json["status"]) == (0, "committed")


def test_plans_are_shown_and_nothing_is_begun(command: CommandLine) -> None:
    told = command("trip", "--request", command.request_file(), "--plan-only", "--json")
    assert told.code == 0
    plans = Plans.model_validate(told.json).plans
    assert len(plans) > 1
    assert len({each.plan_hash for each in plans}) == len(plans)
    assert all(0 < each.cost.total <= 5000 and each.reasons for each in plans)
    assert command("status", "--json").code == 2, "not even a store"
    assert command.ledger().landed == 0
    assert command.trip("later")["plan_hash"] == plans[0].plan_hash


def test_plans_are_shown_to_people(command: CommandLine) -> None:
    told = command("trip", "--request", command.request_file(), "--plan-only")
    assert told.code == 0
    assert told.out.startswith("plan 1 (")
    assert "San Francisco to Berlin" in told.out


def test_without_a_terminal_a_trip_waits_for_approval(command: CommandLine) -> None:
    told = command("trip", "--request", command.request_file(), "--saga-id", "waits", "--json")
    saga = saga_in(told.json)
    assert (told.code, saga.status, saga.plan_version, saga.operations) == (0, "awaiting_approval", 0, [])
    assert saga.plan_hash
    assert 0 < saga.cost.total <= 5000
    assert command.ledger().landed == 0
    assert command("resume", "waits", "--json").json == told.json
    assert command("trip", "--saga-id", "waits", "--json").json == told.json


def test_approving_books_the_plan_that_is_shown(command: CommandLine) -> None:
    shown = command.trip("shown")
    told = command("approve", "shown", "--plan", shown["plan_hash"], "--json")
    saga = saga_in(told.json)
    assert (told.code, saga.status, saga.plan_hash) == (0, "committed", shown["plan_hash"])
    assert saga.cost.total == shown["cost"]["total"]
    assert command.ledger().standing == (5, 1)
    approvals = [each["data"] for each in command.journal("shown") if each["type"] == "PlanApproved"]
    assert approvals == [{"plan_hash": shown["plan_hash"], "by": "command line", "request": None}]


def test_approving_twice_books_once(command: CommandLine) -> None:
    command.trip("once")
    first = command("approve", "once", "--json")
    second = command("approve", "once", "--json")
    assert (first.code, second.code) == (0, 0)
    assert second.json == first.json
    ledger = command.ledger()
    assert (ledger.landed, ledger.standing) == (6, (5, 1))


@pytest.mark.parametrize("word", ["approve", "reject"])
def test_deciding_about_another_plan_changes_nothing(command: CommandLine, word: str) -> None:
    shown = command.trip("shown")
    before = [each["type"] for each in command.journal("shown")]
    told = command(word, "shown", "--plan", "0123456789abcdef")
    assert told.code == 2
    assert f"shows plan {shown['plan_hash']}, not 0123456789abcdef" in told.complaint
    assert command("status", "shown", "--json").json == shown
    assert [each["type"] for each in command.journal("shown") if each["type"] != "LeaseTaken"] == before
    assert command.ledger().landed == 0


@pytest.mark.parametrize(("word", "status"), [("approve", "committed"), ("reject", "rejected")])
def test_a_wrong_decision_does_not_stand_in_the_way_of_the_right_one(command: CommandLine, word: str, status: str) -> None:
    shown = command.trip("shown")
    assert command("approve", "shown", "--plan", "0123456789abcdef").code == 2
    told = command(word, "shown", "--plan", shown["plan_hash"], "--json")
    assert (told.code, told.json["status"]) == (0, status)


def test_approving_another_plan_after_the_fact_is_a_conflict(command: CommandLine) -> None:
    command.trip("done", "--yes")
    told = command("approve", "done", "--plan", "0123456789abcdef")
    assert (told.code, "not 0123456789abcdef" in told.complaint) == (2, True)


def test_a_rejected_plan_is_never_booked(command: CommandLine) -> None:
    command.trip("no")
    told = command("reject", "no", "--json")
    saga = saga_in(told.json)
    assert (told.code, saga.status, saga.operations, saga.cost.total) == (0, "rejected", [], 0)
    assert command("reject", "no").code == 0
    approved = command("approve", "no")
    assert approved.code == 2
    assert approved.complaint == "saga 'no' is rejected, not awaiting_approval"
    assert command("resume", "no", "--json").json["status"] == "rejected"
    assert command("trip", "--saga-id", "no", "--yes", "--json").json["status"] == "rejected"
    assert command.ledger().landed == 0


@pytest.mark.parametrize("word", ["approve", "reject"])
def test_a_finished_trip_cannot_be_decided_about(command: CommandLine, word: str) -> None:
    command.trip("gone")
    command("cancel", "gone")
    told = command(word, "gone")
    assert told.code == 2
    assert told.complaint == "saga 'gone' is compensated, not awaiting_approval"


def test_a_committed_trip_cannot_be_rejected(command: CommandLine) -> None:
    command.trip("done", "--yes")
    told = command("reject", "done")
    assert told.code == 2
    assert told.complaint == "saga 'done' is committed, not awaiting_approval"
    assert command.ledger().standing == (5, 1)


def test_the_same_id_again_prints_the_outcome_and_does_nothing(command: CommandLine) -> None:
    first = command.trip("same", "--yes")
    again = command("trip", "--request", command.request_file(), "--saga-id", "same", "--yes", "--json")
    assert (again.code, again.json) == (0, first)
    assert command("trip", "--saga-id", "same", "--json").json == first
    assert command.ledger().landed == 6


def test_the_same_id_again_resumes_what_waits(command: CommandLine) -> None:
    command.trip("same")
    assert command.trip("same", "--yes")["status"] == "committed"
    assert command.ledger().standing == (5, 1)


def test_a_booking_that_is_refused_costs_another_booking(command: CommandLine, open_service: OpenService) -> None:
    with open_service([{"kind": "hotel", "call": "book", "nth": 2, "fault": "refuse"}]) as service:
        command.provider = service.url
        words = ("trip", "--request", command.request_file(), "--saga-id", "mended", "--json")
        shown = command(*words).json
        again = command("approve", "mended", "--json")
        assert (again.code, again.json["status"], again.json["plan_version"]) == (0, "awaiting_approval", 1)
        assert again.json["plan_hash"] != shown["plan_hash"]
        waiting = command("status", "mended")
        assert "4 reservations of 4 kept" in waiting.out
        told = command("approve", "mended", "--plan", again.json["plan_hash"], "--json")
        saga = saga_in(told.json)
        assert (told.code, saga.status, told.json["plan_version"]) == (0, "committed", 2)
        replaced = next(each for each in saga.operations if each.status == "failed")
        assert f"{replaced.id}.2" in {each.id for each in saga.operations if each.status == "succeeded"}
        assert (command.ledger().standing, command.ledger().repeated) == ((5, 1), [])
        assert saga.cost.total == sum(row["amount"] for row in command.ledger().rows["payments"])


def test_a_repair_that_is_rejected_undoes_what_stands(command: CommandLine, open_service: OpenService) -> None:
    with open_service([{"kind": "hotel", "call": "book", "nth": 2, "fault": "refuse"}]) as service:
        command.provider = service.url
        command("trip", "--request", command.request_file(), "--saga-id", "no")
        assert command("approve", "no", "--json").json["status"] == "awaiting_approval"
        told = command("reject", "no", "--json")
        assert told.json["status"] == "compensated"
        assert "its repair was rejected by command line" in told.json["reason"]
        assert (command.ledger().standing, command.ledger().repeated) == ((0, 0), [])


def test_a_payment_that_is_refused_undoes_the_trip_and_says_why(command: CommandLine, open_service: OpenService) -> None:
    with open_service([{"kind": "payment", "call": "capture", "fault": "refuse"}]) as service:
        command.provider = service.url
        told = command("trip", "--request", command.request_file(), "--saga-id", "bad", "--yes", "--json")
        saga = saga_in(told.json)
        assert (told.code, saga.status) == (1, "compensated")
        refused = next(each for each in saga.operations if each.status == "failed")
        assert refused.id == "payment"
        assert refused.error["code"] == "refused"
        assert "payment" in told.json["reason"]
        assert saga.cost.total == 0
        assert saga.cost.fees == sum(row["fee"] for row in command.ledger().rows["cancellations"]) > 0
        assert any("cancellation fee" in each for each in saga.residue)
        assert (command.ledger().standing, command.ledger().repeated) == ((0, 0), [])
        assert command("resume", "bad").code == 1
        said = command("log", "bad")
        assert "fault=refused" in said.out


@pytest.mark.quick
def test_a_trip_in_a_process_of_its_own_prints_one_document(command: CommandLine) -> None:
    words = command.arguments("trip", "--request", command.request_file(), "--saga-id", "alone", "--yes", "--json")
    told = ended(spawned(*words))
    assert (told.code, told.err) == (0, "")
    assert saga_in(json.loads(told.out)).status == "committed"
    assert command("status", "alone", "--json").json == told.json


def test_a_wish_is_changed_while_the_plan_waits_for_approval(command: CommandLine, open_service: OpenService) -> None:
    with open_service() as service:
        command.provider = service.url
        before = command("trip", "--request", command.request_file(), "--saga-id", "other", "--json").json
        told = command("change", "other", "only 4 stars, please", "--json")
        assert (told.code, told.json["status"]) == (0, "awaiting_approval")
        assert told.json["plan_hash"] != before["plan_hash"]
        assert command("approve", "other", "--plan", before["plan_hash"]).code == 2
        assert command("approve", "other", "--json").json["status"] == "committed"
        assert command("cancel", "other").code == 0
        late = command("change", "other", "only 3 stars")
        assert (late.code, command.ledger().standing) == (2, (0, 0))
        assert "cannot be changed" in late.complaint


def test_a_wish_that_is_changed_half_way_keeps_what_fits_it(command: CommandLine, open_service: OpenService) -> None:
    with open_service([{"kind": "hotel", "call": "book", "nth": 2, "fault": "refuse"}]) as service:
        command.provider = service.url
        command("trip", "--request", command.request_file(), "--saga-id", "half")
        command("approve", "half")
        told = command("change", "half", "only 4 stars, please", "--yes", "--json")
        assert (told.code, told.json["status"]) == (0, "committed")
        saga = saga_in(told.json)
        flights = [each for each in saga.operations if each.action == "book_flight"]
        assert {each.status for each in flights} == {"succeeded"}
        assert len(flights) == 2
        assert (command.ledger().standing, command.ledger().repeated) == ((5, 1), [])


def test_a_wish_that_cannot_be_met_leaves_the_trip_as_it_was(command: CommandLine, open_service: OpenService) -> None:
    with open_service([{"kind": "hotel", "call": "book", "nth": 2, "fault": "refuse"}]) as service:
        command.provider = service.url
        command("trip", "--request", command.request_file(), "--saga-id", "poor")
        command("approve", "poor")
        shown = command("status", "poor", "--json").json["plan_hash"]
        told = command("change", "poor", "at most $700", "--yes", "--json")
        assert (told.json["status"], told.json["plan_hash"]) == ("awaiting_approval", shown)
        assert "budget" in told.json["reason"]
        assert command("approve", "poor", "--json").json["status"] == "committed"


@pytest.mark.parametrize("words", [(), ("TEXT", "--request", "x.json")])
def test_a_change_says_what_it_needs(command: CommandLine, words: tuple[str, ...]) -> None:
    command("trip", "--request", command.request_file(), "--saga-id", "what")
    told = command("change", "what", *words)
    assert told.code == 2
    assert "say what should change" in told.complaint
