"""Delivery: what people are told is also sent to them, by mail or into their calendars, where the settings say so."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sagagraph.domains.reunion.actions.calendar import message_text, part_text, span_of
from sagagraph.domains.reunion.day import Sending
from sagagraph.domains.reunion.parts import Part
from sagagraph.saga.engine.actions import Action
from sagagraph.services.event import Event
from sagagraph.services.mail import Invitation, Mailer, invite_action
from sagagraph.services.service import Account, now_in_utc
from sagagraph.workflow.operation import OperationSpec

if TYPE_CHECKING:
    from sagagraph.domains.reunion.request import Name, ReunionProblem
    from sagagraph.settings import Settings

INVITE: Final = "invite"
PUT_EVENT: Final = "put_event"


@dataclass(frozen=True)
class Delivery:
    """Delivery by these actions of services; without any, nothing is sent. `calendars`: person → path of the calendar."""

    actions: tuple[Action, ...] = ()
    calendars: Mapping[str, str] = field(default_factory=dict)

    def sent(self, problem: ReunionProblem) -> dict[Name, Sending]:
        """Return who of these people is sent something, and where to."""
        has_mail = any(each.name == INVITE for each in self.actions)
        found = {
            each.name: Sending(mail=(each.mail or "") if has_mail else "", calendar=self.calendars.get(each.name, ""))
            for each in problem.people
        }
        return {name: each for name, each in found.items() if each != Sending()}


@asynccontextmanager
async def open_delivery(settings: Settings) -> AsyncIterator[Delivery]:
    """Open the accounts of the settings. From a practice world, which has no reservation service of its own, nothing is sent."""
    async with AsyncExitStack() as stack:
        actions: list[Action] = []
        mail, calendars = (settings.mail, settings.calendars) if settings.provider_url else (None, None)
        if mail is not None:
            account = Account.of(mail.url, mail.secret.revealed(), options={"sender": mail.sender})
            actions.append(invite_action(Mailer(account, now_in_utc)))
        if calendars is not None:
            from sagagraph.services.caldav import Calendars, calendar_actions

            opened = Calendars(Account.of(calendars.url, calendars.secret.revealed()))
            stack.push_async_callback(opened.close)
            actions.append(calendar_actions(opened)[0])
        yield Delivery(tuple(actions), {} if calendars is None else calendars.of)


def sending_specs(part: Part, to: Sending, actions: Mapping[str, Action], suffix: str, after: str) -> Iterator[OperationSpec]:
    """Yield how one part is sent, `after` the operation that puts it into the outbox."""
    begins, ends = span_of(part)
    where, what = part.steps[0].place, part_text(part)
    event = Event(summary=part.reunion, begins=begins, ends=ends, location=where, description=what)
    if to.mail:
        invitation = Invitation(to=to.mail, event=event, text=message_text(part))
        yield actions[INVITE].spec(f"mail {part.who}{suffix}", invitation, [after])
    if to.calendar:
        request = {"event": event.model_dump(mode="json"), "calendar": to.calendar}
        yield actions[PUT_EVENT].spec(f"calendar {part.who}{suffix}", request, [after])
