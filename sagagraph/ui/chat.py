"""The page on which things are planned: a chat, what was wished, the plans to choose from, and pictures of the one shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import gradio as gr

from sagagraph.errors import SagaGraphError
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import FINAL
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui import cards
from sagagraph.ui.conversation import Conversation, Conversations, Talk, as_chat, shown_messages
from sagagraph.ui.gallery import Drawn, Gallery
from sagagraph.ui.gate import visitor_in
from sagagraph.ui.keeping import Shown, kept
from sagagraph.ui.narration import something_stands, waits_for_the_world
from sagagraph.ui.scene import Scene, scene_of
from sagagraph.ui.service import Service
from sagagraph.ui.trouble import Trouble
from sagagraph.ui.visitors import Visitor

_MOST_WISHES: Final = 24
_MOST_ALTERNATIVES: Final = 3
_BREATH_S: Final = 0.25
"""Between two updates of a page: many events at once are shown together."""

Updates = dict[Any, Any]
Stream = AsyncIterator[Updates]


class Chat:
    """Its components, and what happens when they are used. Every handler streams until nothing is under way any more."""

    def __init__(self, service: Service, conversations: Conversations) -> None:
        self._service = service
        self._conversations = conversations
        self._trouble = Trouble(service, self._follow)
        self._gallery = Gallery(self._look)

    # -- components ----------------------------------------------------------------------------------------------------

    def build(self, page: gr.Blocks, tab: gr.Tab) -> None:
        self._shown = kept()
        with gr.Row(elem_classes="sg-columns"):
            with gr.Column(scale=3, min_width=320):
                self._build_chat()
                self._build_wishes()
            with gr.Column(scale=3, min_width=320):
                self._build_plans()
                self._gallery.build()
                self._trouble.build()
        self._listen(page, tab)

    def _build_chat(self) -> None:
        self._chatbot = gr.Chatbot(
            render_markdown=False,
            show_label=False,
            height="52vh",
            min_height=300,
            buttons=[],
            placeholder="",
            layout="bubble",
            feedback_options=None,
            elem_id="chat",
        )
        with gr.Row(elem_classes="sg-tight"):
            self._say = gr.Textbox(
                show_label=False,
                placeholder="Say what you wish …",
                container=False,
                scale=6,
                min_width=200,
                max_length=4000,
                elem_id="say",
                autofocus=True,
            )
            self._send = gr.Button("Send", variant="primary", scale=1, min_width=80, elem_id="send")
        with gr.Row(elem_classes="sg-tight"):
            subjects = [(each.title, name) for name, each in self._service.subjects.items()]
            self._subject = gr.Radio(subjects, show_label=False, container=False, visible=len(subjects) > 1, elem_id="subject")
            self._anew = gr.Button("Begin anew", size="sm", min_width=100, elem_id="anew")
        first = next(iter(self._service.subjects.values()))
        self._examples = gr.Dataset(
            components=[gr.Textbox(visible=False)],
            samples=[[each] for each in first.examples],
            label="For example",
            elem_id="examples",
        )

    def _build_wishes(self) -> None:
        self._wishes: list[tuple[gr.Row, gr.Textbox, gr.Button, gr.Textbox]] = []
        with gr.Accordion(
            "What you have said (change it here, or in the chat)", open=True, visible=False, elem_id="wishes"
        ) as box:
            for number in range(_MOST_WISHES):
                with gr.Row(visible=False, elem_classes="sg-wish") as row:
                    key = kept()
                    text = gr.Textbox(
                        container=False, scale=5, min_width=160, max_lines=1, elem_id=f"wish-{number}", interactive=True
                    )
                    drop = gr.Button("✕", scale=0, min_width=44, elem_id=f"drop-{number}")
                self._wishes.append((row, text, drop, key))
        self._wish_box = box

    def _build_plans(self) -> None:
        self._status = gr.HTML(elem_id="status")
        self._plan = gr.HTML(elem_id="plan", visible=False)
        with gr.Row(elem_classes="sg-tight"):
            self._approve = gr.Button("Approve", variant="primary", visible=False, min_width=120, elem_id="approve")
            self._reject = gr.Button("Reject", visible=False, min_width=90, elem_id="reject")
            self._cancel = gr.Button("Cancel…", variant="stop", visible=False, min_width=90, elem_id="cancel")
            self._resume = gr.Button("Resume", visible=False, min_width=90, elem_id="resume")
        with gr.Group(visible=False) as self._preview_box:
            self._preview = gr.HTML(elem_id="preview")
            with gr.Row(elem_classes="sg-tight"):
                self._undo = gr.Button("Yes, undo it", variant="stop", min_width=110, elem_id="undo")
                self._keep = gr.Button("Keep it", min_width=90, elem_id="keep")
        self._alternatives: list[tuple[gr.HTML, gr.Button, gr.Textbox]] = []
        with gr.Accordion("Other plans", open=False, visible=False, elem_id="alternatives") as self._others:
            for number in range(_MOST_ALTERNATIVES):
                card, plan_hash = gr.HTML(visible=False), kept()
                choose = gr.Button("Take this one instead", size="sm", visible=False, elem_id=f"choose-{number}")
                self._alternatives.append((card, choose, plan_hash))

    # -- events --------------------------------------------------------------------------------------------------------

    def _listen(self, page: gr.Blocks, tab: gr.Tab) -> None:
        outputs = self._outputs()

        def on(listen: Any, handle: Callable[..., Stream], inputs: list[Any], *, often: bool = False) -> None:
            mode = "multiple" if often else "once"
            listen(
                handle,
                inputs,
                outputs,
                api_visibility="private",
                concurrency_limit=None,
                show_progress="hidden",
                trigger_mode=mode,
            )

        on(page.load, self._on_load, [])
        on(tab.select, self._on_load, [])
        on(self._say.submit, self._on_say, [self._say, self._shown], often=True)
        on(self._send.click, self._on_say, [self._say, self._shown], often=True)
        on(self._examples.click, self._on_example, [self._examples])
        on(self._anew.click, self._on_anew, [])
        on(self._subject.input, self._on_subject, [self._subject])
        on(self._approve.click, self._on_approve, [self._shown], often=True)
        on(self._reject.click, self._on_reject, [self._shown])
        on(self._cancel.click, self._on_cancel, [self._shown])
        on(self._undo.click, self._on_undo, [self._shown])
        on(self._keep.click, self._on_keep, [])
        on(self._resume.click, self._on_resume, [self._shown])
        for _row, text, drop, key in self._wishes:
            on(text.submit, self._on_reword, [key, text, self._shown])
            on(drop.click, self._on_drop, [key, self._shown])
        self._trouble.listen(on, self._shown)
        self._gallery.listen(on)
        for _card, choose, plan_hash in self._alternatives:
            on(choose.click, self._on_choose, [self._shown, plan_hash])

    def _outputs(self) -> list[Any]:
        wishes = [part for wish in self._wishes for part in wish]
        offers = [part for offer in self._alternatives for part in offer]
        said = [self._chatbot, self._say, self._subject, self._examples, self._wish_box, *wishes]
        plans = [self._status, self._plan, self._approve, self._reject, self._cancel, self._resume, self._others, *offers]
        preview = [self._preview_box, self._preview]
        return [*said, *plans, *preview, *self._gallery.outputs, *self._trouble.outputs, self._shown]

    async def _on_load(self, request: gr.Request) -> Stream:
        async for updates in self._follow(visitor_in(request.headers)):
            yield updates

    async def _on_say(self, text: str, shown: str, request: gr.Request) -> Stream:
        visitor = visitor_in(request.headers)
        if text.strip():
            yield {self._say: ""}
            await self._talk(visitor, Shown.in_text(shown), lambda talk: talk.say(text.strip()))
        async for updates in self._follow(visitor):
            yield updates

    async def _on_example(self, row: list[str], request: gr.Request) -> Stream:
        visitor = visitor_in(request.headers)
        await self._talk(visitor, Shown(), lambda talk: talk.say(row[0]))
        async for updates in self._follow(visitor):
            yield updates

    async def _on_anew(self, request: gr.Request) -> Stream:
        visitor = visitor_in(request.headers)
        conversation = self._conversations.of(visitor)
        self._conversations.keep(visitor, Conversation(conversation.subject))
        async for updates in self._follow(visitor):
            yield updates

    async def _on_subject(self, subject: str, request: gr.Request) -> Stream:
        visitor = visitor_in(request.headers)
        if subject in self._service.subjects:
            self._conversations.keep(visitor, Conversation(subject))
        async for updates in self._follow(visitor):
            yield updates

    async def _on_reword(self, key: str, text: str, shown: str, request: gr.Request) -> Stream:
        visitor = visitor_in(request.headers)
        if await self._is_wished(visitor, key):
            await self._talk(visitor, Shown.in_text(shown), lambda talk: talk.reword(key, text))
        async for updates in self._follow(visitor):
            yield updates

    async def _on_drop(self, key: str, shown: str, request: gr.Request) -> Stream:
        visitor = visitor_in(request.headers)
        if await self._is_wished(visitor, key):
            await self._talk(visitor, Shown.in_text(shown), lambda talk: talk.remove(key))
        async for updates in self._follow(visitor):
            yield updates

    async def _on_approve(self, shown: str, request: gr.Request) -> Stream:
        async for updates in self._decided(shown, request, approved=True):
            yield updates

    async def _on_reject(self, shown: str, request: gr.Request) -> Stream:
        """Where that would undo something, what it would undo is shown first."""
        scene = await self._look(visitor_in(request.headers))
        undoes = scene.shown is not None and something_stands(scene.shown)
        async for updates in self._on_cancel(shown, request) if undoes else self._decided(shown, request, approved=False):
            yield updates

    async def _decided(self, page: str, request: gr.Request, *, approved: bool) -> Stream:
        visitor, shown = visitor_in(request.headers), Shown.in_text(page)
        if shown.saga_id and shown.plan_hash:
            await self._attempt(visitor, self._service.decide(visitor, shown.saga_id, shown.plan_hash, approved=approved))
        async for updates in self._follow(visitor):
            yield updates

    async def _on_choose(self, shown: str, plan_hash: str, request: gr.Request) -> Stream:
        visitor, saga_id = visitor_in(request.headers), Shown.in_text(shown).saga_id
        if saga_id and plan_hash:
            await self._attempt(visitor, self._service.choose(visitor, saga_id, plan_hash))
        async for updates in self._follow(visitor):
            yield updates

    async def _on_cancel(self, shown: str, request: gr.Request) -> Stream:
        visitor, saga_id = visitor_in(request.headers), Shown.in_text(shown).saga_id
        if saga_id:
            try:
                card = cards.preview_card(await self._service.preview(visitor, saga_id))
            except SagaGraphError as exc:
                await self._answer(visitor, str(exc))
            else:
                yield {self._preview_box: gr.update(visible=True), self._preview: card}
                return
        async for updates in self._follow(visitor):
            yield updates

    async def _on_undo(self, shown: str, request: gr.Request) -> Stream:
        visitor, saga_id = visitor_in(request.headers), Shown.in_text(shown).saga_id
        yield {self._preview_box: gr.update(visible=False)}
        if saga_id:
            await self._attempt(visitor, self._service.cancel(visitor, saga_id))
        async for updates in self._follow(visitor):
            yield updates

    async def _on_keep(self) -> Stream:
        yield {self._preview_box: gr.update(visible=False)}

    async def _on_resume(self, shown: str, request: gr.Request) -> Stream:
        visitor, saga_id = visitor_in(request.headers), Shown.in_text(shown).saga_id
        if saga_id:
            await self._attempt(visitor, self._service.resume(visitor, saga_id))
        async for updates in self._follow(visitor):
            yield updates

    async def _is_wished(self, visitor: Visitor, key: str) -> bool:
        scene = await self._look(visitor)
        return any(wish.key == key for wish in scene.conversation.draft.wishes)

    async def _talk(self, visitor: Visitor, shown: Shown, turn: Callable[[Talk], Awaitable[Conversation]]) -> None:
        async with self._conversations.turn(visitor):
            scene = await self._look(visitor)  # after a restart the conversation is taken up from the journal first
            talk = Talk(self._service, visitor, scene.conversation, shown.plan_hash)
            self._conversations.keep(visitor, await turn(talk))

    async def _attempt(self, visitor: Visitor, asked: Awaitable[None]) -> None:
        try:
            await asked
        except SagaGraphError as exc:
            await self._answer(visitor, str(exc))

    async def _answer(self, visitor: Visitor, text: str) -> None:
        async with self._conversations.turn(visitor):
            scene = await self._look(visitor)
            self._conversations.keep(visitor, scene.conversation.answered(text))

    async def _follow(self, visitor: Visitor) -> Stream:
        drawn = Drawn()
        while True:
            scene = await self._look(visitor)
            yield self._rendered(scene, drawn)
            if not scene.is_busy or scene.saga is None:
                return
            await self._service.moved(scene.saga.id)
            await asyncio.sleep(_BREATH_S)

    async def _look(self, visitor: Visitor) -> Scene:
        return await scene_of(self._service, self._conversations, visitor)

    # -- rendering -----------------------------------------------------------------------------------------------------

    def _rendered(self, scene: Scene, drawn: Drawn) -> Updates:
        saga = scene.saga
        messages = shown_messages(scene.conversation, scene.shown, scene.subject)
        shown = Shown() if saga is None or scene.shown is None else Shown(saga.id, scene.shown.plan.hash or "")
        opening = {"role": "assistant", "content": scene.subject.opening}
        return {
            self._chatbot: [opening, *as_chat(messages)],
            self._subject: scene.subject.name,
            self._examples: gr.update(visible=not messages, samples=[[each] for each in scene.subject.examples]),
            self._status: cards.status_card(scene.shown, is_busy=scene.is_busy, told=scene.problem),
            self._shown: shown.text,
            **self._wishes_of(scene),
            **self._plans_of(scene),
            **self._trouble.of(scene),
            **self._gallery.of(scene, drawn),
        }

    def _wishes_of(self, scene: Scene) -> Updates:
        happened = scene.subject.happened(scene.saga.request) if scene.saga is not None else ()
        wishes = (*scene.conversation.draft.wishes, *happened)
        updates: Updates = {self._wish_box: gr.update(visible=bool(wishes))}
        for number, (row, text, drop, key) in enumerate(self._wishes):
            wish = wishes[number] if number < len(wishes) else None
            updates[row] = gr.update(visible=wish is not None)
            if wish is not None:
                updates |= {text: wish.text, key: wish.key}
                updates[drop] = gr.update(visible=wish.removable)
        return updates

    def _plans_of(self, scene: Scene) -> Updates:
        saga, shown = scene.saga, scene.shown
        status = None if shown is None else status_of(shown)
        is_open = saga is not None and saga.stage not in FINAL
        has_question = bool(scene.conversation.draft.questions)  # then the plan does not keep all that was said
        is_asking = status is SagaStatus.AWAITING_APPROVAL and not scene.is_busy and not has_question
        plan = cards.plan_card(shown, scene.subject) if shown is not None and shown.plan.content is not None else ""
        updates: Updates = {
            self._plan: gr.update(visible=bool(plan), value=plan),
            self._approve: gr.update(visible=is_asking),
            self._reject: gr.update(visible=is_asking),
            self._cancel: gr.update(visible=is_open or status is SagaStatus.COMMITTED),
            self._resume: gr.update(visible=_can_resume(scene)),
        }
        offered = shown.plan.alternatives[:_MOST_ALTERNATIVES] if shown is not None and is_asking else ()
        updates[self._others] = gr.update(visible=bool(offered))
        for number, (card, choose, plan_hash) in enumerate(self._alternatives):
            there = number < len(offered)
            value = cards.alternative_card(offered[number], scene.subject) if there else ""
            updates |= {card: gr.update(visible=there, value=value), choose: gr.update(visible=there)}
            updates[plan_hash] = offered[number]["plan_hash"] if there else ""
        return updates


def _can_resume(scene: Scene) -> bool:
    """It is open, nobody is at it here, and it does not just wait for an approval or for the world."""
    if scene.saga is None or scene.shown is None or scene.is_busy or scene.saga.stage in FINAL:
        return False
    return status_of(scene.shown) is not SagaStatus.AWAITING_APPROVAL and not waits_for_the_world(scene.saga)
