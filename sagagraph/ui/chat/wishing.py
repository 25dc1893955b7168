"""Wishing: changes of the request; what a model takes for something else leads to an answer, a comparison or a question."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from sagagraph.errors import InvalidInputError
from sagagraph.language.utterance.utterances import Kind
from sagagraph.planning.fields import State
from sagagraph.planning.models.reading import listed
from sagagraph.planning.page import Draft, Page
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui.chat.answering import Answering
from sagagraph.ui.chat.conversation import Conversation
from sagagraph.ui.chat.reporting import Reporting
from sagagraph.ui.chat.turn import NOTHING_CHANGED, Deed


class Wishing(Answering, Reporting):
    """Takes wishes and preferences."""

    async def _wish(self, text: str, saga: Saga | None) -> None:
        shown = None if saga is None else await self._service.shown(saga)
        if saga is not None and shown is not None and status_of(shown) in (SagaStatus.AWAITING_APPROVAL, SagaStatus.COMMITTED):
            preference = await self._page.preferred(text, shown)
            if preference is not None and preference.draft is not None:
                await self._take(preference.draft, saga)
                return
            if preference is not None and preference.plan_hash is None:
                self._say(Deed.ANSWERED, preference.said)
                return
            is_asking = status_of(shown) is SagaStatus.AWAITING_APPROVAL
            if preference is not None and preference.plan_hash is not None and is_asking:
                self._remember(saga)
                await self._service.choose(self._visitor, saga.id, preference.plan_hash)
                self._say(Deed.CHOSE, preference.said)
                return
        open_before = self.conversation.draft.questions
        draft = await self._hear(text, self.conversation.draft.known, is_shown=True)
        if saga is None and draft.not_understood and (elsewhere := await self._page_that_understands(text)):
            await self._go_on_with(elsewhere, text)
            return
        if saga is not None and draft.questions and draft.questions == open_before:
            draft = await self._without_open_question(text, saga) or await self._answered_by_board(draft, saga)
        if saga is None or not await self._placed_by_model(draft, text, saga):
            await self._take(draft, saga)

    async def _go_on_with(self, page: Page, text: str) -> None:
        """Begin where the words belong; what was begun on this page stays there."""
        self._page, self.conversation = page, Conversation(page.name).heard(text)
        self._add(f"I take that for “{page.title}”.")
        await self._wish(text, None)

    async def _page_that_understands(self, text: str) -> Page | None:
        """Return another page whose rules read the sentence as a complete request, if there is one."""
        if self._page.model is not None:
            return None
        for page in self._service.pages.values():
            with suppress(InvalidInputError):  # what it cannot read at all is not meant for it
                draft = await page.read(text, None)
                if page is not self._page and draft.request is not None and not (draft.not_understood or draft.questions):
                    return page
        return None

    async def _without_open_question(self, text: str, saga: Saga) -> Draft | None:
        """Return what is said besides an open question, if that is complete: the question traps nobody."""
        draft = await self._hear(text, self._page.draft_of(saga.request).known)
        if draft.questions or draft.request is None or self._page.on_top(draft.request, saga) == saga.request:
            return None
        self._add(f"I left out what was still open: {self.conversation.draft.questions[0]}")
        return draft

    async def _answered_by_board(self, draft: Draft, saga: Saga) -> Draft:
        """Return the draft without questions that the board of the plan answers: they were asked once, which is enough."""
        board = listed(self._page.fields(self._page.draft_of(saga.request)))
        stands = {each.name: each.value for each in board if each.state is State.SAID}
        for name in draft.missing:
            if value := stands.get(name):
                answered = await self._page.with_field(draft.known, name, value)
                draft = replace(answered, not_understood=draft.not_understood)
        return draft

    async def _placed_by_model(self, draft: Draft, text: str, saga: Saga) -> bool:
        """Return whether a model takes it for something else than a wish. It leads to an answer, a comparison or a question; a
        change needs the person's own yes.
        """
        is_same = draft.request is None or self._page.on_top(draft.request, saga) == saga.request
        match draft.kind:
            case Kind.QUESTION if is_same:
                await self._answer_on(draft.topic, text, saga)
            case Kind.QUESTION | Kind.HYPOTHETICAL if not is_same:
                return await self._compare(text, saga, draft=draft)
            case Kind.NEWS | Kind.HEARSAY if is_same:
                self._ask_whether_it_happened(saga)
            case Kind.DECISION if is_same:
                self._say(Deed.ASKED, f"Do you mean to decide something? Say “book it”, “not now” or “cancel”. {NOTHING_CHANGED}")
            case Kind.SMALL_TALK if is_same:
                self._say(
                    Deed.GREETED,
                    "I take that as said by the way. Say what should be different, or ask me anything about the plan.",
                )
            case _:
                return False
        return True
