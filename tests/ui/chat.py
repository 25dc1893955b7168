"""A visitor's chat without a browser, and what is to be read on their page."""

from __future__ import annotations

import itertools

from sagagraph.planning.fields import Field, State
from sagagraph.planning.models.reading import listed
from sagagraph.saga.core.next_steps import status_of
from sagagraph.ui.chat.conversation import Conversations, shown_messages
from sagagraph.ui.chat.page_model import PageModel, page_model
from sagagraph.ui.chat.talk import Talk
from sagagraph.ui.chat.turn import Deed
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import Visitor, guest

_numbers = itertools.count()


class Chat:
    """One visitor's page, as text."""

    def __init__(self, service: Service, page: str = "travel") -> None:
        self.service = service
        self.visitor: Visitor = guest(f"a token that nobody guesses {next(_numbers)}")
        self.conversations = Conversations(page)
        self.deeds: tuple[Deed, ...] = ()

    async def say(self, text: str) -> PageModel:
        return await self._turn(lambda talk: talk.say(text))

    async def begin(self, text: str) -> PageModel:
        """Say it, and wait for nothing."""
        talk = Talk(self.service, self.visitor, self.conversations.of(self.visitor), None)
        self.conversations.keep(self.visitor, await talk.say(text))
        return await self.look()

    async def remove(self, key: str) -> PageModel:
        return await self._turn(lambda talk: talk.fill(key, ""))

    async def reword(self, key: str, text: str) -> PageModel:
        return await self._turn(lambda talk: talk.fill(key, text))

    async def _turn(self, turn) -> PageModel:  # type: ignore[no-untyped-def]
        seen = await self.look()
        talk = Talk(self.service, self.visitor, seen.conversation, seen.shown and seen.shown.plan.hash)
        self.conversations.keep(self.visitor, await turn(talk))
        self.deeds = tuple(talk.deeds)
        return await self.quiet()

    async def quiet(self) -> PageModel:
        while True:
            since = self.service.rings
            scene = await self.look()
            if not scene.is_busy or scene.saga is None:
                return scene
            await self.service.moved(scene.saga.id, since)

    async def look(self) -> PageModel:
        return await page_model(self.service, self.conversations, self.visitor)


def status(scene: PageModel) -> str:
    assert scene.shown is not None
    return status_of(scene.shown).value


def last_said(scene: PageModel) -> str:
    return scene.conversation.messages[-1].text


def all_said(scene: PageModel) -> str:
    return "\n".join(each.text for each in shown_messages(scene.conversation, scene.shown, scene.page))


def plan_hash(scene: PageModel) -> str | None:
    assert scene.shown is not None
    return scene.shown.plan.hash


def key_of(scene: PageModel, text: str) -> str:
    return next(wish.key for wish in scene.conversation.draft.wishes if wish.text == text)


def wishes(scene: PageModel) -> dict[str, str]:
    return {wish.key: wish.text for wish in scene.conversation.draft.wishes}


def board(scene: PageModel) -> dict[str, Field]:
    """The fields by their names, as the page shows them."""
    parts = scene.page.fields(scene.conversation.draft)
    return {each.name: each.refusing(scene.conversation.refused) for each in listed(parts)}


def refused_in(scene: PageModel) -> list[Field]:
    return [each for each in board(scene).values() if each.state is State.REFUSED]
