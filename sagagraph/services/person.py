"""Person: somebody is asked something by a one-time link, and answers, refuses, or lets it expire.

While somebody thinks, nothing is kept busy: the operation is in doubt, and its probe asks to be left alone for an hour at a time.
An answer has the saga looked at at once. What was asked and what came of it are documents of the store, each written once: so an
answer, a refusal, an expiry and a withdrawal exclude each other. Of a link only a hash is stored.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from msgspec.structs import replace
from pydantic import AwareDatetime, BaseModel, Field

from sagagraph.errors import BusyError, InvalidInputError, ProviderError, Refused, UnknownSagaError
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.call import Probe
from sagagraph.saga.engine.calling.threads import in_thread
from sagagraph.saga.stores.port import Document, SagaStore
from sagagraph.saga.stores.urls import open_store
from sagagraph.services.mail import Mail, Mailer
from sagagraph.services.maildir import mails_about
from sagagraph.services.service import FOREVER, POLICY, Account, Now, Opened, Trial, now_in_utc

_TASK, _TOLD, _OUTCOME, _WITHDRAWN = "person.task", "person.told", "person.outcome", "person.withdrawn"
_LINK: Final = "person.link"
_LOOKS_EVERY_S: Final = 3600.0
_TRIES: Final = 20
_BY_KEY: Final = "/"
"""Before a key: it is no link, and no path of the page has it."""
_POLICY: Final = replace(POLICY, unknown_probes=1_000_000)
"""A person may be asked about for longer than any service."""


class Said(StrEnum):
    ANSWERED = "answered"
    REFUSED = "refused"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class Task(BaseModel):
    to: str = ""
    """The address to which the link is mailed; whatever else says who it is, where your program hands links over itself."""
    subject: str
    text: str
    within_s: float = Field(default=7 * 86400.0, gt=0)


class Answer(BaseModel):
    text: str
    at: AwareDatetime


class Outcome(Answer):
    said: Said


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked under a key, and what came of it."""

    saga_id: str
    key: str
    task: Task
    until: datetime
    is_told: bool
    outcome: Outcome | None
    is_withdrawn: bool

    @property
    def said(self) -> Said | None:
        return None if self.outcome is None else self.outcome.said

    @property
    def is_open(self) -> bool:
        return self.is_told and self.outcome is None


