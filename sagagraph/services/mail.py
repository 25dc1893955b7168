"""Mail over SMTP. Nothing takes a mail back: it is retriable, so it goes out only after the pivot. What an invitation puts into a
calendar can be taken out of it again, by mail.

A mail is the server's from the moment at which it has acknowledged the end of DATA (RFC 5321, section 6.1). If that answer is
lost, nobody can ask whether it was accepted: the operation is held, and says so, unless the account promises to drop what arrives
twice with one Message-ID.
"""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel

from sagagraph.errors import InvalidInputError, ProviderError, Refused
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.calling.threads import in_thread
from sagagraph.services.contract.agreement import agree
from sagagraph.services.contract.line import Fault
from sagagraph.services.event import Event, Method, is_cancelled, read, written
from sagagraph.services.maildir import mails_about
from sagagraph.services.service import FOREVER, POLICY, Account, Now, Opened, Trial, now_in_utc
from sagagraph.workflow.kind import ActionKind

_PORTS: Final = {"smtp": 25, "smtps": 465, "submission": 587}
_TIMEOUT_S: Final = 15.0


class Mail(BaseModel):
    to: tuple[str, ...]
    subject: str
    text: str
    calendar: str = ""
    """An iTIP message (RFC 5546), sent as iMIP (RFC 6047): its METHOD says whether it invites, updates or cancels."""


class Invitation(BaseModel):
    """Invitation of one person to an event, as mail that calendars understand (iMIP, RFC 6047)."""

    to: str
    event: Event
    text: str


class Sent(BaseModel):
    message_id: str
    sent_at: datetime


class Mailer:
    """Mailer of one account. It blocks: its action is a plain function, which gets a thread of its own."""

    def __init__(self, account: Account, now: Now) -> None:
        parts = urlsplit(account.url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise InvalidInputError("smtp://HOST:PORT, smtps://HOST or submission://USER@HOST", field="--url")
        self._account, self.now = account, now
        self._scheme, self._host, self._port = parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]
        self.sender = str(account.options.get("sender") or account.user)
        if "@" not in self.sender:
            raise InvalidInputError("say who sends: --option sender=ADDRESS", field="sender")
        self.identity = f"mail from {self.sender} by {account.identity}"

    def send(self, mail: Mail, key: str) -> Sent:
        """Send a mail with the Message-ID of `key`. Raises `Refused` if nothing was accepted, `ProviderError` if nobody knows."""
        written = self._written(mail, key)
        with self._session() as session:
            with _nothing_sent():
                session.ehlo_or_helo_if_needed()
                _expect(session.mail(self.sender), 250)
                for each in mail.to:
                    _expect(session.rcpt(each), 250, 251)
                _expect(session.docmd("DATA"), 354)
            self._hand_over(session, written)
        return Sent(message_id=str(written["Message-ID"]), sent_at=self.now())

    def _hand_over(self, session: smtplib.SMTP, written: EmailMessage) -> None:
        """Send the content. From its last line until the answer, the mail may be accepted without our knowing."""
        content = written.as_bytes(policy=policy.SMTP)
        quoted = b"\r\n".join(b"." + line if line.startswith(b".") else line for line in content.rstrip(b"\r\n").split(b"\r\n"))
        try:
            session.send(quoted + b"\r\n.\r\n")
            answer = session.getreply()
        except (OSError, smtplib.SMTPException) as exc:
            raise ProviderError(f"{_LOST} (Message-ID {written['Message-ID']})") from exc
        if answer[0] == -1:
            raise ProviderError(f"{_LOST} (Message-ID {written['Message-ID']})")
        _expect(answer, 250)

    @contextmanager
    def _session(self) -> Iterator[smtplib.SMTP]:
        with _nothing_sent():
            session = self._connected()
        try:
            yield session
            with suppress(OSError, smtplib.SMTPException):
                session.quit()
        finally:
            session.close()

    def _connected(self) -> smtplib.SMTP:
        if self._scheme == "smtps":
            tls = ssl.create_default_context()
            session: smtplib.SMTP = smtplib.SMTP_SSL(self._host, self._port, timeout=_TIMEOUT_S, context=tls)
        else:
            session = smtplib.SMTP(self._host, self._port, timeout=_TIMEOUT_S)
        if self._scheme == "submission":
            session.starttls(context=ssl.create_default_context())
        if self._account.secret:
            session.login(self._account.user, self._account.secret)
        return session

    def _written(self, mail: Mail, key: str) -> EmailMessage:
        written = EmailMessage(policy=policy.SMTP)
        written["From"] = Address(addr_spec=self.sender)
        written["To"] = ", ".join(mail.to)
        written["Subject"] = mail.subject
        written["Date"] = format_datetime(self.now().astimezone(UTC))
        written["Message-ID"] = message_id(key, self.sender)
        written.set_content(mail.text)
        if mail.calendar:
            method = next(line[7:] for line in mail.calendar.splitlines() if line.startswith("METHOD:"))
            written.add_alternative(mail.calendar, subtype="calendar", params={"method": method})
        return written


_LOST: Final = "the mail was handed over, and the answer was lost: it may have been sent, and no server can be asked"


def message_id(key: str, sender: str) -> str:
    """Return the Message-ID of the mail with this key: the same for every attempt."""
    return f"<{sha256(key.encode()).hexdigest()[:32]}@{sender.rpartition('@')[2]}>"


