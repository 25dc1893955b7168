"""Reporting: news. For news that gives up a booking the chat asks first, and uncertain news changes nothing."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Final

from sagagraph.errors import InvalidInputError
from sagagraph.planning.page import Disruption
from sagagraph.saga.core.state import Saga
from sagagraph.ui.chat.conversation import Pending
from sagagraph.ui.chat.turn import NOTHING_CHANGED, Deed, Turn

_JOINTS: Final = ("", "until", "by")


class Reporting(Turn):
    """Takes reports of what has happened."""

    def _ask_whether_it_happened(self, saga: Saga) -> None:
        offered = self._page.disruptions(saga)
        like = f", like “{offered[0].words}”" if offered else ""
        self._say(
            Deed.ASKED, f"Did something fall through here? Then say what{like}, and I look for a replacement. {NOTHING_CHANGED}"
        )

    def _news(self, text: str, saga: Saga) -> Disruption | None:
        """Read the report together with the question that it answers; a question that stays open is remembered."""
        unfinished = self.conversation.unfinished
        self.conversation = replace(self.conversation, unfinished="")
        for told_now in (f"{unfinished} {joint} {text}" for joint in _JOINTS if unfinished):
            with suppress(InvalidInputError):
                if (news := self._page.disruption_in(told_now, saga)) is not None:
                    return news
        try:
            return self._page.disruption_in(text, saga)
        except InvalidInputError:
            self.conversation = replace(self.conversation, unfinished=text)
            self.deeds.append(Deed.ASKED)
            raise

    async def _heard_news(self, news: Disruption, saga: Saga) -> None:
        """Handle news. If it gives up a booking, ask first; otherwise only make a plan, which has to be approved."""
        if news.lost:
            self.conversation = replace(self.conversation, pending=Pending(news=news.key))
            what = f"{news.words}: did that happen, or are you asking?"
            self._say(
                Deed.ASKED,
                f"{what} On “yes” I give up that booking and look for a replacement, which you approve. {NOTHING_CHANGED}",
            )
            return
        await self._take_news(news, saga)

    async def _report(self, key: str, saga: Saga) -> None:
        news = next((each for each in self._page.disruptions(saga) if each.key == key), None)
        if news is None:
            self._say(Deed.NOT_TAKEN, f"That is not booked any more. {NOTHING_CHANGED}")
        else:
            await self._take_news(news, saga)

    async def _take_news(self, news: Disruption, saga: Saga) -> None:
        self._remember(saga)
        await self._service.disrupt(self._visitor, saga.id, news)
        self.deeds.append(Deed.REPORTED)
        if news.lost:
            self._add("I am looking for a replacement.")
        known = len(self._page.happened(saga.request))
        for each in self._page.happened(news.request)[known:] if news.request is not None else ():
            self._add(f"{each.text}.")
