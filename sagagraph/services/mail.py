"""Mail over SMTP. Nothing takes a mail back: it is retriable, so it goes out only after the pivot.

A mail is the server's from the moment at which it has acknowledged the end of DATA (RFC 5321, section 6.1). If that answer is
lost, nobody can ask whether it was accepted: the operation is held, and says so, unless the account promises to drop what arrives
twice with one Message-ID.
"""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from hashlib import sha256
from mailbox import Maildir
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel

from sagagraph.errors import InvalidInputError, ProviderError, Refused
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.threads import in_thread
from sagagraph.services.contract.agreement import agree
from sagagraph.services.contract.line import Fault
from sagagraph.services.service import POLICY, Account, Opened, Trial
from sagagraph.workflow.kind import ActionKind

_PORTS: Final = {"smtp": 25, "smtps": 465, "submission": 587}
_TIMEOUT_S: Final = 15.0
Now = Callable[[], datetime]


class Mail(BaseModel):
    to: tuple[str, ...]
    subject: str
    text: str
    calendar: str = ""
    """An iTIP message (RFC 5546), sent as iMIP (RFC 6047): its METHOD says whether it invites, updates or cancels."""


class Sent(BaseModel):
    message_id: str
    sent_at: datetime


class Mailer:
    """Mailer of one account. It blocks: its action is a plain function, which gets a thread of its own."""

    def __init__(self, account: Account, now: Now) -> None:
        parts = urlsplit(account.url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise InvalidInputError("smtp://HOST:PORT, smtps://HOST or submission://USER@HOST", field="--url")
        self._account, self._now = account, now
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
        return Sent(message_id=str(written["Message-ID"]), sent_at=self._now())

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
        tls = ssl.create_default_context()
        if self._scheme == "smtps":
            session: smtplib.SMTP = smtplib.SMTP_SSL(self._host, self._port, timeout=_TIMEOUT_S, context=tls)
        else:
            session = smtplib.SMTP(self._host, self._port, timeout=_TIMEOUT_S)
        if self._scheme == "submission":
            session.starttls(context=tls)
        if self._account.secret:
            session.login(self._account.user, self._account.secret)
        return session

    def _written(self, mail: Mail, key: str) -> EmailMessage:
        written = EmailMessage(policy=policy.SMTP)
        written["From"] = Address(addr_spec=self.sender)
        written["To"] = ", ".join(mail.to)
        written["Subject"] = mail.subject
        written["Date"] = format_datetime(self._now().astimezone(UTC))
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


# -- the service -----------------------------------------------------------------------------------------------------


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def open_account(account: Account) -> AsyncIterator[Opened]:
    days = account.options.get("drops_duplicates_days")
    drops = timedelta(days=float(days)) if days else None
    sending = mail_action(Mailer(account, _now), drops)
    yield Opened((sending,), trial_of(account, sending))


def trial_of(account: Account, sending: Action) -> Trial:
    to = str(account.options.get("to") or account.options.get("sender") or account.user)

    async def finish(saga: BodySaga, name: str) -> None:
        await saga.run(agree, name)
        await saga.run(sending, Mail(to=(to,), subject=name, text="This is a trial of SagaGraph's contract."))

    async def standing(name: str) -> int:
        return await in_thread(_arrived, account.ledger, name)

    return Trial(
        standing if account.ledger else None,
        done=1,
        undone=0,
        finish=finish,
        can_be_cancelled=False,
        may_hold=frozenset() if sending.guarantees.dedup else frozenset({Fault.LOST, Fault.LATE, Fault.DOWN, Fault.CUT}),
    )


def _arrived(folder: str, subject: str) -> int:
    """Count the mails in a Maildir, those with one Message-ID once: its reader is shown them once."""
    found: Any = Maildir(folder, create=False)
    return len([each for each in found if each["Subject"] == subject])
