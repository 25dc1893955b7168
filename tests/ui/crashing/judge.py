"""What must hold once the last server is quiet: between what visitors were told, the journals, and the books outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sagagraph.domains.reunion.actions.outbox import Outbox
from sagagraph.saga.stores.urls import open_store
from tests.ui.crashing.visitor import NAMED_BUDGETS, Person, Told

AT_REST: Final = frozenset({"awaiting_approval", "committed", "compensated", "rejected", "infeasible", "held", "stuck"})

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Family:
    """A saga as its owner is shown it at the end, and the journals of it and of those that change or undo it."""

    standing: Row
    journals: dict[str, list[Row]]

    @property
    def saga_id(self) -> str:
        return str(self.standing["saga_id"])

    @property
    def status(self) -> str:
        return str(self.standing["status"])

    def events(self, *types: str) -> list[Row]:
        """The data of all events of these types, of the whole family."""
        entries = [each for journal in self.journals.values() for each in journal]
        return [each["data"] for each in entries if each["type"] in types]


@dataclass(frozen=True, slots=True)
class Books:
    """Of the reservation service and of the outbox, for every family."""

    ledger: Row
    outbox: list[Row]

    @classmethod
    async def read(cls, ledger: Row, store_url: str, families: Iterable[Family]) -> Books:
        store = await open_store(store_url)
        try:
            outbox = Outbox(store, Path(), lambda: datetime.now(UTC))
            found = [each for family in families for saga_id in family.journals for each in await outbox.messages(saga_id)]
        finally:
            await store.close()
        return cls(ledger, [asdict(each) for each in found])

    def of(self, family: Family, table: str) -> list[Row]:
        rows = self.outbox if table == "outbox" else self.ledger[table]
        return [each for each in rows if each["saga_id"] in family.journals]


def judge(person: Person, families: list[Family], books: Books) -> list[str]:
    by_id = {saga_id: family for family in families for saga_id in family.journals}
    faults: list[str] = []
    for each in person.told:
        why = _broken(each, by_id[each.saga_id]) if each.saga_id in by_id else "the saga is lost"
        faults += [f"{_named(each)}: {why}"] if why else []
    for family in families:
        found = [*_approvals(person, family), *_repeated(family, books), *_standing(person, family, books)]
        faults += [f"{family.saga_id} ({family.status}): {each}" for each in found]
    return faults


def _named(told: Told) -> str:
    killed = ", and the server was killed then" if told.killed_after else ""
    return f"{told.act} {told.what} of {told.saga_id} was answered with 202{killed}"


# -- what was told ---------------------------------------------------------------------------------------------------------


def _broken(told: Told, family: Family) -> str:
    """Why it is not so; empty where it is."""
    match told.act:
        case "approve" | "reject":
            kind = "PlanApproved" if told.act == "approve" else "PlanRejected"
            is_kept = any(each["plan_hash"] == told.what for each in family.events(kind))
        case "choose":
            is_kept = any(each["plan_hash"] == told.what for each in family.events("PlanProposed"))
        case "change":
            is_kept = _budget_is_known(family, int(told.what))
        case "happen" if family.standing["domain"] == "travel":
            is_kept = any(told.what in each["request"]["lost"] for each in family.events("AmendmentBegun"))
        case "happen":
            is_kept = bool(family.events("RequestChanged"))
        case "cancel":
            is_kept = bool(family.events("CancelRequested", "RequestRefused", "PlanFoundInfeasible", "PlanRejected"))
        case "resolve":
            is_kept = any(each["operation"] == told.what for each in family.events("OperationResolved"))
        case _:
            is_kept = True
    return "" if is_kept else "no journal knows of it"


def _budget_is_known(family: Family, budget: int) -> bool:
    wishes = [each["request"] for each in family.events("RequestChanged")]
    wishes += [each["request"]["request"] for each in family.events("AmendmentBegun")]
    return any(float(each.get("budget") or 0) == budget for each in wishes) and budget >= NAMED_BUDGETS


def _approvals(person: Person, family: Family) -> Iterator[str]:
    """Of plans that were shown to them, by themselves, and each asked for before."""
    for saga_id, journal in family.journals.items():
        asked = ""
        for each in journal:
            data = each["data"]
            if each["type"] == "ApprovalAsked":
                asked = data["plan_hash"]
            elif each["type"] == "PlanApproved":
                if data["plan_hash"] != asked:
                    yield f"{saga_id}: plan {data['plan_hash']} was approved, and {asked or 'none'} was asked about"
                asked = ""
                is_own = data["by"] == person.visitor.name and (family.saga_id, data["plan_hash"]) in person.tried
                if not is_own and not data["by"].startswith("nobody new"):
                    yield f"{saga_id}: plan {data['plan_hash']} was approved by {data['by']}, who never did that"


# -- what stands outside ---------------------------------------------------------------------------------------------------


def _repeated(family: Family, books: Books) -> Iterator[str]:
    """What must never stand in the books."""
    for table, name in (("reservations", "operation_id"), ("cancellations", "reservation_id"), ("refunds", "payment_id")):
        for what, times in Counter(each[name] for each in books.of(family, table)).items():
            if times > 1:
                yield f"{times} {table} of {what}"
    for what, times in Counter((each["operation_id"], each["saga_id"]) for each in books.of(family, "payments")).items():
        if times > 1:
            yield f"{what} was paid {times} times"
    for who, times in Counter(each["person"] for each in _invitations(family, books)).items():
        if times > 1:
            yield f"{who} has {times} invitations that hold"


def _standing(person: Person, family: Family, books: Books) -> Iterator[str]:
    reserved = books.of(family, "reservations")
    confirmed = [each for each in reserved if each["state"] == "confirmed"]
    captured = [each for each in books.of(family, "payments") if each["state"] == "captured"]
    if unplanned := [each["operation_id"] for each in reserved if not _is_approved(each, family)]:
        yield f"{unplanned} were reserved, and no approved plan has them at that price"
    if family.status in ("held", "stuck"):
        return
    if family.standing["domain"] == "reunion":
        yield from _parts(family, books)
    elif family.status == "committed":
        yield from _as_planned(person, family, confirmed, captured)
    elif family.status not in AT_REST:
        yield "it did not come to rest"
    elif not _is_under_way(family) and (confirmed or captured):
        yield f"{len(confirmed)} reservations and {len(captured)} payments stand"


def _is_under_way(family: Family) -> bool:
    """It has booked something, and waits for another plan to be approved."""
    return family.status == "awaiting_approval" and (family.standing["plan_version"] or family.standing["amendment"])


def _is_approved(reservation: Row, family: Family) -> bool:
    approved = {each["plan_hash"] for each in family.events("PlanApproved")}
    plans = [each["plan"] for each in family.events("PlanProposed") if each["plan_hash"] in approved]
    legs = {(leg["label"], leg["offer"]["kind"], float(leg["offer"]["price"])) for plan in plans for leg in plan["legs"]}
    return (reservation["operation_id"], reservation["kind"], float(reservation["price"])) in legs


def _as_planned(person: Person, family: Family, confirmed: list[Row], captured: list[Row]) -> Iterator[str]:
    """The plan that holds is booked, whole, and paid once; but for what the provider took away and nobody has replaced."""
    plans = [each["plan"] for each in family.events("PlanProposed") if each["plan_hash"] == _accepted_hash(family)]
    planned = {leg["label"] for leg in plans[-1]["legs"]} if plans else set()
    there = {each["operation_id"] for each in confirmed}
    taken = {operation for saga_id, operation in person.withdrawn if saga_id == family.saga_id}
    if there - planned or planned - there - taken:
        yield f"{sorted(planned)} are planned, and {sorted(there)} confirmed"
    if len(captured) != 1:
        yield f"{len(captured)} payments are captured"


def _accepted_hash(family: Family) -> str:
    """Of the plan of the last version of the saga itself: accepted there, or brought in by an amendment."""
    shown = ""
    held = ""
    for each in family.journals[family.saga_id]:
        if each["type"] == "PlanProposed":
            shown = each["data"]["plan_hash"]
        elif each["type"] == "PlanAccepted":
            held = shown
        elif each["type"] == "SagaAmended":
            held = each["data"]["plan_hash"]
    return held


def _parts(family: Family, books: Books) -> Iterator[str]:
    hold = [each["person"] for each in _invitations(family, books)]
    if family.status in ("compensated", "rejected", "infeasible") and hold:
        yield f"{hold} have invitations that hold"
    if family.status == "running" and not hold:
        yield "nobody was told their part"
    if family.status not in AT_REST | {"running"}:
        yield "it did not come to rest"


def _invitations(family: Family, books: Books) -> list[Row]:
    """That hold."""
    withdrawn = {each["withdraws"] for each in books.of(family, "outbox")}
    return [each for each in books.of(family, "outbox") if each["kind"] == "invitation" and each["key"] not in withdrawn]
