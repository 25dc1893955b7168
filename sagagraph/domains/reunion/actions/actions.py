"""Actions of a saga: tell people their parts of the day, withdraw them, and finally close the day (the pivot).

The outbox keeps the guarantees that are declared here: keys are remembered for good, and a voided key is refused for good
(docs/protocol.md rule 0).
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Final

from pydantic import BaseModel

from sagagraph.domains.reunion.actions.calendar import invitation_ics, message_text, part_text, withdrawal_ics
from sagagraph.domains.reunion.actions.outbox import Draft, Message, MessageKind, Outbox
from sagagraph.domains.reunion.parts import Part
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.call import Probe
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.policy import Backoff, CompensationPolicy, Policy, Retry

ASSIGN: Final = "assign"
CLOSE: Final = "close_day"
POLICY: Final = Policy(
    retry=Retry(max_attempts=40),
    backoff=Backoff(base_s=0.1, cap_s=5.0, jitter=0.5),
    timeout_s=30.0,
    compensation=CompensationPolicy(max_attempts=40, timeout_s=30.0),
    lock_wait_s=0.0,
)
"""A locked file is retried for minutes, because no day should fail for that. A car is kept for a day, and nobody waits for it."""
FOREVER: Final = timedelta(days=36500)
"""How long a table keeps its keys."""


class Invitation(BaseModel):
    uid: str
    key: str
    calendar: str
    """The file."""


class Withdrawal(BaseModel):
    uid: str | None
    """None: there was nothing to take back."""
    calendar: str | None


class Closing(BaseModel):
    reunion: str
    day: date


class Closed(BaseModel):
    reunion: str
    closed_at: datetime


STORE = "store"
"""The provider of messages: the database that holds the saga's own journal."""


def reunion_actions(outbox: Outbox) -> tuple[Action, ...]:
    return (_assign_action(outbox), _close_action(outbox))


def _assign_action(outbox: Outbox) -> Action:
    async def assign(request: Part, call: Call) -> Invitation:
        return _invitation(outbox, await outbox.post(call.saga_id, call.idempotency_key, partial(_invite, request, call)))

    async def withdraw(request: Part, invitation: Invitation, call: Call) -> Withdrawal:
        draft = _taking_back(request, invitation.uid, call)
        return _withdrawal(outbox, await outbox.withdraw(call.saga_id, call.operation_key, draft))

    async def find(_request: Part, call: Call) -> Probe:
        landed = await outbox.find(call.saga_id, call.operation_key)
        undone = await outbox.withdrawal_of(call.saga_id, call.operation_key)
        for each in (landed, undone):
            if each is not None:
                outbox.write_file(each)
        if undone is not None:
            return Probe.undone(_withdrawal(outbox, undone))
        return Probe.absent() if landed is None else Probe.landed(_invitation(outbox, landed))

    async def void(request: Part, call: Call) -> Withdrawal:
        taken_back = await outbox.void(call.saga_id, call.operation_key, lambda landed: _taking_back(request, landed.uid, call))
        return _withdrawal(outbox, taken_back) if taken_back else Withdrawal(uid=None, calendar=None)

    return action(
        assign,
        compensate=withdraw,
        probe=find,
        policy=POLICY,
        guarantees=Guarantees(dedup=FOREVER, void=void),
        provider=STORE,
        name=ASSIGN,
    )


def _close_action(outbox: Outbox) -> Action:
    """Make the action that closes the day. After it nothing is withdrawn: people have met."""

    async def close_day(request: Closing, call: Call) -> Closed:
        words = f"{request.reunion} on {request.day} is over"
        draft = partial(_message, call, kind=MessageKind.END, text=words)
        return _closed(request, await outbox.post(call.saga_id, call.idempotency_key, draft))

    async def find(request: Closing, call: Call) -> Probe:
        landed = await outbox.find(call.saga_id, call.operation_key)
        return Probe.absent() if landed is None else Probe.landed(_closed(request, landed))

    return action(
        close_day,
        kind=ActionKind.PIVOT,
        probe=find,
        policy=POLICY,
        guarantees=Guarantees(dedup=FOREVER),
        provider=STORE,
        name=CLOSE,
    )


def _message(call: Call, at: datetime, kind: MessageKind, text: str, **rest: Any) -> Message:
    plain = {"key": call.idempotency_key, "person": "", "uid": "", "sequence": 0, "calendar": ""}
    ids = {"saga_id": call.saga_id, "operation_id": call.operation_id}
    return Message(kind=kind, text=text, created_at=at.isoformat(), **{**plain, **ids, **rest})


def _invite(part: Part, call: Call, at: datetime) -> Message:
    uid = f"{call.idempotency_key}@sagagraph"
    calendar = invitation_ics(part, uid, sent=at).decode()
    return _message(call, at, MessageKind.INVITATION, message_text(part), person=part.who, uid=uid, calendar=calendar)


def _taking_back(part: Part, uid: str, call: Call) -> Draft:
    return lambda at: _message(
        call,
        at,
        MessageKind.WITHDRAWAL,
        f"{part.who}, what you were told of {part.reunion} on {part.day} no longer holds:\n{part_text(part)}",
        key=f"{call.operation_key}/withdrawn",
        person=part.who,
        uid=uid,
        sequence=1,
        calendar=withdrawal_ics(part, uid, sent=at).decode(),
        withdraws=call.operation_key,
    )


def _invitation(outbox: Outbox, message: Message) -> Invitation:
    return Invitation(uid=message.uid, key=message.key, calendar=str(outbox.file_of(message)))


def _withdrawal(outbox: Outbox, message: Message) -> Withdrawal:
    return Withdrawal(uid=message.uid, calendar=str(outbox.file_of(message)))


def _closed(closing: Closing, message: Message) -> Closed:
    return Closed(reunion=closing.reunion, closed_at=datetime.fromisoformat(message.created_at))
