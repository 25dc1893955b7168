"""Turns: what every part of a visitor's turn needs, and how a draft that was understood is taken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final

from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.language.utterance.questions import Topic, must_be_settled, topic_of
from sagagraph.planning.background import nobody
from sagagraph.planning.models.quoting import quotes_in
from sagagraph.planning.page import NOTHING_KNOWN, Draft, Known
from sagagraph.saga.core.amendments import parent_of
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui.chat.conversation import Before, Conversation, Pending
from sagagraph.ui.differences import few, filled
from sagagraph.ui.service import CannotBeHadError, Service
from sagagraph.ui.visitors import Visitor

OVER: Final = frozenset({SagaStatus.REJECTED, SagaStatus.INFEASIBLE, SagaStatus.COMPENSATED})
_ASKED_AT_ONCE: Final = 3
_GRACE_S: Final = 1.0
"""After the time that a model has for one sentence, in which it can say itself that it took too long."""
NOTHING_CHANGED: Final = "Nothing is changed."


class Deed(StrEnum):
    """What was done about an utterance. Only the first seven can change anything, and only `APPROVED` books."""

    APPROVED = "approved"
    REPORTED = "reported"
    BEGAN = "began"
    CHANGED = "changed"
    CHOSE = "chose"
    REJECTED = "rejected"
    UNDONE = "undone"
    ANSWERED = "answered"
    COMPARED = "compared"
    ASKED = "asked"
    PREVIEWED = "previewed"
    KEPT = "kept"
    GREETED = "greeted"
    NOT_TAKEN = "not_taken"


class Turn:
    """One visitor's turn: the conversation so far, and what was done in it."""

    def __init__(
        self,
        service: Service,
        visitor: Visitor,
        conversation: Conversation,
        shown_hash: str | None,
        show: Callable[[Conversation], None] = nobody,
    ) -> None:
        """Begin a turn. `shown_hash` names the plan that the speaker's page shows: a `yes` approves that one. `show`: shows what
        the rules have read, as long as a model reads.
        """
        self._service = service
        self._visitor = visitor
        self._page = service.pages[conversation.domain]
        self._shown_hash = shown_hash
        self._pending: Pending | None = None
        self._is_filling = False
        self._show = show
        self._until = asyncio.get_running_loop().time() + service.settings.model_seconds + _GRACE_S
        self.conversation = conversation
        self.deeds: list[Deed] = []

    async def _saga(self) -> Saga | None:
        saga_id = self.conversation.saga_id
        return None if saga_id is None else await self._service.saga(self._visitor, saga_id)

    async def _hear(self, text: str, known: Known | None, *, is_shown: bool = False) -> Draft:
        """Read with the model, if there is one, for as long as this turn's time lasts; then by the rules."""
        page = self._page
        if page.model is not None and is_shown:
            with suppress(InvalidInputError):  # what only the model can read
                self._show(replace(self.conversation, draft=await page.read(text, known)))
        try:
            async with asyncio.timeout_at(self._until):
                return await page.hear(text, known)
        except TimeoutError:
            late = "The model could not be asked in time, so I went on without it."
            return replace(await page.read(text, known), asides=(late,))

    def _say(self, deed: Deed, text: str) -> None:
        self.deeds.append(deed)
        if (
            not self.conversation.messages or self.conversation.messages[-1].text != text
        ):  # what applies to both decisions is said once
            self.conversation = self.conversation.answered(text)

    def _add(self, text: str) -> None:
        self.conversation = self.conversation.answered(text)

    def _leave_out(self, saga: Saga) -> None:
        self.conversation = self.conversation.settled(self._page.draft_of(saga.request))

    async def _take(self, draft: Draft, saga: Saga | None) -> None:
        before = self.conversation.draft
        wanted = None if saga is None or draft.request is None else self._page.on_top(draft.request, saga)
        if saga is None and draft.questions and draft.known is not None:
            draft = await self._service.with_habits(self._visitor, self._page, draft)
        unsettled = tuple(each for each in draft.not_understood if must_be_settled(each))
        said = {} if self._is_filling else quotes_in(self.conversation.last_heard, self._page, before, draft)
        quotes = {**self.conversation.quotes, **said}
        earlier = (*self.conversation.earlier, *([before] if draft.known != before.known else [])) if draft.questions else ()
        self.conversation = replace(
            self.conversation, draft=draft, unsettled=unsettled, quotes=quotes, remedies=draft.remedies, earlier=earlier
        )
        for aside in draft.asides:
            self._add(aside)
        is_same = saga is not None and wanted == saga.request
        if draft.not_understood:
            self._say(Deed.NOT_TAKEN, self._not_understood(draft, is_all=is_same or draft.known == before.known))
        for remark in draft.remarks:
            if remark not in before.remarks:
                self._add(remark)
        if draft.questions and self._is_filling and saga is None:
            self.deeds.append(Deed.ASKED)
        elif draft.questions:
            is_stuck = saga is not None and draft.questions == before.questions
            heard = echo(before, draft) if saga is None and before is not NOTHING_KNOWN else ""
            heard = self._filled(before, draft, "Now") if self._is_filling else heard
            asked = f"{asking(draft)}{' (“Skip” leaves the plan as it is.)' if is_stuck else ''}"
            self._say(Deed.ASKED, f"{heard} {asked}".strip())
        elif saga is None or (status_of(saga) in OVER and not is_same):
            await self._begin(draft.request)
        elif status_of(saga) in OVER:
            self._say(Deed.NOT_TAKEN, "It is over, and that changes nothing: say “plan it again”, or what should be different.")
        elif draft.request == self._page.draft_of((await self._service.shown(saga)).request).request:
            self._say_same(draft)
        elif wanted != saga.request:
            await self._change(saga, wanted, before)
        else:
            self._say_same(draft)

    def _say_same(self, draft: Draft) -> None:
        if not draft.not_understood:
            told = "" if self._is_filling else f"I read nothing there that the plan does not have already. {self._page.hint}"
            self._say(Deed.NOT_TAKEN, told)

    def _not_understood(self, draft: Draft, *, is_all: bool) -> str:
        """Say what was not understood and, where nothing else was, what can be said instead."""
        words = ", ".join(draft.not_understood)
        if all(topic_of(each) is Topic.OUTSIDE for each in draft.not_understood):
            return f"I did not understand: {words}. {self._page.elsewhere}"
        return f"I did not understand: {words}.{f' {self._page.hint}' if is_all and not draft.questions else ''}"

    async def _begin(self, request: Any) -> None:
        left_out = self.conversation.draft.not_understood
        saga_id = await self._service.begin(self._visitor, self._page.name, request, not_understood=left_out)
        self.conversation = replace(self.conversation, saga_id=saga_id, before=None)
        self.deeds.append(Deed.BEGAN)

    async def _change(self, saga: Saga, wanted: Any, before: Draft) -> None:
        """Change what is asked for; requests that come too late are not recorded as if they held.

        A change of a booked plan that is still waiting for approval makes room for it.
        """
        was = self._page.draft_of(saga.request) if before.questions or before is NOTHING_KNOWN else before
        is_read_by_model = bool(self.conversation.draft.by)
        await self._take_back(saga)
        try:
            await self._service.change(self._visitor, saga.id, wanted)
        except CannotBeHadError as exc:
            self.conversation = replace(self.conversation, draft=was, unsettled=(), remedies=exc.remedies)
            if self._is_filling:
                raise
            self._say(Deed.NOT_TAKEN, f"{exc}.".removeprefix(f"{exc.field}: "))
            return
        except SagaGraphError:
            self.conversation = replace(self.conversation, draft=before, unsettled=())
            raise
        self._remember(saga)
        drafts = self._page.draft_of(saga.request), self._page.draft_of(wanted)
        is_booked = bool(saga.plan.version)
        said = "" if self._is_filling or is_booked or is_read_by_model else echo(*drafts)
        self._say(Deed.CHANGED, said or self._filled(*drafts, "Wanted" if is_booked else "Now"))

    def _filled(self, before: Draft, after: Draft, how: str) -> str:
        """Say which fields are different. `how`: of what is booked they are only wanted, until there is a plan for them."""
        told = few(list(filled(self._page.fields(before), self._page.fields(after))), "on the board")
        return f"{how}: {'; '.join(told)}." if told else ""

    async def _take_back(self, saga: Saga) -> bool:
        """Take back a change of a booked plan that waits for approval, if there is one."""
        shown = await self._service.shown(saga)
        if parent_of(shown.id) is None or status_of(shown) is not SagaStatus.AWAITING_APPROVAL:
            return False
        await self._service.decide(self._visitor, saga.id, shown.plan.hash or "", approved=False)
        since = self._service.rings
        while (await self._service.saga(self._visitor, saga.id)).amending is not None and self._service.is_busy(saga.id):
            await self._service.moved(saga.id, since)
            since = self._service.rings
        return True

    def _remember(self, saga: Saga) -> None:
        """Remember the plan that is shown now, to compare the next one with."""
        if saga.plan.content is not None:
            self.conversation = replace(self.conversation, before=Before(saga.plan.content, saga.plan.cost))


def asking(draft: Draft) -> str:
    """Return what is missing, several things at once; all of it is marked at its field, too."""
    return " ".join(dict.fromkeys(draft.questions[:_ASKED_AT_ONCE]))


def echo(before: Draft, after: Draft) -> str:
    """Say what is now the case and was not before, and vice versa."""
    old, new = {each.text for each in before.wishes}, {each.text for each in after.wishes}
    now = [each.text for each in after.wishes if each.text not in old]
    gone = [each.text for each in before.wishes if each.text not in new]
    said = [f"Now: {'; '.join(now)}."] if now else []
    said += [f"No longer: {'; '.join(gone)}."] if gone else []
    moved = [new.text for old, new in zip(before.wishes, after.wishes, strict=False) if old.text != new.text]
    return " ".join(said) or (f"Now in this order: {'; '.join(moved)}." if moved else "")
