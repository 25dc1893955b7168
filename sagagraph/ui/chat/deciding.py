"""Deciding: what is approved, chosen, taken back or left. Only a plain yes that is the whole message books."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from sagagraph.errors import InvalidInputError, NotAllowedError
from sagagraph.language.utterance.decisions import Act
from sagagraph.language.utterance.utterances import Kind, Utterance
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import FINAL, Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui.chat.conversation import Pending
from sagagraph.ui.chat.reporting import Reporting
from sagagraph.ui.chat.turn import NOTHING_CHANGED, OVER, Deed, asking, echo
from sagagraph.ui.differences import few
from sagagraph.ui.pictures.comparison import choices_of
from sagagraph.ui.progress import something_stands
from sagagraph.ui.wording import names_in

_BOOKS: Final = re.compile(r"\b(?:book|reserve|confirm|buy)\b", re.IGNORECASE)
_AS_IT_IS: Final = re.compile(r"\bas (?:it is|shown|planned)\b", re.IGNORECASE)
DROPS: Final = frozenset({Act.SKIP, Act.REJECT, Act.NOT_NOW})
_TAKEN_BACK: Final = "The change is taken back; what was booked stands."
_NO_PART: Final = (
    "I cannot give up one part alone. Say what to do without (“skip Paris”), tell me if it fell through, or press “Cancel…”. "
    f"{NOTHING_CHANGED}"
)

ANEW: Final = "To begin with something else, press “New plan, my plans”."


class Deciding(Reporting):
    """Part that takes decisions; about something that is not open, it says what is open."""

    async def _decide(self, each: Utterance, said: Sequence[Utterance], saga: Saga | None) -> None:
        can_answer = saga is None and self.conversation.draft.questions and each.act is not Act.UNDO
        if can_answer and await self._answers(each.text):
            return
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
                await self._undo(saga)
            case Act.CONFIRM if self._pending is not None and self._pending.news and saga is not None:
                await self._report(self._pending.news, saga)
            case Act.AGAIN if saga is not None and status_of(saga) in OVER:
                if all(other.kind is not Kind.WISH for other in said):  # a wish begins anew by itself
                    await self._begin(saga.request)
            case _ if self._pending is not None and each.act in DROPS:
                self._say(Deed.KEPT, f"Then everything stays as it is. {NOTHING_CHANGED}")
            case Act.SKIP if saga is not None and await self._take_back(saga):
                self.conversation = self.conversation.settled(self._page.draft_of(saga.request))
                self._say(Deed.UNDONE, _TAKEN_BACK)
            case Act.SKIP | Act.NOT_NOW if saga is not None:
                self._say(Deed.KEPT, self._stays(saga, is_asking=is_asking))
            case Act.CANCEL_PART if saga is not None:
                self._say(Deed.NOT_TAKEN, _NO_PART)
            case Act.CHOOSE if saga is not None and is_asking:
                await self._choose(each.place, saga)
            case Act.REJECT if saga is not None and shown is not None and is_asking:
                await self._reject(saga, shown)
            case _:
                self._say(Deed.NOT_TAKEN, self._nothing_open(saga))

    async def _answers(self, text: str) -> bool:
        """Hear as an answer what sounds like a decision while there is nothing to decide; False: it answers nothing."""
        with suppress(InvalidInputError):
            draft = await self._hear(text, self.conversation.draft.known)
            if draft.known != self.conversation.draft.known:
                await self._take(draft, None)
                return True
        return False

    def _stays(self, saga: Saga, *, is_asking: bool) -> str:
        if self.conversation.is_open:
            self._leave_out(saga)
        return "The plan stays here until you say “book it” or change it; nothing is booked." if is_asking else NOTHING_CHANGED

    def _nothing_open(self, saga: Saga | None) -> str:
        if self.conversation.draft.questions:
            return f"There is no plan to decide on yet. {asking(self.conversation.draft)}"
        if saga is None:
            return f"Nothing is planned yet, so there is nothing to decide. {self._page.opening}"
        if status_of(saga) is SagaStatus.PLANNING:
            return "I am still planning: there is nothing to decide yet."
        if status_of(saga) is SagaStatus.AWAITING_APPROVAL:
            return f"The plan waits for you: press “{self._page.go_ahead}” or say “yes”, or say what should be different. {ANEW}"
        return f"Nothing waits for a decision. {ANEW} {NOTHING_CHANGED}"

    async def _approve(self, each: Utterance, said: Sequence[Utterance], saga: Saga | None, asking: Saga | None) -> None:
        pending = self._pending
        alone = all(other.kind is Kind.SMALL_TALK or other.act in (Act.APPROVE, Act.WITHOUT, Act.PRAISE) for other in said)
        if Deed.APPROVED in self.deeds:
            return
        if pending is not None and pending.news and saga is not None and _says_that_it_happened(said):
            await self._report(pending.news, saga)
            return
        if not alone:
            self._say(
                Deed.KEPT, "Nothing is booked yet, because you also said something else: say “book it” once you have seen this."
            )
        elif pending is not None and pending.draft is not None and not _AS_IT_IS.search(each.text):
            if _BOOKS.search(each.text):
                self.conversation = replace(self.conversation, pending=pending)
                self._say(Deed.ASKED, "With the change? Say “do that”, and look at the new plan first. Or “book it as it is”.")
            else:
                await self._take(pending.draft, saga)
        elif asking is None or saga is None:
            if not self._search_no_longer(saga):
                self._say(Deed.NOT_TAKEN, self._nothing_open(saga))
        elif self.conversation.is_open and each.act is not Act.WITHOUT:
            self._say(Deed.NOT_TAKEN, self._first())
        else:
            await self._book(saga)

    def _search_no_longer(self, saga: Saga | None) -> bool:
        """Take the best plan so far, if a better one is still sought; that books nothing."""
        if saga is None or self._service.sketch(saga.id) is None:
            return False
        self._service.take_sketch(self._visitor, saga.id)
        self._say(Deed.CHOSE, f"Then I search no longer. Look at the plan; “{self._page.go_ahead}” comes when it is checked.")
        return True

    def _first(self) -> str:
        draft, unsettled = self.conversation.draft, self.conversation.unsettled
        what = draft.questions[0] if draft.questions else f"I did not understand “{', '.join(unsettled)}”: say it differently."
        return f"First, because the plan does not keep all that you have said: {what} Or say “book without it”."

    async def _book(self, saga: Saga) -> None:
        await self._service.decide(self._visitor, saga.id, self._shown_hash or "", approved=True)
        self.conversation = replace(self.conversation.settled(self._page.draft_of(saga.request)), before=None)
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
            if not self._search_no_longer(saga):
                self._say(Deed.GREETED, "Good.")
        else:
            price = self._page.price(asking.plan.content, asking.plan.cost)
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
        self.conversation = self.conversation.settled(self._page.draft_of(saga.request))
        self.deeds.append(Deed.REJECTED)

    async def _choose(self, place: int, saga: Saga) -> None:
        """Show the plan with this number; 0: the other one."""
        shown = await self._service.shown(saga)
        choices = choices_of(shown, self._page)
        others = [each for each in choices if each.hash]
        found = others if place == 0 and len(others) == 1 else [each for each in choices if each.number == place]
        if not others:
            self._say(Deed.NOT_TAKEN, f"There is no other plan. {NOTHING_CHANGED}")
        elif not found:
            self._say(Deed.NOT_TAKEN, f"There are {len(choices)} plans: say which, by its number. {NOTHING_CHANGED}")
        elif not found[0].hash:
            self._say(Deed.KEPT, f"Number {place} is the plan that is shown. {NOTHING_CHANGED}")
        else:
            await self._take_offer(found[0].hash, saga, f"Number {found[0].number} of the plans.")

    async def _take_offer(self, plan_hash: str, saga: Saga, what: str) -> None:
        self._remember(saga)
        await self._service.choose(self._visitor, saga.id, plan_hash)
        self._say(Deed.CHOSE, f"{what} Nothing is booked yet.".strip())

    async def _undo(self, saga: Saga | None) -> None:
        if self.conversation.earlier:
            *earlier, before = self.conversation.earlier
            told = self._filled(self.conversation.draft, before, "Now") or "That is taken back."
            self.conversation = replace(self.conversation.settled(before), earlier=tuple(earlier))
            self._say(Deed.UNDONE, told)
        elif saga is not None and await self._take_back(saga):
            self.conversation = self.conversation.settled(self._page.draft_of(saga.request))
            self._say(Deed.UNDONE, _TAKEN_BACK)
        elif saga is None or saga.stage in FINAL or not await self._go_back(saga):
            what = self._how_to_leave(saga) if saga is not None else self._page.opening
            if saga is not None and status_of(saga) in OVER:
                what = "What is over cannot be brought back: say “plan it again” for a new plan."
            self._say(Deed.NOT_TAKEN, f"There is no change to take back. {what}")

    async def _go_back(self, saga: Saga, number: int | None = None) -> bool:
        """Go back to an earlier version of the plan, by default to the one before; False: there is none."""
        try:
            version = await self._service.go_back(self._visitor, saga.id, number)
        except NotAllowedError:
            return False
        self._remember(saga)
        before, after = self._page.draft_of(saga.request), self._page.draft_of(version.request)
        self.conversation = self.conversation.settled(after)
        self._say(Deed.UNDONE, echo(before, after) or "Back to the plan before.")
        return True

    async def _show_cancel(self, saga: Saga | None) -> None:
        if saga is None:
            self._say(Deed.NOT_TAKEN, self._nothing_open(saga))
            return
        would = await self._service.preview(self._visitor, saga.id)
        fees = self._page.price(saga.plan.content, {"total": would.fees, "currency": would.currency}) or "no fees"
        names = names_in(saga, self._page)
        undone = few(list(dict.fromkeys(names[each.id] for each in would.undo)), "in the list")
        what = f"That would be undone, for {fees}: {'; '.join(undone)}. " if would.undo else ""
        self._say(Deed.PREVIEWED, f"{what}{self._how_to_leave(saga)}")

    def _how_to_leave(self, saga: Saga) -> str:
        """Name the button that is there."""
        if saga.plan.version:
            return "Press “Cancel…” to see what that would undo, and what would remain."
        button = "Stop planning…" if status_of(saga) is SagaStatus.PLANNING else "Discard this plan"
        return f"Nothing has been done yet: press “{button}” to leave it."


def _says_that_it_happened(said: Sequence[Utterance]) -> bool:
    """Return whether it is `yes`, and at most what has happened once more."""
    return all(each.kind in (Kind.SMALL_TALK, Kind.NEWS) or each.act in (Act.APPROVE, Act.CONFIRM, Act.PRAISE) for each in said)