class Tasks:
    """Tasks in a store, and the outcome of each: the first one that is written down counts."""

    def __init__(self, store: SagaStore, now: Now) -> None:
        self._store, self.now = store, now

    async def open(self, task: Task, call: Call) -> Asked:
        key, until = call.operation_key, self.now() + timedelta(seconds=task.within_s)
        await self._put(call.saga_id, _TASK, key, {"task": task.model_dump(mode="json"), "until": until.isoformat()})
        await self.lead(_BY_KEY + key, call.saga_id, key)
        return next(each for each in await self.of(call.saga_id) if each.key == key)

    async def lead(self, secret: str, saga_id: str, key: str) -> None:
        """Have a link, or the key, lead to it: the saga that undoes it is another one than the one that asked."""
        await self._put(owner_of(secret), _LINK, "of", {"saga": saga_id, "key": key})

    async def behind(self, secret: str) -> Asked | None:
        led = [each.data for each in await self._store.documents(owner_of(secret), _LINK)]
        found = await self.of(led[0]["saga"]) if led else ()
        return next((each for each in found if each.key == led[0]["key"]), None)

    async def of(self, saga_id: str) -> tuple[Asked, ...]:
        """Return what was asked for a saga. What nobody has answered in time is expired from now on."""
        rows: dict[str, dict[str, Any]] = {}
        for each in await self._store.documents(saga_id, _TASK, _TOLD, _OUTCOME, _WITHDRAWN):
            rows.setdefault(each.key, {})[each.kind] = each.data
        return tuple([await self._asked(saga_id, key, said) for key, said in rows.items() if _TASK in said])

    async def _asked(self, saga_id: str, key: str, said: dict[str, Any]) -> Asked:
        until, task = datetime.fromisoformat(said[_TASK]["until"]), Task.model_validate(said[_TASK]["task"])
        outcome = Outcome.model_validate(said[_OUTCOME]) if _OUTCOME in said else None
        if outcome is None and self.now() >= until:
            outcome, _is_new = await self._end(saga_id, key, Said.EXPIRED)
        return Asked(saga_id, key, task, until, _TOLD in said, outcome, _WITHDRAWN in said)

    async def end(self, asked: Asked, said: Said, text: str) -> None:
        """Write down an outcome, unless there is one, and have the saga looked at."""
        _outcome, is_new = await self._end(asked.saga_id, asked.key, said, text)
        for _again in range(_TRIES if is_new else 0):  # if it is busy that long, it is looked at when its pause is over
            with suppress(BusyError, UnknownSagaError):
                await self._store.release(await self._store.take(asked.saga_id, owner="a person's answer", ttl_s=1.0))
                await self._store.wake(asked.saga_id)
                break
            await asyncio.sleep(0.05)

    async def told(self, asked: Asked) -> None:
        await self._put(asked.saga_id, _TOLD, asked.key, None)

    async def withdraw(self, saga_id: str, key: str) -> None:
        """End it for good, whether or not it was asked: a call that comes later finds it withdrawn."""
        await self._end(saga_id, key, Said.WITHDRAWN)
        await self._put(saga_id, _WITHDRAWN, key, None)

    async def _end(self, saga_id: str, key: str, said: Said, text: str = "") -> tuple[Outcome, bool]:
        mine = Outcome(said=said, text=text, at=self.now())
        kept = Outcome.model_validate(await self._put(saga_id, _OUTCOME, key, mine.model_dump(mode="json")))
        return kept, kept == mine

    async def _put(self, saga_id: str, kind: str, key: str, data: Any) -> Any:
        return (await self._store.put(Document(saga_id, kind, key, data))).data


def owner_of(secret: str) -> str:
    """Return under which name the store keeps what a link leads to: its hash, and never itself."""
    return f"person {sha256(secret.encode()).hexdigest()}"


HandOver = Callable[[Task, str, str, str], Awaitable[object]]
"""Hands somebody a subject and a text, by a key that names this message. `Refused` if it did not."""


def ask_action(
    tasks: Tasks,
    page: str,
    hand_over: HandOver,
    *,
    looks_every_s: float = _LOOKS_EVERY_S,
    new_link: Callable[[], str] = secrets.token_urlsafe,
) -> Action:
    """Return `ask`. `page`: the address below which `task_route` is served. `looks_every_s`: how long a saga is left alone before
    its answer is looked for again. `new_link` returns what cannot be guessed.
    """

    async def ask(request: Task, call: Call) -> Answer:
        asked = await tasks.open(request, call)
        if asked.outcome is None and not asked.is_told:
            link, when = new_link(), f"{asked.until:%-d %B %Y %H:%M} UTC"
            await tasks.lead(link, asked.saga_id, asked.key)
            text = f"{request.text}\n\nAnswer here, once, until {when}:\n{page.rstrip('/')}/task/{link}"
            try:
                await hand_over(request, request.subject, text, asked.key)
            except Refused as exc:
                if not exc.transient:
                    await tasks.withdraw(asked.saga_id, asked.key)
                raise
            await tasks.told(asked)
        if (outcome := asked.outcome) is None:
            raise _waiting(asked, tasks.now(), looks_every_s)
        if outcome.said is Said.ANSWERED:
            return Answer(text=outcome.text, at=outcome.at)
        raise Refused(f"{outcome.said}: {outcome.text or request.subject}", code=f"person_{outcome.said}")

    async def find(_request: Task, call: Call) -> Probe:
        asked = await tasks.behind(_BY_KEY + call.operation_key)
        if asked is None or asked.is_withdrawn:
            return Probe.undone() if asked else Probe.absent()
        if asked.is_open:
            raise _waiting(asked, tasks.now(), looks_every_s)
        answered = asked.outcome if asked.said is Said.ANSWERED else None
        return Probe.landed(Answer(text=answered.text, at=answered.at)) if answered else Probe.absent()

    async def void(request: Task, call: Call) -> None:
        asked = await tasks.behind(_BY_KEY + call.operation_key)
        await tasks.withdraw(call.saga_id if asked is None else asked.saga_id, call.operation_key)
        if asked is not None and (asked.is_told or asked.said is Said.ANSWERED):
            text = f"This is not needed any more:\n{request.text}"
            await hand_over(request, f"Withdrawn: {request.subject}", text, f"{asked.key}/withdrawn")

    async def withdraw(request: Task, _answer: Answer, call: Call) -> None:
        await void(request, call)

    return action(
        ask,
        compensate=withdraw,
        probe=find,
        policy=_POLICY,
        guarantees=Guarantees(dedup=FOREVER, void=void, refusals_final=True),
        provider=f"people, by {page}",
    )


