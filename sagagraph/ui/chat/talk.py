"""Talk: one visitor's turn. What was meant is known before anything is done, and only a plain yes to a shown plan has effects."""

from __future__ import annotations

import re
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Final

from sagagraph.coordination.core.config import Config
from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.language.utterance.decisions import Act
from sagagraph.language.utterance.tongues import Tongue, tongue_of
from sagagraph.language.utterance.utterances import (
    Kind,
    Utterance,
    is_another_plan,
    is_statement,
    is_undecided,
    utterances,
    with_corrections,
)
from sagagraph.planning.fields import UNREADABLE, Field
from sagagraph.planning.models.reading import listed
from sagagraph.planning.tongues import cannot_read
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui.chat.conversation import Conversation, recalled
from sagagraph.ui.chat.deciding import ANEW, DROPS, Deciding
from sagagraph.ui.chat.turn import NOTHING_CHANGED, OVER, Deed
from sagagraph.ui.chat.wishing import Wishing
from sagagraph.ui.service import CannotBeHadError
from sagagraph.ui.wording import in_words

_NO: Final = re.compile(r"\W*(?:no|nope|nah|not|false alarm)\b", re.IGNORECASE)
_GOODBYE: Final = re.compile(r"\b(?:bye|goodbye|see you|good night|talk soon|until later)\b", re.IGNORECASE)
_REPLIES: Final = (
    (re.compile(r"\b(?:thank|thanks|thx|cheers)\b", re.IGNORECASE), "You are welcome. "),
    (re.compile(r"\b(?:hi|hiya|hello|hey|howdy|greetings|good (?:morning|evening|afternoon|day))\b", re.IGNORECASE), "Hello. "),
)
_ASK_ANYTHING: Final = "Ask me anything about the plan, or say what should be different."
_CAN_BE_AN_ANSWER: Final = frozenset({Act.CHOOSE, Act.SKIP, Act.REJECT, Act.NOT_NOW, Act.PRAISE})


