"""Talk: one visitor's turn. What was meant is known before anything is done, and only a plain yes to a shown plan has effects."""

from __future__ import annotations

import re
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final

from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.language.questions import Topic, must_be_settled, topic_of
from sagagraph.language.utterances import Act, Kind, Utterance, is_statement, utterances
from sagagraph.money import cost_text
from sagagraph.planning.domain import Infeasible
from sagagraph.planning.page import NOTHING_KNOWN, Disruption, Draft
from sagagraph.saga.core.amendments import parent_of
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import FINAL, Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui.chat.answers import Facts, answer
from sagagraph.ui.chat.conversation import Before, Conversation, Pending
from sagagraph.ui.chat.narration import in_retrospect
from sagagraph.ui.differences import price_change, told
from sagagraph.ui.progress import something_stands
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import Visitor

_JOINTS: Final = ("", "until", "by")
_OVER: Final = frozenset({SagaStatus.REJECTED, SagaStatus.INFEASIBLE, SagaStatus.COMPENSATED})
_BOOKS: Final = re.compile(r"\b(?:book|reserve|confirm|buy)\b", re.IGNORECASE)
_AS_IT_IS: Final = re.compile(r"\bas (?:it is|shown|planned)\b", re.IGNORECASE)
_CAN_BE_AN_ANSWER: Final = frozenset({Act.CHOOSE, Act.SKIP, Act.REJECT, Act.NOT_NOW, Act.PRAISE})
_DROPS: Final = frozenset({Act.SKIP, Act.REJECT, Act.NOT_NOW})
_RECENT: Final = 12
_NOTHING_CHANGED: Final = "Nothing is changed."


class Deed(StrEnum):
    """What was done about an utterance. Only the first five can change anything, and only `APPROVED` books."""

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