@contextmanager
def _nothing_sent() -> Iterator[None]:
    """Refuse whatever fails before the content was sent. Nothing of the login is repeated: it contains a password."""
    try:
        yield
    except smtplib.SMTPAuthenticationError as exc:
        raise Refused(f"the mail server refuses the login ({exc.smtp_code})", code="unauthenticated") from None
    except (OSError, smtplib.SMTPException) as exc:
        raise Refused(f"the mail server could not be told: {type(exc).__name__}", code="not_sent", transient=True) from None


def _expect(answer: tuple[int, bytes], *codes: int) -> None:
    code, said = answer
    if code not in codes:
        words = said.decode(errors="replace")
        raise Refused(f"the mail server says {code} {words}", code=f"smtp_{code}", transient=not 500 <= code < 600)


def mail_action(mailer: Mailer, drops_duplicates: timedelta | None = None) -> Action:
    """Return `send_mail`. `drops_duplicates`: for how long the recipients' server drops a second mail with one Message-ID."""

    def send_mail(request: Mail, call: Call) -> Sent:
        return mailer.send(request, call.idempotency_key)

    return action(
        send_mail,
        kind=ActionKind.RETRIABLE,
        policy=POLICY,
        guarantees=Guarantees(dedup=drops_duplicates),
        provider=mailer.identity,
    )


def invite_action(mailer: Mailer) -> Action:
    """Return `invite`. A mail that was lost, or may have been, is sent again: a calendar has one event for each UID, and does not
    go back to a lower SEQUENCE (RFC 5546, section 2.1.5). So a cancellation also holds against an invitation that comes later.
    """

    def invite(request: Invitation, call: Call) -> Sent:
        event = _between(request, mailer.sender)
        calendar = written(event, call.idempotency_key, mailer.now(), method=Method.REQUEST)
        mail = Mail(to=(request.to,), subject=event.summary, text=request.text, calendar=calendar)
        return mailer.send(mail, call.idempotency_key)

    def cancel(request: Invitation, _sent: Sent, call: Call) -> Sent:
        return void(request, call)

    def void(request: Invitation, call: Call) -> Sent:
        event = _between(request, mailer.sender)
        calendar = written(event, call.operation_key, mailer.now(), sequence=1, is_cancelled=True, method=Method.CANCEL)
        text = f"This no longer holds:\n{request.text}"
        mail = Mail(to=(request.to,), subject=f"Cancelled: {event.summary}", text=text, calendar=calendar)
        return mailer.send(mail, f"{call.operation_key}/cancelled")

    return action(
        invite,
        compensate=cancel,
        policy=POLICY,
        guarantees=Guarantees(dedup=FOREVER, void=void),
        provider=mailer.identity,
    )


def _between(invitation: Invitation, sender: str) -> Event:
    return invitation.event.model_copy(update={"organizer": sender, "attendee": invitation.to})


# -- the service -----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def open_account(account: Account) -> AsyncIterator[Opened]:
    days = account.options.get("drops_duplicates_days")
    drops = timedelta(days=float(days)) if days else None
    mailer = Mailer(account, now_in_utc)
    sending, inviting = mail_action(mailer, drops), invite_action(mailer)
    yield Opened((sending, inviting), trial_of(account, sending, inviting))


def trial_of(account: Account, sending: Action, inviting: Action) -> Trial:
    to = str(account.options.get("to") or account.options.get("sender") or account.user)

    async def book(saga: BodySaga, name: str) -> None:
        event = Event(summary=name, begins=_SAMPLE, ends=_SAMPLE + timedelta(hours=1))
        await saga.run(inviting, Invitation(to=to, event=event, text="This is a trial of SagaGraph's contract."))

    async def finish(saga: BodySaga, name: str) -> None:
        await saga.run(agree, name)
        await saga.run(sending, Mail(to=(to,), subject=name, text="This is a trial of SagaGraph's contract."))

    async def standing(name: str) -> dict[str, int]:
        return await in_thread(_arrived, account.ledger, name)

    return Trial(
        standing if account.ledger else None,
        done={"mails": 1, "events": 1},
        undone={"mails": 0, "events": 0},
        book=book,
        finish=finish,
        can_be_cancelled=False,
        may_hold=frozenset() if sending.guarantees.dedup else frozenset({Fault.LOST, Fault.LATE, Fault.DOWN, Fault.CUT}),
    )


def _arrived(folder: str, name: str) -> dict[str, int]:
    """Count what is in a Maildir: mails, and the events of a calendar that has heard them."""
    found = mails_about(folder, name)
    mails = [each for each in found if each["Subject"] == name and not each.is_multipart()]
    said = [read(part.get_payload(decode=True).decode()) for each in found for part in each.walk() if _is_calendar(part)]
    events: dict[str, Any] = {}
    for each in sorted((each for each in said if each and each["summary"] == name), key=_sequence):
        events[str(each["uid"])] = each
    return {"mails": len(mails), "events": len([each for each in events.values() if not is_cancelled(each)])}


def _sequence(event: Any) -> int:
    return int(event["sequence"])


def _is_calendar(part: Any) -> bool:
    return bool(part.get_content_type() == "text/calendar")


_SAMPLE: Final = datetime(2030, 1, 1, 12, tzinfo=UTC)