class Talk(Wishing, Deciding):
    """One visitor's turn: what was said leads to an answer, a question, a plan, a change or a decision."""

    async def say(self, text: str) -> Conversation:
        saga = await self._saga()
        if saga is not None:
            self.conversation = recalled(self.conversation, await self._service.shown(saga), self._page)
            if status_of(saga) is SagaStatus.COMMITTED and saga.amending is None and not self.conversation.is_open:
                self.conversation = replace(self.conversation, draft=self._page.draft_of(saga.request))
        text = text.encode(errors="replace").decode()  # half a character, as a browser can send it, cannot be kept
        self.conversation = self.conversation.heard(text)
        self._pending = self.conversation.pending
        self._begin_turn()
        await self._told_why_not(self._understand(text, saga))
        if saga is None and not self.conversation.draft.wishes and await self._service.missions.fits(self._visitor, text):
            await self._told_why_not(self._begin_mission(text))
        return self.conversation

    async def _begin_mission(self, goal: str) -> None:
        """Have a team plan what nobody here reads; nothing is done before that is approved."""
        await self._service.missions.begin(self._visitor, goal, Config())
        self._say(
            Deed.BEGAN, "That is work for a team: I am having it planned as a mission. Approve the plan under Missions, above."
        )

    async def fill(self, name: str, value: str, turn: str = "") -> Conversation:
        """Change one field; an empty value takes away what it said. The same as saying so."""
        value = value.encode(errors="replace").decode()
        others = {each: why for each, why in self.conversation.refused.items() if each != name}
        self.conversation = replace(self.conversation, refused=others, filled=turn)
        try:
            await self._fill(name, value)
        except SagaGraphError as exc:
            self.deeds.append(Deed.NOT_TAKEN)
            self._refuse(name, value, exc)
        return self.conversation

    async def take_remedy(self, place: int) -> Conversation:
        """Ask for one of the remedies that the page lists, counted from 0. The same as saying so."""
        saga = await self._saga()
        listed = self.conversation.remedies or (await self._service.remedies(saga) if saga is not None else ())
        if 0 <= place < len(listed):
            self._begin_turn()
            await self._told_why_not(self._take(self._page.draft_of(listed[place].request), saga))
        return self.conversation

    async def go_back(self, number: int) -> Conversation:
        """Go back to that version of the plan. The same as saying so."""
        if (saga := await self._saga()) is not None and not await self._go_back(saga, number):
            self._say(Deed.NOT_TAKEN, f"That version is not there any more: look at the page again. {NOTHING_CHANGED}")
        return self.conversation

    async def report(self, key: str) -> Conversation:
        """Report one of the disruptions that the page offers, which need not be confirmed again."""
        if (saga := await self._saga()) is not None:
            self._begin_turn()
            await self._told_why_not(self._report(key, saga))
        return self.conversation

    async def choose(self, plan_hash: str) -> Conversation:
        """Show one of the plans on offer instead. The same as saying which."""
        if (saga := await self._saga()) is not None:
            self._begin_turn()
            await self._told_why_not(self._take_offer(plan_hash, saga, ""))
        return self.conversation

    def _begin_turn(self) -> None:
        self.conversation = replace(self.conversation, pending=None, remedies=(), refused={})

    async def _told_why_not(self, turn: Coroutine[None, None, None]) -> None:
        try:
            await turn
        except SagaGraphError as exc:
            self._say(Deed.NOT_TAKEN, in_words(exc))

    def _field(self, name: str) -> Field | None:
        return next((each for each in listed(self._page.fields(self.conversation.draft)) if each.name == name), None)

    def _refuse(self, name: str, value: str, exc: SagaGraphError) -> None:
        """Mark at its field what cannot be typed there; tell in the chat what cannot be had, or has no field."""
        field, why = self._field(name), in_words(exc)
        if field is None or not isinstance(exc, InvalidInputError):
            self._add(why)
            return
        shown = field.value if value == UNREADABLE else value
        if isinstance(exc, CannotBeHadError):
            self._add(f"{why}.")
            words = dict(field.choices).get(value, value[:60])
            shown, why = field.value, f"{f'“{words}”' if words else 'That'} cannot be had: {'; '.join(exc.reasons)}."
        self.conversation = replace(self.conversation, refused={**self.conversation.refused, name: (field.value, shown, why)})

    async def _fill(self, name: str, value: str) -> None:
        saga = await self._saga()
        self._is_filling = True  # what is missing is marked at its field, and need not be asked
        if (field := self._field(name)) is not None and (why := field.why_not(value)):
            raise InvalidInputError(why, field=name)
        draft = await self._page.with_field(self.conversation.draft.known, name, value)
        if saga is not None:
            self.conversation = recalled(self.conversation, await self._service.shown(saga), self._page)
        await self._take(draft, saga)

    async def _understand(self, text: str, saga: Saga | None) -> None:
        tongue, said = tongue_of(text), utterances(text)
        if tongue is not None:
            await self._in_another_tongue(tongue, text, saga)
        elif not said and self._page.model is None:
            self._say(Deed.NOT_TAKEN, f"I did not understand that. {self._page.hint if saga is not None else self._page.opening}")
        elif self._pending is not None and self._pending.news and _NO.match(text):
            self._say(Deed.KEPT, f"Then everything stays as it is. {NOTHING_CHANGED}")
            for each in said[1:]:
                if each.act not in DROPS:
                    await self._told_why_not(self._heed(each, said[1:]))
        elif not said or (saga is None and all(map(is_statement, said))):
            await self._wish(with_corrections(text), saga)
        elif self.conversation.draft.questions and len(said) == 1 and _can_answer(said[0]):
            await self._answered_question(text, said[0], saga)
        elif not (self._supposed and said[0].kind is Kind.WISH and await self._compare(text, saga)):
            for each in said:
                await self._told_why_not(self._heed(each, said))

    async def _in_another_tongue(self, tongue: Tongue, text: str, saga: Saga | None) -> None:
        """Have a model read it; without one, nothing of it is read, and what is open stays open."""
        if self._page.model is not None:
            await self._wish(text, saga)
        else:
            self.conversation = replace(self.conversation, pending=self._pending)
            self._say(Deed.NOT_TAKEN, cannot_read(tongue, self._page.examples[-1] if self._page.examples else self._page.opening))

    async def _heed(self, each: Utterance, said: Sequence[Utterance]) -> None:
        saga = await self._saga()
        match each.kind:
            case Kind.SMALL_TALK:
                if len(said) == 1:
                    self._say(Deed.GREETED, _reply(each.text, self._page.opening if saga is None else _ASK_ANYTHING))
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
                self._add("Which of it do you mean?" if each.text == each.said else "")
            case _:
                await self._statement(each, saga)

    async def _answered_question(self, text: str, said: Utterance, saga: Saga | None) -> None:
        if saga is not None and said.act in DROPS:
            self._leave_out(saga)
            self._say(Deed.KEPT, "Then everything stays as it was.")
        else:
            await self._wish(text, saga)

    async def _statement(self, each: Utterance, saga: Saga | None) -> None:
        if saga is None:
            await self._wish(each.text, saga)
        elif each.kind is Kind.HEARSAY and self._would_be_news(each.text, saga):
            self._ask_whether_it_happened(saga)
        elif each.kind is not Kind.HEARSAY and (news := self._news(each.text, saga)) is not None:
            await self._heard_news(news, saga)
        elif each.kind is Kind.NEWS and status_of(saga) in (SagaStatus.COMMITTED, SagaStatus.RUNNING):
            self._ask_whether_it_happened(saga)
        elif is_another_plan(each.text) and status_of(saga) not in OVER:
            self._say(Deed.NOT_TAKEN, f"{ANEW} Say it there. {NOTHING_CHANGED}")
        elif is_undecided(each.text):
            if not await self._compare(each.text, saga):
                self._say(Deed.KEPT, f"Say so once you know. {NOTHING_CHANGED}")
        else:
            await self._wish(each.text, saga)


def _can_answer(said: Utterance) -> bool:
    return said.kind is Kind.WISH or said.act in _CAN_BE_AN_ANSWER


def _reply(small_talk: str, what_next: str) -> str:
    if _GOODBYE.search(small_talk):
        return "Goodbye."
    return next((reply for words, reply in _REPLIES if words.search(small_talk)), "") + what_next