class Talk:
    """One visitor's turn: what was said leads to an answer, a question, a plan, a change or a decision."""

    def __init__(self, service: Service, visitor: Visitor, conversation: Conversation, shown_hash: str | None) -> None:
        """`shown_hash` names the plan that the speaker's page shows: a `yes` approves that one."""
        self._service = service
        self._visitor = visitor
        self._page = service.pages[conversation.domain]
        self._shown_hash = shown_hash
        self._pending: Pending | None = None
        self.conversation = conversation
        self.deeds: list[Deed] = []

    async def say(self, text: str) -> Conversation:
        saga = await self._saga()
        if saga is not None:
            self._recall(in_retrospect(await self._service.shown(saga), self._page))
        self.conversation = self.conversation.heard(text)
        self._pending, self.conversation = self.conversation.pending, replace(self.conversation, pending=None)
        await self._told_why_not(self._understand(text, saga))
        return self.conversation

    async def change(self, key: str, text: str | None) -> Conversation:
        """Rewords one request; None withdraws it."""
        await self._told_why_not(self._change_wish(key, text))
        return self.conversation

    async def _told_why_not(self, turn: Coroutine[None, None, None]) -> None:
        try:
            await turn
        except SagaGraphError as exc:
            self._say(Deed.NOT_TAKEN, _words_of(exc))

    async def _change_wish(self, key: str, text: str | None) -> None:
        await self._take(await self._page.changed(self.conversation.draft.known, key, text), await self._saga())

    async def _saga(self) -> Saga | None:
        saga_id = self.conversation.saga_id
        return None if saga_id is None else await self._service.saga(self._visitor, saga_id)

    def _recall(self, text: str) -> None:
        """Writes down what the page has shown until now, unless it stands there already."""
        if all(each.text != text for each in self.conversation.messages[-_RECENT:]):
            self.conversation = self.conversation.answered(text)

    def _say(self, deed: Deed, text: str) -> None:
        self.deeds.append(deed)
        self.conversation = self.conversation.answered(text)

    def _add(self, text: str) -> None:
        self.conversation = self.conversation.answered(text)

    # -- what was meant ----------------------------------------------------------------------------------------------------

    async def _understand(self, text: str, saga: Saga | None) -> None:
        said = utterances(text)
        if not said:
            self._say(Deed.NOT_TAKEN, "I did not understand that.")
        elif saga is None and all(map(is_statement, said)):
            await self._wish(text, saga)
        elif self.conversation.draft.questions and len(said) == 1 and _can_answer(said[0]):
            await self._answered_question(text, said[0], saga)
        else:
            for each in said:
                await self._told_why_not(self._heed(each, said))

    async def _heed(self, each: Utterance, said: Sequence[Utterance]) -> None:
        saga = await self._saga()
        match each.kind:
            case Kind.SMALL_TALK:
                if len(said) == 1:
                    self._say(Deed.GREETED, "You are welcome. Ask me anything about the plan, or say what should be different.")
                    self._add(self._page.opening if saga is None else "")
                else:
                    self.deeds.append(Deed.GREETED)
            case Kind.QUESTION:
                await self._answer(each.text, saga)
            case Kind.HYPOTHETICAL:
                await self._suppose(each, saga)
            case Kind.DECISION:
                await self._decide(each, said, saga)
            case Kind.HEARSAY if each.said:
                self._say(Deed.KEPT, f"I book on a plain yes only, so nothing is done about “{each.said}”.")
            case _:
                await self._statement(each, saga)

    async def _answered_question(self, text: str, said: Utterance, saga: Saga | None) -> None:
        if saga is not None and said.act in _DROPS:
            self._leave_out(saga)
            self._say(Deed.KEPT, "Then everything stays as it was.")
        else:
            await self._wish(text, saga)

    def _leave_out(self, saga: Saga) -> None:
        self.conversation = self.conversation.settled(self._page.draft_of(saga.request))

    # -- questions and hypotheticals ---------------------------------------------------------------------------------------

    async def _answer(self, asked: str, saga: Saga | None) -> None:
        topic = topic_of(asked)
        if topic is None and await self._compare(asked, saga):
            return
        if saga is None and topic in (Topic.PRICE, Topic.PLAN, None) and await self._is_told(asked):
            return
        shown = None if saga is None else await self._service.shown(saga)
        if Deed.CHANGED in self.deeds or Deed.BEGAN in self.deeds:
            self._say(Deed.ANSWERED, "The answer comes with the new plan.")
            return
        preview = await self._service.preview(self._visitor, saga.id) if saga is not None and topic is Topic.REFUND else None
        before = self.conversation.before
        facts = Facts(self._page, self.conversation.draft, shown, preview, None if before is None else (before.plan, before.cost))
        self._say(Deed.ANSWERED, answer(topic, asked, facts))

    async def _is_told(self, asked: str) -> bool:
        """Whether a question before there is any plan tells so much of one that it begins with it."""
        with suppress(InvalidInputError):
            draft = await self._page.read(asked.rstrip("? "), self.conversation.draft.known)
            if len(draft.wishes) > len(self.conversation.draft.wishes):
                await self._take(draft, None)
                return True
        return False

    async def _suppose(self, each: Utterance, saga: Saga | None) -> None:
        if saga is not None and self._would_be_news(each.text, saga):
            await self._suppose_news(each.text, saga)
        elif not await self._compare(each.text, saga) and (Deed.COMPARED not in self.deeds or each.text):
            await self._answer(each.said or each.text, saga)

    def _would_be_news(self, text: str, saga: Saga) -> bool:
        """Whether the page sees news in it, clear or not."""
        try:
            return self._page.disruption_in(text, saga) is not None
        except InvalidInputError:
            return True

    async def _suppose_news(self, text: str, saga: Saga) -> None:
        news = self._page.disruption_in(text, saga)
        if news is None:
            return
        if news.request is not None and not news.lost:
            await self._show_difference(news.request, saga)
        else:
            self._say(
                Deed.ANSWERED,
                f"If so ({news.words.lower()}): I would look for what takes its place at the least extra cost, show "
                f"you before and "
                f"after, and book nothing before you approve. {_NOTHING_CHANGED}",
            )

    async def _compare(self, text: str, saga: Saga | None) -> bool:
        """Whether it is a change that can be tried on a copy: then its difference is shown."""
        if saga is None or not text:
            return False
        try:
            draft = await self._page.read(text, self._page.draft_of(saga.request).known)
        except InvalidInputError:
            return False
        if draft.questions and draft.questions != self._page.draft_of(saga.request).questions:
            self._say(Deed.ASKED, f"{draft.questions[0]} {_NOTHING_CHANGED}")
            return True
        if draft.request is None or (wanted := self._page.on_top(draft.request, saga)) == saga.request:
            return False
        await self._show_difference(wanted, saga)
        if draft.not_understood:
            self._add(f"I left out what I did not understand: {', '.join(draft.not_understood)}.")
        self.conversation = replace(self.conversation, pending=Pending(draft=draft))
        return True

    async def _show_difference(self, wanted: Any, saga: Saga) -> None:
        found = await self._service.what_if(self._page.name, wanted)
        if isinstance(found, Infeasible):
            self._say(Deed.COMPARED, f"That cannot be had: {'; '.join(found.reasons)}. {_NOTHING_CHANGED}")
            return
        shown = await self._service.shown(saga)
        cost = {"total": found.cost.total, "currency": found.cost.currency, "fees": found.cost.fees}
        lines = [f"– {each}" for each in told(self._page.view(shown.plan.content).lines, self._page.view(found.plan).lines)]
        price = price_change(shown.plan.cost, cost)
        fees = (
            " What is booked would have to be changed, and its fees come on top."
            if status_of(saga) is SagaStatus.COMMITTED
            else ""
        )
        self._say(
            Deed.COMPARED,
            "\n".join(
                [
                    f"Then: {price or cost_text(cost) or 'another plan'}.{fees}",
                    *lines,
                    f"{_NOTHING_CHANGED} Say “do that” to have it.",
                ]
            ),
        )

    # -- decisions ---------------------------------------------------------------------------------------------------------

    async def _decide(self, each: Utterance, said: Sequence[Utterance], saga: Saga | None) -> None:
        shown = None if saga is None else await self._service.shown(saga)
        is_asking = shown is not None and status_of(shown) is SagaStatus.AWAITING_APPROVAL
        match each.act:
            case Act.APPROVE | Act.WITHOUT:
                await self._approve(each, said, saga, shown if is_asking else None)
            case Act.PRAISE:
                await self._praised(said, saga, shown if is_asking else None)
            case Act.CANCEL:
                await self._show_cancel(saga)
            case Act.UNDO:
                await self._undo(saga, shown)
            case _ if self._pending is not None and each.act in _DROPS:
                self._say(Deed.KEPT, f"Then everything stays as it is. {_NOTHING_CHANGED}")
            case Act.SKIP | Act.NOT_NOW if saga is not None:
                self._say(Deed.KEPT, self._stays(saga, is_asking=is_asking))
            case Act.CANCEL_PART if saga is not None:
                why = "I cannot give up one part alone. Say what to do without (“skip Paris”), tell me if it fell "
                "through, or press “Cancel…”."
                self._say(Deed.NOT_TAKEN, f"{why} {_NOTHING_CHANGED}")
            case Act.CHOOSE if saga is not None and is_asking:
                await self._choose(each.place, saga)
            case Act.REJECT if saga is not None and shown is not None and is_asking:
                await self._reject(saga, shown)
            case _:
                self._say(Deed.NOT_TAKEN, self._nothing_open(saga))

    def _stays(self, saga: Saga, *, is_asking: bool) -> str:
        if self.conversation.is_open:
            self._leave_out(saga)
        return "The plan stays here until you say “book it” or change it; nothing is booked." if is_asking else _NOTHING_CHANGED

    def _nothing_open(self, saga: Saga | None) -> str:
        if self.conversation.draft.questions:
            return f"First: {self.conversation.draft.questions[0]}"
        if saga is None:
            return f"Nothing is planned yet, so there is nothing to decide. {self._page.opening}"
        if status_of(saga) is SagaStatus.PLANNING:
            return "I am still planning: there is nothing to decide yet."
        return f"Nothing waits for a decision: it is {status_of(saga).value.replace('_', ' ')}. {_NOTHING_CHANGED}"

    async def _approve(self, each: Utterance, said: Sequence[Utterance], saga: Saga | None, asking: Saga | None) -> None:
        pending = self._pending
        alone = all(other.kind is Kind.SMALL_TALK or other.act in (Act.APPROVE, Act.WITHOUT, Act.PRAISE) for other in said)
        if Deed.APPROVED in self.deeds:
            return
        if not alone:
            self._say(
                Deed.KEPT, "Nothing is booked yet, because you also said something else: say “book it” once you have seen this."
            )
        elif pending is not None and pending.news and saga is not None:
            await self._report(pending.news, saga)
        elif pending is not None and pending.draft is not None and not _AS_IT_IS.search(each.text):
            if _BOOKS.search(each.text):
                self.conversation = replace(self.conversation, pending=pending)
                self._say(Deed.ASKED, "With the change? Say “do that”, and look at the new plan first. Or “book it as it is”.")
            else:
                await self._take(pending.draft, saga)
        elif asking is None or saga is None:
            self._say(Deed.NOT_TAKEN, self._nothing_open(saga))
        elif self.conversation.is_open and each.act is not Act.WITHOUT:
            self._say(Deed.NOT_TAKEN, self._first())
        else:
            await self._book(saga)

    def _first(self) -> str:
        draft, unsettled = self.conversation.draft, self.conversation.unsettled
        what = draft.questions[0] if draft.questions else f"I did not understand “{', '.join(unsettled)}”: say it differently."
        return f"First, because the plan does not keep all that you have said: {what} Or say “book without it”."

    async def _book(self, saga: Saga) -> None:
        await self._service.decide(self._visitor, saga.id, self._shown_hash or "", approved=True)
        self.conversation = replace(self.conversation.settled(self._page.draft_of(saga.request)), undo=(), before=None)
        self.deeds.append(Deed.APPROVED)

    async def _praised(self, said: Sequence[Utterance], saga: Saga | None, asking: Saga | None) -> None:
        if len(said) > 1:
            return
        if self._pending is not None and self._pending.draft is not None:
            await self._take(self._pending.draft, saga)
        elif self._pending is not None and self._pending.news:
            self.conversation = replace(self.conversation, pending=self._pending)
            self._say(Deed.ASKED, "Say “yes” to have it replaced, or “no” if you were only asking.")
        elif asking is None:
            self._say(Deed.GREETED, "Good.")
        else:
            price = cost_text(asking.plan.cost)
            self.conversation = replace(self.conversation, pending=Pending(plan_hash=asking.plan.hash or ""))
            self._say(
                Deed.ASKED,
                f"Shall I go ahead{f' and book it for {price}' if price else ''}? Say “yes”, or what should be different.",
            )

    async def _reject(self, saga: Saga, shown: Saga) -> None:
        if something_stands(shown):
            self._say(
                Deed.KEPT, "That would undo everything done so far: press “Cancel…” to see it, or say what should be different."
            )
            return
        await self._service.decide(self._visitor, saga.id, self._shown_hash or "", approved=False)
        self.deeds.append(Deed.REJECTED)

    async def _choose(self, place: int, saga: Saga) -> None:
        offered = saga.plan.alternatives
        if not 1 <= (place or 1) <= len(offered) or (place == 0 and len(offered) > 1):
            there = (
                f"There are {len(offered)} other plans"
                if len(offered) > 1
                else "There is one other plan"
                if offered
                else "There is no other plan"
            )
            self._say(Deed.NOT_TAKEN, f"{there}{': say which, by its number' if offered else ''}. {_NOTHING_CHANGED}")
            return
        chosen = offered[(place or 1) - 1]
        self._remember(saga)
        self.conversation = self.conversation.can_undo(saga.plan.hash or "")
        await self._service.choose(self._visitor, saga.id, str(chosen["plan_hash"]))
        self._say(Deed.CHOSE, f"Number {place or 1} of the other plans. Nothing is booked yet.")

    async def _undo(self, saga: Saga | None, shown: Saga | None) -> None:
        *earlier, last = self.conversation.undo or (None,)
        if saga is not None and shown is not None and parent_of(shown.id) and status_of(shown) is SagaStatus.AWAITING_APPROVAL:
            await self._service.decide(self._visitor, saga.id, shown.plan.hash or "", approved=False)
            self.conversation = self.conversation.settled(self._page.draft_of(saga.request))
            self._say(Deed.UNDONE, "The change is taken back; what was booked stands.")
        elif saga is None or last is None or saga.stage in FINAL:
            what = "“Cancel…” shows what cancelling all of it would undo." if saga is not None else self._page.opening
            self._say(Deed.NOT_TAKEN, f"There is no change to take back. {what}")
        elif isinstance(last, str):
            self._remember(saga)
            await self._service.choose(self._visitor, saga.id, last)
            self._say(Deed.UNDONE, "Back to the plan before.")
        else:
            self._deed_of_change = Deed.UNDONE
            await self._take(last, saga)
        self.conversation = replace(self.conversation, undo=tuple(each for each in earlier if each is not None))

    async def _show_cancel(self, saga: Saga | None) -> None:
        if saga is None:
            self._say(Deed.NOT_TAKEN, self._nothing_open(saga))
            return
        would = await self._service.preview(self._visitor, saga.id)
        fees = cost_text({"total": would.fees, "currency": would.currency}) if would.fees and would.currency else "no fees"
        what = f"{len(would.undo)} things would be undone, for {fees}." if would.undo else "Nothing has been done yet."
        self._say(Deed.PREVIEWED, f"{what} Press “Cancel…” to see what that would undo, and what would remain.")

    # -- news --------------------------------------------------------------------------------------------------------------

    async def _statement(self, each: Utterance, saga: Saga | None) -> None:
        if saga is None:
            await self._wish(each.text, saga)
        elif each.kind is Kind.HEARSAY and self._would_be_news(each.text, saga):
            self._ask_whether_it_happened(saga)
        elif each.kind is not Kind.HEARSAY and (news := self._news(each.text, saga)) is not None:
            await self._heard_news(news, saga)
        elif each.kind is Kind.NEWS and status_of(saga) in (SagaStatus.COMMITTED, SagaStatus.RUNNING):
            self._ask_whether_it_happened(saga)
        else:
            await self._wish(each.text, saga)

    def _ask_whether_it_happened(self, saga: Saga) -> None:
        offered = self._page.disruptions(saga)
        like = f", like “{offered[0].words}”" if offered else ""
        self._say(
            Deed.ASKED, f"Did something fall through here? Then say what{like}, and I look for a replacement. {_NOTHING_CHANGED}"
        )

    def _news(self, text: str, saga: Saga) -> Disruption | None:
        """Reads the report together with the question that it answers; a question that stays open is remembered."""
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
        """News that gives up a booking is asked back; anything else only makes a plan, which has to be approved."""
        if news.lost:
            self.conversation = replace(self.conversation, pending=Pending(news=news.key))
            what = f"{news.words}: did that happen, or are you asking?"
            self._say(
                Deed.ASKED,
                f"{what} On “yes” I give up that booking and look for a replacement, which you approve. {_NOTHING_CHANGED}",
            )
            return
        await self._service.disrupt(self._visitor, saga.id, news)
        self.deeds.append(Deed.REPORTED)
        known = len(self._page.happened(saga.request))
        for each in self._page.happened(news.request)[known:] if news.request is not None else ():
            self._add(f"{each.text}.")

    async def _report(self, key: str, saga: Saga) -> None:
        news = next((each for each in self._page.disruptions(saga) if each.key == key), None)
        if news is None:
            self._say(Deed.NOT_TAKEN, f"That is not booked any more. {_NOTHING_CHANGED}")
            return
        self._remember(saga)
        await self._service.disrupt(self._visitor, saga.id, news)
        self._say(Deed.REPORTED, f"{news.words}. I am looking for a replacement.")

    # -- wishes ------------------------------------------------------------------------------------------------------------

    async def _wish(self, text: str, saga: Saga | None) -> None:
        shown = None if saga is None else await self._service.shown(saga)
        if saga is not None and shown is not None and status_of(shown) is SagaStatus.AWAITING_APPROVAL:
            preference = await self._page.preferred(text, shown)
            if preference is not None and preference.draft is not None:
                await self._take(preference.draft, saga)
                return
            if preference is not None and preference.plan_hash is None:
                self._say(Deed.ANSWERED, preference.said)
                return
            if preference is not None and preference.plan_hash is not None:
                self._remember(saga)
                self.conversation = self.conversation.can_undo(shown.plan.hash or "")
                await self._service.choose(self._visitor, saga.id, preference.plan_hash)
                self._say(Deed.CHOSE, preference.said)
                return
        await self._take(await self._page.read(text, self.conversation.draft.known), saga)

    _deed_of_change = Deed.CHANGED

    async def _take(self, draft: Draft, saga: Saga | None) -> None:
        before = self.conversation.draft
        unsettled = tuple(each for each in draft.not_understood if must_be_settled(each))
        self.conversation = replace(self.conversation, draft=draft, unsettled=unsettled)
        for aside in draft.asides:
            self._add(aside)
        if draft.not_understood:
            self._say(Deed.NOT_TAKEN, f"I did not understand: {', '.join(draft.not_understood)}.")
        for remark in draft.remarks:
            if remark not in before.remarks:
                self._add(remark)
        if draft.questions:
            self._say(Deed.ASKED, draft.questions[0])
        elif saga is None or status_of(saga) in _OVER:
            saga_id = await self._service.begin(self._visitor, self._page.name, draft.request)
            self.conversation = replace(self.conversation, saga_id=saga_id, undo=(), before=None)
            self.deeds.append(Deed.BEGAN)
        elif (wanted := self._page.on_top(draft.request, saga)) != saga.request:
            await self._change(saga, wanted, before, draft)
        elif not draft.not_understood:
            self._say(Deed.NOT_TAKEN, "That changes nothing.")

    async def _change(self, saga: Saga, wanted: Any, before: Draft, draft: Draft) -> None:
        """Changes what is asked for; requests that come too late are not recorded as if they held."""
        was = self._page.draft_of(saga.request) if before.questions or before is NOTHING_KNOWN else before
        try:
            await self._service.change(self._visitor, saga.id, wanted)
        except SagaGraphError:
            self.conversation = replace(self.conversation, draft=before, unsettled=())
            raise
        self._remember(saga)
        if self._deed_of_change is Deed.CHANGED:
            self.conversation = self.conversation.can_undo(was)
        self._say(self._deed_of_change, _echo(was, draft))
        self._deed_of_change = Deed.CHANGED

    def _remember(self, saga: Saga) -> None:
        """The plan that is shown now, to compare the next one with."""
        if saga.plan.content is not None:
            self.conversation = replace(self.conversation, before=Before(saga.plan.content, saga.plan.cost))


def _can_answer(said: Utterance) -> bool:
    return said.kind is Kind.WISH or said.act in _CAN_BE_AN_ANSWER


def _echo(before: Draft, after: Draft) -> str:
    """What holds now and did not before, and the other way round."""
    old, new = {each.text for each in before.wishes}, {each.text for each in after.wishes}
    now = [each.text for each in after.wishes if each.text not in old]
    gone = [each.text for each in before.wishes if each.text not in new]
    said = [f"Now: {'; '.join(now)}."] if now else []
    said += [f"No longer: {'; '.join(gone)}."] if gone else []
    return " ".join(said)


def _words_of(exc: SagaGraphError) -> str:
    """The message in words for somebody in a chat, who knows no field names."""
    return str(exc).removeprefix(f"{exc.field}: ") if isinstance(exc, InvalidInputError) else str(exc)
