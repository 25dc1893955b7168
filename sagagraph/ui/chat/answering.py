"""Answering: questions, and changes that are tried on a copy. The only thing changed here is what is known before there is a
plan.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from sagagraph.errors import InvalidInputError
from sagagraph.language.utterance.questions import Topic, topic_of
from sagagraph.language.utterance.utterances import Utterance, tells_news
from sagagraph.planning.domain import Infeasible
from sagagraph.planning.page import Draft
from sagagraph.planning.remedies import remedies_for
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui.chat.answers import Facts, answer
from sagagraph.ui.chat.conversation import Pending
from sagagraph.ui.chat.turn import NOTHING_CHANGED, Deed, Turn
from sagagraph.ui.differences import price_change, told

_ANSWERED_AS_WELL: Final = (Topic.ALTERNATIVES, Topic.REFUND, Topic.STATUS, Topic.OUTSIDE, Topic.NEXT, Topic.HELP)
_IS_THERE: Final = re.compile(r"\b(?:do you have|have you got|(?:is|are|could) there|anything)\b", re.IGNORECASE)


_IF_SO: Final = (
    "If so, tell me: I would look for what takes its place at the least extra cost, show you before and after, and book nothing "
    f"before you approve. {NOTHING_CHANGED}"
)


class Answering(Turn):
    """Answers questions and compares hypotheticals."""

    async def _answer(self, asked: str, saga: Saga | None) -> None:
        shown = None if saga is None else await self._service.shown(saga)
        if shown is not None and shown.plan.content is not None and (own := self._page.answer(asked, shown)) is not None:
            self._say(Deed.ANSWERED, own)
            return
        topic = topic_of(asked)
        is_offer = topic is None or (
            topic in (Topic.PLAN, Topic.ALTERNATIVES, Topic.PRICE) and _IS_THERE.search(asked) is not None
        )
        if is_offer and await self._compare(asked, saga):
            return
        if saga is None and topic in (Topic.PRICE, Topic.PLAN, None) and await self._is_told(asked):
            return
        await self._answer_on(topic, asked, saga)

    async def _answer_on(self, topic: Topic | None, asked: str, saga: Saga | None) -> None:
        shown = None if saga is None else await self._service.shown(saga)
        if Deed.CHANGED in self.deeds or Deed.BEGAN in self.deeds:
            self._say(Deed.ANSWERED, "The answer comes with the new plan.")
            return
        preview = await self._service.preview(self._visitor, saga.id) if saga is not None and topic is Topic.REFUND else None
        before = self.conversation.before
        facts = Facts(self._page, self.conversation.draft, shown, preview, None if before is None else (before.plan, before.cost))
        self._say(Deed.ANSWERED, answer(topic, asked, facts))
        if topic is Topic.PRICE and shown is not None:
            self._add(await self._page.price_as_asked(asked, shown))

    async def _is_told(self, asked: str) -> bool:
        """Tell whether a question asked before there is any plan says enough about one that it begins with it."""
        with suppress(InvalidInputError):
            draft = await self._hear(asked.rstrip("? "), self.conversation.draft.known)
            is_a_trip = draft.request is not None or not draft.not_understood
            if is_a_trip and len(draft.wishes) > len(self.conversation.draft.wishes):
                await self._take(draft, None)
                return True
        return False

    async def _suppose(self, each: Utterance, saga: Saga | None) -> None:
        if saga is not None and self._would_be_news(each.text, saga):
            await self._suppose_news(each.text, saga)
        elif saga is not None and tells_news(each.text):
            self._say(Deed.ANSWERED, _IF_SO)
        elif not await self._compare(each.text, saga, is_supposed=topic_of(each.said or each.text) not in _ANSWERED_AS_WELL) and (
            Deed.COMPARED not in self.deeds or each.text
        ):
            await self._answer(each.said or each.text, saga)

    def _would_be_news(self, text: str, saga: Saga) -> bool:
        """Tell whether the page sees news in it, clear or not."""
        try:
            return self._page.disruption_in(text, saga) is not None
        except InvalidInputError:
            return True

    async def _suppose_news(self, text: str, saga: Saga) -> None:
        news = None
        with suppress(InvalidInputError):  # it does not matter which one
            news = self._page.disruption_in(text, saga)
        if news is not None and news.request is not None and not news.lost:
            await self._show_difference(news.request, saga)
        else:
            self._say(Deed.ANSWERED, _IF_SO)

    @property
    def _supposed(self) -> Draft | None:
        """Return the hypothetical that has left something open, if the last turn was one."""
        draft = None if self._pending is None else self._pending.draft
        return draft if draft is not None and draft.questions else None

    async def _compare(self, text: str, saga: Saga | None, *, is_supposed: bool = False, draft: Draft | None = None) -> bool:
        """Compare where it is a change that can be tried on a copy: then its difference is shown.

        `is_supposed`: it was said as one; then what cannot be tried is named. It may answer what the one before left open.
        `draft`: how it was read already.
        """
        if saga is None or not text:
            return False
        shown = self._page.draft_of((await self._service.shown(saga)).request)
        before = self._supposed or shown
        try:
            draft = draft or await self._hear(text, before.known)
        except InvalidInputError:
            return False
        if draft.questions and draft.questions != shown.questions:
            if draft.questions == before.questions or (not is_supposed and topic_of(text) is not None):
                return False
            self._say(Deed.ASKED, f"{draft.questions[0]} {NOTHING_CHANGED}")
            self.conversation = replace(self.conversation, pending=Pending(draft=draft))
            return True
        if draft.request is None or draft.request == shown.request:
            if is_supposed and draft.not_understood:
                self._say(Deed.NOT_TAKEN, f"I cannot try that out. {self._not_understood(draft, is_all=True)} {NOTHING_CHANGED}")
                return True
            return False
        wanted = self._page.on_top(draft.request, saga)
        await self._show_difference(wanted, saga)
        for aside in draft.asides:
            self._add(aside)
        if draft.not_understood:
            self._add(f"I left out what I did not understand: {', '.join(draft.not_understood)}.")
        self.conversation = replace(self.conversation, pending=Pending(draft=draft))
        return True

    async def _show_difference(self, wanted: Any, saga: Saga) -> None:
        found = await self._service.what_if(self._page.name, wanted)
        if isinstance(found, Infeasible):
            self.conversation = replace(self.conversation, remedies=tuple(remedies_for(wanted, found)))
            self._say(Deed.COMPARED, f"That cannot be had: {'; '.join(found.reasons)}. {NOTHING_CHANGED}")
            return
        shown = await self._service.shown(saga)
        cost = {"total": found.cost.total, "currency": found.cost.currency, "fees": found.cost.fees}
        before = () if shown.plan.content is None else self._page.view(shown.plan.content).lines  # it may have none yet
        lines = [f"– {each}" for each in told(before, self._page.view(found.plan).lines)]
        price = price_change(self._page, (shown.plan.content, shown.plan.cost), (found.plan, cost))
        price = price or self._page.price(found.plan, cost)
        fees = (
            " What is booked would have to be changed, and its fees come on top."
            if status_of(saga) is SagaStatus.COMMITTED
            else ""
        )
        self._say(
            Deed.COMPARED,
            "\n".join(
                [
                    f"Then: {price or ('another plan' if lines else 'the same plan')}.{fees}",
                    *lines,
                    f"{NOTHING_CHANGED} Say “do that” to have it.",
                ]
            ),
        )
