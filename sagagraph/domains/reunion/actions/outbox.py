"""Outbox: messages to people awaiting delivery, kept in the store alongside their sagas, and a calendar file of each.

The message is what counts; it is stored before its file, and if its file is missing, that is written again. Every effect is
keyed: repeated, it changes nothing; voided, it is refused for good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from sagagraph.errors import Refused, RetiredError
from sagagraph.files import file_name, write_whole
from sagagraph.saga.stores.port import Document, Documents

_MESSAGE, _WITHDRAWAL, _VOIDED, _CLOCK = "reunion.message", "reunion.withdrawal", "reunion.voided", "reunion.clock"
"""Kinds of documents. A message is kept under its own key, and a withdrawal under the key of what it takes back."""
_EARLIER: Final = "messages.db"
"""Where release 0.2.0 kept messages."""


class MessageKind(StrEnum):
    INVITATION = "invitation"
    WITHDRAWAL = "withdrawal"
    """Withdraws the invitation whose key is in `withdraws`."""
    END = "end"
    """The day is over: the outbox now records what happened."""


@dataclass(frozen=True, slots=True)
class Message:
    """Message. `created_at` is ISO 8601; `calendar` is the content of the file, empty if there is none."""

    key: str
    kind: str
    saga_id: str
    operation_id: str
    person: str
    uid: str
    sequence: int
    text: str
    calendar: str
    created_at: str
    withdraws: str | None = None


Draft = Callable[[datetime], Message]
"""Function that makes a message with the time at which it is first posted."""
ReadTable = Callable[[Path, str], list[dict[str, Any]]]
"""Function that reads the rows of a table in a database file; it blocks."""


class Outbox:
    """Outbox of messages. Calendar files are in `folder`, created at the first post; `now` stamps new messages.

    Any number of processes may use it. What release 0.2.0 left in the folder is read with `rows_in`, and imported into the store
    at the first use.
    """

    def __init__(self, kept: Documents, folder: Path, now: Callable[[], datetime], rows_in: ReadTable | None = None) -> None:
        self.folder = folder
        self._kept = kept
        self._now = now
        self._rows_in = rows_in

    # -- effects, each of which may be repeated ----------------------------------------------------------------------

    async def post(self, saga_id: str, key: str, draft: Draft) -> Message:
        """Post a message and return the one that is under `key` afterwards. Raises `Refused` for a voided key."""
        if any(each.key == key for each in await self._documents(saga_id, _VOIDED)):
            raise _refused(key)
        posted = await self._kept.put(Document(saga_id, _MESSAGE, key, asdict(draft(self._now()))))
        if posted.data is None:
            raise _refused(key)
        return self._with_file(posted)

    async def withdraw(self, saga_id: str, posted: str, draft: Draft) -> Message:
        """Withdraw what was posted under `posted`, once, however often this is requested."""
        await self._bring_in()
        return self._with_file(await self._kept.put(Document(saga_id, _WITHDRAWAL, posted, asdict(draft(self._now())))))

    async def void(self, saga_id: str, key: str, draft: Callable[[Message], Draft]) -> Message | None:
        """Refuse `key` from now on; what had landed under it is withdrawn and returned.

        If nothing had landed, a tombstone takes the place of a message, so that none can land later.
        """
        await self._bring_in()
        landed = await self._kept.put(Document(saga_id, _MESSAGE, key, None))
        await self._kept.put(Document(saga_id, _VOIDED, key, None))
        return None if landed.data is None else await self.withdraw(saga_id, key, draft(_message(landed)))

    async def advance(self, saga_id: str, moment: int) -> None:
        """Advance the clock of a day; it never goes back."""
        await self._kept.put(Document(saga_id, _CLOCK, str(moment), moment))

    # -- reads -------------------------------------------------------------------------------------------------------

    async def find(self, saga_id: str, key: str) -> Message | None:
        return _under(key, await self._documents(saga_id, _MESSAGE))

    async def withdrawal_of(self, saga_id: str, key: str) -> Message | None:
        return _under(key, await self._documents(saga_id, _WITHDRAWAL))

    async def messages(self, saga_id: str) -> tuple[Message, ...]:
        """Return all messages of a saga, in the order of posting."""
        found = await self._documents(saga_id, _MESSAGE, _WITHDRAWAL)
        return tuple(_message(each) for each in found if each.data is not None)

    async def clock(self, saga_id: str) -> int | None:
        return max((each.data for each in await self._documents(saga_id, _CLOCK)), default=None)

    async def _documents(self, saga_id: str, *kinds: str) -> tuple[Document, ...]:
        await self._bring_in()
        return await self._kept.documents(saga_id, *kinds)

    # -- files -------------------------------------------------------------------------------------------------------

    def file_of(self, message: Message) -> Path:
        name = f"{message.operation_id}{'' if message.sequence == 0 else '.cancel'}"
        return self.folder / file_name(message.saga_id) / f"{file_name(name)}.ics"

    def write_file(self, message: Message) -> None:
        path = self.file_of(message)
        if message.calendar and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, message.calendar.encode())

    def _with_file(self, document: Document) -> Message:
        message = _message(document)
        self.write_file(message)
        return message

    # -- what release 0.2.0 left -------------------------------------------------------------------------------------

    async def _bring_in(self) -> None:
        """Import the messages of release 0.2.0. Safe to repeat, and in several processes at once. The file is kept, renamed."""
        earlier = self.folder / _EARLIER
        if self._rows_in is None or not earlier.exists():
            return
        for each in await asyncio.to_thread(_documents_in, earlier, self._rows_in):
            with suppress(RetiredError):
                await self._kept.put(each)
        with suppress(FileNotFoundError):  # another process was faster
            earlier.replace(earlier.with_name(f"{_EARLIER}.imported"))


def _documents_in(earlier: Path, rows_in: ReadTable) -> list[Document]:
    messages, clocks = rows_in(earlier, "message"), rows_in(earlier, "clock")
    saga_of = {each["key"]: each["saga_id"] for each in messages}
    found = [_earlier_message(each) for each in messages]
    for row in rows_in(earlier, "voided"):
        saga_id = saga_of.get(row["key"], unquote(row["key"].partition("/")[0]))
        found += [Document(saga_id, _MESSAGE, row["key"], None), Document(saga_id, _VOIDED, row["key"], None)]
    return found + [Document(each["saga_id"], _CLOCK, str(each["moment"]), each["moment"]) for each in clocks]


def _earlier_message(row: dict[str, Any]) -> Document:
    if row["withdraws"] is None:
        return Document(row["saga_id"], _MESSAGE, row["key"], row)
    return Document(row["saga_id"], _WITHDRAWAL, row["withdraws"], row)


def _message(document: Document) -> Message:
    return Message(**document.data)


def _under(key: str, documents: Iterable[Document]) -> Message | None:
    return next((_message(each) for each in documents if each.key == key and each.data is not None), None)


def _refused(key: str) -> Refused:
    return Refused(f"the key {key} was voided", code="voided")
