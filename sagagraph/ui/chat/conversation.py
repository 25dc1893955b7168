"""Conversations: what was said on a page, and what is still open in it. Plain text only, no markup."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, Final, Literal
from weakref import WeakValueDictionary

from sagagraph.planning.fields import Refused
from sagagraph.planning.models.quoting import Quotes
from sagagraph.planning.page import NOTHING_KNOWN, Draft, Page
from sagagraph.planning.remedies import Remedy
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui.chat.narration import compared, in_retrospect, narrate
from sagagraph.ui.differences import dated
from sagagraph.ui.visitors import Visitor

_MOST_KEPT: Final = 1000
_LONGEST_TALK: Final = 200
_RECENT: Final = 12


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Pending:
    """Pending step that a plain yes would take, besides approving the plan: one of these."""

    news: str = ""
    """The key of a disruption that was reported, to be confirmed."""
    draft: Draft | None = None
    """A hypothetical, to be wished."""
    plan_hash: str = ""
    """The plan that somebody praised."""


@dataclass(frozen=True, slots=True)
class Before:
    """The plan, and its cost, that was shown before the last change."""

    plan: Any
    cost: Any
    is_told: bool = False
    """Whether the page has shown what differs."""


@dataclass(frozen=True, slots=True)
class Conversation:
    domain: str
    messages: tuple[Message, ...] = ()
    draft: Draft = NOTHING_KNOWN
    saga_id: str | None = None
    unfinished: str = ""
    """Text that left a question open: the next message may answer it."""
    pending: Pending | None = None
    unsettled: tuple[str, ...] = ()
    """What was not understood and may be a person, place, date or amount: the plan may not keep it."""
    remedies: tuple[Remedy, ...] = ()
    """What can be asked for instead of what this turn has refused."""
    refused: Refused = field(default_factory=dict)
    """What was typed in fields and cannot be."""
    filled: str = ""
    """The browser's own number of the last change of a field, by which it knows what is answered."""
    earlier: tuple[Draft, ...] = ()
    """What was known before each change that has left something open."""
    before: Before | None = None
    quotes: Quotes = field(default_factory=dict)
    """The words in which the fields of the request were said."""

    @property
    def is_open(self) -> bool:
        """Tell whether something has to be settled, or left out, before the plan covers everything that was said."""
        return bool(self.draft.questions or self.unsettled)

    def heard(self, text: str) -> Conversation:
        return self._with(Message("user", text))

    def answered(self, text: str) -> Conversation:
        return self._with(Message("assistant", text)) if text else self

    @property
    def last_heard(self) -> str:
        return next((each.text for each in reversed(self.messages) if each.role == "user"), "")

    def settled(self, draft: Draft) -> Conversation:
        """Return it with nothing open any more: `draft` is what applies."""
        return replace(self, draft=draft, unsettled=(), unfinished="", pending=None, earlier=(), remedies=())

    def _with(self, message: Message) -> Conversation:
        return replace(self, messages=(*self.messages, message)[-_LONGEST_TALK:])


class Conversations:
    """One conversation per visitor and domain, for as long as the server runs; what must survive is in the store."""

    def __init__(self, domain: str) -> None:
        self._domain = domain
        self._kept: OrderedDict[str, dict[str, Conversation]] = OrderedDict()
        """Of each visitor; the one that was kept last is the one that is open."""
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, visitor: Visitor) -> Conversation:
        own = self._kept.get(visitor.tag)
        return next(reversed(own.values())) if own else Conversation(self._domain)

    def turn(self, visitor: Visitor) -> asyncio.Lock:
        """Hold the turn from `of` to `keep`: what one visitor says is processed in order, in however many windows."""
        return self._turns.setdefault(visitor.tag, asyncio.Lock())

    def knows(self, visitor: Visitor) -> bool:
        return visitor.tag in self._kept

    def open(self, visitor: Visitor, domain: str) -> None:
        """Open the visitor's conversation about this domain where it was left."""
        self.keep(visitor, self._kept.get(visitor.tag, {}).get(domain) or Conversation(domain))

    def keep(self, visitor: Visitor, conversation: Conversation) -> None:
        own = self._kept.setdefault(visitor.tag, {})
        own.pop(conversation.domain, None)
        own[conversation.domain] = conversation
        self._kept.move_to_end(visitor.tag)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)


def about(saga: Saga, page: Page, said: tuple[Message, ...] = ()) -> Conversation:
    """Restore a conversation from the store: what was said, or else what the journal has of it."""
    said = said or (Message("user", page.sentence(saga.request)),)
    return Conversation(page.name, said[-_LONGEST_TALK:], page.draft_of(saga.request), saga.id)


def shown_messages(conversation: Conversation, saga: Saga | None, page: Page) -> tuple[Message, ...]:
    """Return the messages with the saga's current state added; an open question comes last."""
    if saga is None or (conversation.draft.questions and status_of(saga) is SagaStatus.AWAITING_APPROVAL):
        return conversation.messages
    told = narrate(saga, page)
    if conversation.before is not None and not conversation.before.is_told and status_of(saga) is SagaStatus.AWAITING_APPROVAL:
        told = "\n".join([*compared(page, conversation.before.plan, conversation.before.cost, saga), told])
    return (*conversation.messages, Message("assistant", told))


def recalled(conversation: Conversation, saga: Saga | None, page: Page) -> Conversation:
    """Write down what the page has shown of the saga until now, before something else is said or clicked."""
    if saga is None:
        return conversation
    if conversation.before is not None:
        conversation = replace(conversation, before=replace(conversation.before, is_told=True))
    told = in_retrospect(saga, page)
    is_known = any(each.text == told for each in conversation.messages[-_RECENT:])
    return conversation if is_known else conversation.answered(told)


def as_chat(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Escape the text, and tell its dates as people do: Gradio's chat inserts it as HTML even where Markdown is switched off."""
    told = ((each.role, dated(each.text) if each.role == "assistant" else each.text) for each in messages)
    return [{"role": role, "content": escape(text, quote=False)} for role, text in told]
