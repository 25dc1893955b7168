"""Conversations: what was said on a page, and what follows from it. Plain text only, no markup."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Final, Literal
from weakref import WeakValueDictionary

from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.planning.page import NOTHING_KNOWN, Disruption, Draft, Page
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui.chat.narration import in_retrospect, narrate
from sagagraph.ui.progress import something_stands
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import Visitor

_MOST_KEPT: Final = 1000
_LONGEST_TALK: Final = 200
_YES: Final = re.compile(
    r"^\W*(?:yes|yep|ok(?:ay)?|approved?|book it|do it|go ahead|take it|looks good|ok(?:ay)?,? (?:book|fine))"
    r"(?:,? (?:please|book it|thanks?))*\W*$",
    re.IGNORECASE,
)
_NO: Final = re.compile(r"^\W*(?:no(?:,? thanks?| thank you)?|reject(?: it)?|forget it|never ?mind)\W*$", re.IGNORECASE)
_UNDO: Final = re.compile(
    r"^\W*(?:please )?(?:cancel|undo|call off)"
    r"(?: (?:it|that|this|everything|all|now|please|the (?:whole )?(?P<what>\w+)))*\W*$",
    re.IGNORECASE,
)
_WHOLES: Final = frozenset({"plan", "day", "thing"})
_JOINTS: Final = ("", "until", "by")
_OVER: Final = frozenset({SagaStatus.REJECTED, SagaStatus.INFEASIBLE, SagaStatus.COMPENSATED})


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    domain: str
    messages: tuple[Message, ...] = ()
    draft: Draft = NOTHING_KNOWN
    saga_id: str | None = None
    unfinished: str = ""
    """Text that left a question open: the next message may answer it."""

    def heard(self, text: str) -> Conversation:
        return self._with(Message("user", text))

    def answered(self, text: str) -> Conversation:
        return self._with(Message("assistant", text)) if text else self

    def _with(self, message: Message) -> Conversation:
        return replace(self, messages=(*self.messages, message)[-_LONGEST_TALK:])


class Conversations:
    """One conversation per visitor, for as long as the server runs; what must survive is in the journals."""

    def __init__(self, domain: str) -> None:
        self._domain = domain
        self._kept: OrderedDict[str, Conversation] = OrderedDict()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, visitor: Visitor) -> Conversation:
        return self._kept.get(visitor.tag) or Conversation(self._domain)

    def turn(self, visitor: Visitor) -> asyncio.Lock:
        """Held from `of` to `keep`: what one visitor says is processed in order, in however many windows."""
        return self._turns.setdefault(visitor.tag, asyncio.Lock())

    def knows(self, visitor: Visitor) -> bool:
        return visitor.tag in self._kept

    def keep(self, visitor: Visitor, conversation: Conversation) -> None:
        self._kept[visitor.tag] = conversation
        self._kept.move_to_end(visitor.tag)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)


def about(saga: Saga, page: Page) -> Conversation:
    """Restores a conversation from the journal alone."""
    said = Message("user", page.sentence(saga.request))
    return Conversation(page.name, (said,), page.draft_of(saga.request), saga.id)


class Talk:
    """One visitor's turn: what was said leads to a question, a plan, a change or a decision."""

    def __init__(self, service: Service, visitor: Visitor, conversation: Conversation, shown_hash: str | None) -> None:
        """`shown_hash` names the plan that the speaker's page shows: a `yes` approves that one."""
        self._service = service
        self._visitor = visitor
        self._page = service.pages[conversation.domain]
        self._shown_hash = shown_hash
        self.conversation = conversation

    async def say(self, text: str) -> Conversation:
        saga = await self._saga()
        if saga is not None:
            self._answer(in_retrospect(await self._service.shown(saga), self._page))
        self.conversation = self.conversation.heard(text)
        return await self._told_why_not(self._understand(text, saga))

    async def change(self, key: str, text: str | None) -> Conversation:
        """Rewords one request; None withdraws it."""
        return await self._told_why_not(self._change_wish(key, text))

    async def _told_why_not(self, turn: Coroutine[None, None, None]) -> Conversation:
        try:
            await turn
        except SagaGraphError as exc:
            self._answer(_words_of(exc))
        return self.conversation

    async def _understand(self, text: str, saga: Saga | None) -> None:
        if saga is None or not await self._settled(text, saga):
            await self._take(await self._page.read(text, self.conversation.draft.known), saga)

    async def _change_wish(self, key: str, text: str | None) -> None:
        await self._take(await self._page.changed(self.conversation.draft.known, key, text), await self._saga())

    async def _saga(self) -> Saga | None:
        saga_id = self.conversation.saga_id
        return None if saga_id is None else await self._service.saga(self._visitor, saga_id)

    def _answer(self, text: str) -> None:
        self.conversation = self.conversation.answered(text)

    async def _settled(self, text: str, saga: Saga) -> bool:
        """Whether the text was about the plan on offer, rather than about requests."""
        if self._is_to_undo(text):
            self._answer("Press “Cancel…” to see what that would undo, and what would remain.")
            return True
        if (news := self._news(text, saga)) is not None:
            await self._service.disrupt(self._visitor, saga.id, news)
            self._confirm(news, saga)
            return True
        if _NO.match(text) and self.conversation.draft.questions:
            self.conversation = replace(self.conversation, draft=self._page.draft_of(saga.request))
            self._answer("Then everything stays as it was.")
            return True
        shown = await self._service.shown(saga)
        if status_of(shown) is not SagaStatus.AWAITING_APPROVAL:
            return False
        if _YES.match(text) and self.conversation.draft.questions:
            self._answer(f"First, because the plan does not keep all that you have said: {self.conversation.draft.questions[0]}")
            return True
        if _NO.match(text) and something_stands(shown):
            self._answer("That would undo everything done so far: press “Cancel…” to see it, or say what should be different.")
            return True
        if _YES.match(text) or _NO.match(text):
            await self._service.decide(self._visitor, saga.id, self._shown_hash or "", approved=bool(_YES.match(text)))
            return True
        preference = await self._page.preferred(text, shown)
        if preference is None:
            return False
        self._answer(preference.said)
        if preference.plan_hash is not None:
            await self._service.choose(self._visitor, saga.id, preference.plan_hash)
        return True

    def _is_to_undo(self, text: str) -> bool:
        """Whether all of it is to be undone, and not a part."""
        found = _UNDO.match(text)
        return found is not None and (found["what"] or "plan").casefold() in {*_WHOLES, self._page.title.split()[-1].casefold()}

    def _news(self, text: str, saga: Saga) -> Disruption | None:
        """Reports the plan together with the answer; a question that stays open is remembered."""
        unfinished = self.conversation.unfinished
        self.conversation = replace(self.conversation, unfinished="")
        for answer in (f"{unfinished} {joint} {text}" for joint in _JOINTS if unfinished):
            with suppress(InvalidInputError):
                if (told := self._page.disruption_in(answer, saga)) is not None:
                    return told
        try:
            return self._page.disruption_in(text, saga)
        except InvalidInputError:
            self.conversation = replace(self.conversation, unfinished=text)
            raise

    def _confirm(self, news: Disruption, saga: Saga) -> None:
        """Says what was understood of it; anything else in the text was not."""
        known = len(self._page.happened(saga.request))
        for each in self._page.happened(news.request)[known:] if news.request is not None else ():
            self._answer(f"{each.text}.")

    async def _take(self, draft: Draft, saga: Saga | None) -> None:
        before = self.conversation.draft
        self.conversation = replace(self.conversation, draft=draft)
        for aside in draft.asides:
            self._answer(aside)
        if draft.not_understood:
            self._answer(f"I did not understand: {', '.join(draft.not_understood)}.")
        for remark in draft.remarks:
            if remark not in before.remarks:
                self._answer(remark)
        if draft.questions:
            self._answer(draft.questions[0])
        elif saga is None or status_of(saga) in _OVER:
            saga_id = await self._service.begin(self._visitor, self._page.name, draft.request)
            self.conversation = replace(self.conversation, saga_id=saga_id)
        elif (wanted := self._page.on_top(draft.request, saga)) != saga.request:
            await self._change(saga, wanted, before)
        elif not draft.not_understood:
            self._answer("That changes nothing.")

    async def _change(self, saga: Saga, wanted: Any, before: Draft) -> None:
        """Changes what is asked for; requests that come too late are not recorded as if they held."""
        try:
            await self._service.change(self._visitor, saga.id, wanted)
        except SagaGraphError:
            self.conversation = replace(self.conversation, draft=before)
            raise


def _words_of(exc: SagaGraphError) -> str:
    """The message in words for somebody in a chat, who knows no field names."""
    return str(exc).removeprefix(f"{exc.field}: ") if isinstance(exc, InvalidInputError) else str(exc)


def shown_messages(conversation: Conversation, saga: Saga | None, page: Page) -> tuple[Message, ...]:
    """The messages with the saga's current state added; an open question comes last."""
    if saga is None or (conversation.draft.questions and status_of(saga) is SagaStatus.AWAITING_APPROVAL):
        return conversation.messages
    return (*conversation.messages, Message("assistant", narrate(saga, page)))


def as_chat(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Escapes the text: Gradio's chat inserts it as HTML even where Markdown is switched off."""
    return [{"role": each.role, "content": escape(each.text, quote=False)} for each in messages]