def _waiting(asked: Asked, now: datetime, looks_every_s: float) -> ProviderError:
    after_s = min(looks_every_s, (asked.until - now).total_seconds())
    return ProviderError(f"{asked.task.to or 'somebody'} is asked: {asked.task.subject}", retry_after_s=after_s)


def mailing(mailer: Mailer) -> HandOver:
    async def hand_over(task: Task, subject: str, text: str, key: str) -> None:
        await in_thread(mailer.send, Mail(to=(task.to,), subject=subject, text=text), key)

    return hand_over


# -- the service -----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def open_account(account: Account) -> AsyncIterator[Opened]:
    """`url`: the mail server. Options: `page`, `sender`, `looks_every_s`, and `store`, where the app looks for tasks."""
    options = account.options
    hand_over = mailing(Mailer(account, now_in_utc))
    store = await open_store(str(options.get("store", "memory:")))
    tasks, every_s = Tasks(store, now_in_utc), float(options.get("looks_every_s", _LOOKS_EVERY_S))
    try:
        asking = ask_action(tasks, str(options.get("page", "https://tasks.invalid")), hand_over, looks_every_s=every_s)
        yield Opened((asking,), trial_of(account, tasks, asking))
    finally:
        await store.close()


def trial_of(account: Account, tasks: Tasks, asking: Action) -> Trial:
    """Try it with somebody who reads the mails in the ledger, and answers."""
    to = str(account.options.get("to") or account.options.get("sender", ""))

    async def book(saga: BodySaga, name: str) -> None:
        somebody = asyncio.create_task(answers(name))
        try:
            await saga.run(asking, Task(to=to, subject=name, text="This is a trial of SagaGraph's contract."))
        finally:
            somebody.cancel()

    async def answers(name: str) -> None:
        while True:
            for link in await in_thread(_mailed, account.ledger, name):
                if (asked := await tasks.behind(link)) is not None and asked.outcome is None:
                    await tasks.end(asked, Said.ANSWERED, "yes")
            await asyncio.sleep(0.05)

    async def standing(name: str) -> dict[str, int]:
        if not account.ledger:
            raise InvalidInputError("name the Maildir in which the mails arrive: somebody has to read them", field="--ledger")
        found = [each for each in await tasks.of(name) if not each.is_withdrawn]
        return {"answered": sum(each.said is Said.ANSWERED for each in found), "open": sum(each.is_open for each in found)}

    return Trial(standing, done={"answered": 1, "open": 0}, undone={"answered": 0, "open": 0}, book=book)


def _mailed(folder: str, name: str) -> list[str]:
    texts = (each.get_payload(decode=True).decode() for each in mails_about(folder, name))
    return [link[1] for text in texts if (link := re.search(r"/task/(\S+)", text))]
