"""The chat page: a chat, what the visitor asked for, the plans to choose from, and pictures of the one that is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Final

import gradio as gr

from sagagraph.errors import SagaGraphError
from sagagraph.planning.fields import Part
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import FINAL
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui.chat.conversation import Conversation, Conversations, as_chat, recalled, shown_messages
from sagagraph.ui.chat.fault_panel import FaultPanel
from sagagraph.ui.chat.front_door import FrontDoor
from sagagraph.ui.chat.gallery import Drawn, Gallery
from sagagraph.ui.chat.labels import book_label, cancel_label, choice_in_words, discard_label
from sagagraph.ui.chat.page_model import PageModel, page_model
from sagagraph.ui.chat.request_board import RequestBoard
from sagagraph.ui.chat.talk import Talk
from sagagraph.ui.handlers import Handlers, Stream, Updates
from sagagraph.ui.history import records
from sagagraph.ui.html import cards
from sagagraph.ui.html.front import front_words
from sagagraph.ui.html.templates import CHOOSE, render
from sagagraph.ui.page_state import Shown, kept
from sagagraph.ui.pictures.comparison import comparison
from sagagraph.ui.progress import something_stands, waits_for_the_world
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import Visitor
from sagagraph.ui.wording import in_words, version_words

_TO_TAKE_ALONG: Final = (SagaStatus.AWAITING_APPROVAL, SagaStatus.COMMITTED, SagaStatus.RUNNING)
_TO_THE_CHAT: Final = "() => document.querySelector('#chat').scrollIntoView({ behavior: 'smooth', block: 'nearest' })"
"""The answer may be out of sight, above the plan; the page stays where it is if it is not."""
_TO_THE_WORDS: Final = """() => { const box = document.querySelector("#say textarea, #say input"); box.focus()
  box.placeholder = "Say what should be different …"; box.scrollIntoView({ block: "center" }) }"""
_BREATH_S: Final = 0.25
"""Seconds between two updates of a page: a burst of events is shown in one go."""


class ChatPage:
    """The page's components, and what happens when they are used."""

    def __init__(self, service: Service, conversations: Conversations) -> None:
        self._service = service
        self._conversations = conversations
        self._faults = FaultPanel(service, self._follow, self._on_choose)
        self._front = FrontDoor(service, conversations)
        self._request = RequestBoard(service)
        self._gallery = Gallery()

    # -- components ----------------------------------------------------------------------------------------------------

    def build(self) -> None:
        self._shown = kept()
        self._header = gr.HTML(front_words(self._service), elem_id="front")
        self._again = gr.Button("Look again", elem_id="again", elem_classes="sg-kept")
        with gr.Row(elem_classes="sg-columns"):
            with gr.Column(scale=3, min_width=320):
                self._build_chat()
                self._front.build()
            with gr.Column(scale=3, min_width=320):
                self._request.build()
                self._comparison = gr.HTML(visible=False, elem_id="alternatives", js_on_load=CHOOSE)
                self._gallery.build()
                self._build_actions()
                self._faults.build()

    def build_under_the_hood(self) -> None:
        self._faults.build_desk()

    def _build_chat(self) -> None:
        with gr.Row(elem_classes="sg-tight sg-top"):
            pages = [(each.title, name) for name, each in self._service.pages.items()]
            label = "What is planned"
            self._domain = gr.Radio(
                pages, label=label, show_label=False, container=False, visible=len(pages) > 1, elem_id="domain"
            )
            self._anew = gr.Button("New plan, my plans", size="sm", min_width=100, elem_id="anew")
        self._chatbot = gr.Chatbot(
            render_markdown=False,
            label="Conversation",
            show_label=False,
            height="40vh",
            min_height=120,
            buttons=[],
            placeholder="",
            layout="bubble",
            feedback_options=None,
            elem_id="chat",
        )
        self._status = gr.HTML(elem_id="status")
        self._plan = gr.HTML(elem_id="plan", visible=False)
        self._ways = gr.HTML(elem_id="ways", visible=False, js_on_load=CHOOSE)
        self._files = gr.HTML(elem_id="take-along", visible=False, js_on_load=CHOOSE)
        self._build_decision()
        with gr.Row(elem_classes="sg-tight"):
            self._say = gr.Textbox(
                label="Say what you would like",
                show_label=False,
                placeholder="Say what you would like …",
                container=False,
                scale=6,
                min_width=200,
                max_length=20_000,
                elem_id="say",
                autofocus=True,
            )
            self._send = gr.Button("Send", variant="primary", scale=1, min_width=80, elem_id="send")

    def _build_decision(self) -> None:
        """Build the buttons that decide the plan on the card below; they stay in sight."""
        with gr.Row(elem_classes="sg-tight sg-decision", visible=False, elem_id="decision") as self._decision:
            self._approve = gr.Button("Book", variant="primary", min_width=120, elem_id="approve")
            self._change = gr.Button("Change something", min_width=110, elem_id="change")
            self._later = gr.Button("Not now", min_width=80, elem_id="later")
        self._enough = gr.Button("Take this plan, search no longer", visible=False, elem_id="enough")

    def _build_actions(self) -> None:
        with gr.Row(elem_classes="sg-tight"):
            self._reject = gr.Button("Discard this plan", size="sm", visible=False, min_width=90, elem_id="reject")
            self._cancel = gr.Button("Cancel…", size="sm", visible=False, min_width=90, elem_id="cancel")
            self._resume = gr.Button("Resume", visible=False, min_width=90, elem_id="resume")
        with gr.Group(visible=False) as self._preview_box:
            self._preview = gr.HTML(elem_id="preview")
            with gr.Row(elem_classes="sg-tight"):
                self._undo = gr.Button("Yes, undo it", variant="stop", min_width=110, elem_id="undo")
                self._keep = gr.Button("Keep it", min_width=90, elem_id="keep")

    # -- events --------------------------------------------------------------------------------------------------------

    def listen(self, page: gr.Blocks) -> None:
        outputs = self._outputs()
        on = Handlers(outputs, self._follow, self._refused).on
        hidden = {self._preview_box: gr.update(visible=False)}
        on(page.load, self._on_nothing)
        on(self._again.click, self._on_nothing)
        for listen in (self._say.submit, self._send.click):
            on(listen, self._on_say, [self._say, self._shown], at_once={self._say: ""}, often=True)
        for domain, example, empty in self._front.cards:
            on(example.click, partial(self._on_example, domain))
            on(empty.click, partial(self._on_empty, domain))
            empty.click(None, js="() => document.querySelector('#request').scrollIntoView({ behavior: 'smooth' })")
        for listen in (self._say.submit, self._send.click, self._approve.click):
            listen(None, js=_TO_THE_CHAT)
        on(self._anew.click, self._on_anew, at_once=hidden)
        on(self._domain.input, self._on_domain, [self._domain], at_once=hidden)
        on(self._approve.click, self._on_approve, [self._shown], often=True)
        self._change.click(None, js=_TO_THE_WORDS)
        on(self._later.click, self._on_later)
        on(self._enough.click, self._on_enough, [self._shown])
        on(self._reject.click, self._on_reject, [self._shown])
        on(self._cancel.click, self._on_cancel, [self._shown])
        on(self._undo.click, self._on_undo, [self._shown], at_once=hidden)
        on(self._keep.click, self._on_keep)
        on(self._resume.click, self._on_resume, [self._shown])
        on(self._request.filled, self._on_fill, [self._shown], often=True, of_event=("field", "value", "turn"))
        for choices in (self._comparison, self._ways, self._files):
            on(choices.select, self._on_choose, [self._shown], of_event=("key",))
        self._front.listen(on)
        self._faults.listen(on, outputs, self._shown)

    def _outputs(self) -> list[Any]:
        said = [self._chatbot, self._say, self._domain, self._header, *self._request.outputs]
        plans = [
            self._status,
            self._plan,
            self._ways,
            self._files,
            self._decision,
            self._approve,
            self._enough,
            self._reject,
            self._cancel,
            self._resume,
            self._comparison,
        ]
        preview = [self._preview_box, self._preview]
        return [*said, *plans, *preview, *self._front.outputs, *self._gallery.outputs, *self._faults.outputs, self._shown]

    async def _on_nothing(self, visitor: Visitor) -> None:
        """Show the current state and do nothing else."""

    async def _on_say(self, visitor: Visitor, text: str, shown: str) -> None:
        if text.strip():
            await self._talk(visitor, shown, lambda talk: talk.say(text.strip()))

    async def _on_example(self, domain: str, visitor: Visitor) -> None:
        self._conversations.keep(visitor, Conversation(domain))
        await self._talk(visitor, "", lambda talk: talk.say(self._service.pages[domain].examples[0]))

    async def _on_empty(self, domain: str, visitor: Visitor) -> None:
        self._conversations.keep(visitor, Conversation(domain))

    async def _on_anew(self, visitor: Visitor) -> None:
        await self._on_empty(self._conversations.of(visitor).domain, visitor)

    async def _on_domain(self, visitor: Visitor, domain: str) -> None:
        if domain in self._service.pages:
            self._conversations.open(visitor, domain)

    async def _on_fill(self, visitor: Visitor, field: str, value: str, turn: str, shown: str) -> None:
        await self._talk(visitor, shown, lambda talk: talk.fill(field[:200], value[:4000], turn[:20]))

    async def _on_approve(self, visitor: Visitor, shown: str) -> None:
        await self._clicked(visitor, shown, lambda model: book_label(model) if model.waits else "")
        await self._decide(visitor, shown, approved=True)

    async def _on_later(self, visitor: Visitor) -> None:
        await self._answer(visitor, "The plan stays here until you book it or change it; nothing is booked.")

    async def _on_enough(self, visitor: Visitor, shown: str) -> None:
        if saga_id := Shown.in_text(shown).saga_id:
            self._service.take_sketch(visitor, saga_id)

    async def _on_reject(self, visitor: Visitor, shown: str) -> Updates | None:
        """Reject the plan; where that would undo something, first show what."""
        model = await self._look(visitor)
        if model.shown is not None and something_stands(model.shown):
            return await self._on_cancel(visitor, shown)
        await self._clicked(visitor, shown, lambda model: discard_label(model) if model.waits else "")
        await self._decide(visitor, shown, approved=False)
        return None

    async def _clicked(self, visitor: Visitor, page: str, words: Callable[[PageModel], str]) -> None:
        """Keep in the chat what the page has shown until now, and what was clicked; nothing where it is not there any more or
        was clicked twice.
        """
        clicked = Shown.in_text(page)
        async with self._conversations.turn(visitor):
            model = await self._look(visitor)
            saga_id, plan_hash, before = "", "", model.conversation
            if model.saga is not None and model.shown is not None:
                saga_id, plan_hash = model.saga.id, model.shown.plan.hash or ""
                before = recalled(model.conversation, model.shown, model.page)
            said = words(model) if (saga_id, plan_hash) == (clicked.saga_id, clicked.plan_hash) else ""
            if said and said != model.conversation.last_heard:
                after = before.heard(said)
                await self._keep_said(visitor, model.conversation, after)

    async def _decide(self, visitor: Visitor, page: str, *, approved: bool) -> None:
        shown = Shown.in_text(page)
        if shown.saga_id and shown.plan_hash:
            await self._service.decide(visitor, shown.saga_id, shown.plan_hash, approved=approved)
            await self._settle(visitor, shown.saga_id)

    async def _settle(self, visitor: Visitor, saga_id: str) -> None:
        """Leave out what was still open when the plan was decided."""
        async with self._conversations.turn(visitor):
            model = await self._look(visitor)
            talk = model.conversation
            if model.saga is not None and model.saga.id == saga_id and (talk.is_open or talk.remedies):
                draft = model.page.draft_of(model.saga.request)
                self._conversations.keep(visitor, talk.settled(draft))

    async def _on_choose(self, visitor: Visitor, key: str, shown: str) -> None:
        """Handle a click on a plan, a remedy, an earlier version, a disruption, or what can be done with a link."""
        saga_id, (kind, _, which) = Shown.in_text(shown).saga_id, key.partition(" ")
        if kind == "share" and saga_id:
            await (self._service.share_no_more if which else self._service.share)(visitor, saga_id)
            return
        await self._clicked(visitor, shown, lambda model: choice_in_words(model, kind, which))
        if kind == "plan":
            await self._talk(visitor, shown, lambda talk: talk.choose(which))
        elif kind == "disruption":
            await self._talk(visitor, shown, lambda talk: talk.report(which))
        elif kind in ("remedy", "version") and which.isdecimal():
            await self._talk(visitor, shown, lambda talk: (talk.take_remedy if kind == "remedy" else talk.go_back)(int(which)))

    async def _on_cancel(self, visitor: Visitor, shown: str) -> Updates | None:
        if not (saga_id := Shown.in_text(shown).saga_id):
            return None
        saga = await self._service.saga(visitor, saga_id)
        card = cards.preview_card(await self._service.preview(visitor, saga_id), saga, self._service.pages[saga.domain])
        return {self._preview_box: gr.update(visible=True), self._preview: card}

    async def _on_undo(self, visitor: Visitor, shown: str) -> None:
        if saga_id := Shown.in_text(shown).saga_id:
            await self._clicked(visitor, shown, lambda model: cancel_label(model).partition("…")[0])
            await self._service.cancel(visitor, saga_id)

    async def _on_keep(self, _visitor: Visitor) -> Updates:
        return {self._preview_box: gr.update(visible=False)}

    async def _on_resume(self, visitor: Visitor, shown: str) -> None:
        if saga_id := Shown.in_text(shown).saga_id:
            await self._service.resume(visitor, saga_id)

    async def _talk(self, visitor: Visitor, shown: str, turn: Callable[[Talk], Awaitable[Conversation]]) -> None:
        async with self._conversations.turn(visitor):
            model = await self._look(visitor)  # after a restart, the conversation is first restored from the journal
            keep = partial(self._conversations.keep, visitor)
            talk = Talk(self._service, visitor, model.conversation, Shown.in_text(shown).plan_hash, keep)
            await self._keep_said(visitor, model.conversation, await turn(talk))

    async def _keep_said(self, visitor: Visitor, before: Conversation, after: Conversation) -> None:
        """Keep the conversation, and what was said in it beside the journal that it is about."""
        self._conversations.keep(visitor, after)
        if after.saga_id is not None:
            known = len(before.messages) if before.saga_id == after.saga_id else 0
            await self._service.remember(visitor, after.saga_id, map(asdict, after.messages[known:]))

    async def _answer(self, visitor: Visitor, text: str) -> None:
        async with self._conversations.turn(visitor):
            model = await self._look(visitor)
            await self._keep_said(visitor, model.conversation, model.conversation.answered(text))

    async def _refused(self, visitor: Visitor, why: SagaGraphError) -> None:
        await self._answer(visitor, in_words(why))

    async def _follow(self, visitor: Visitor, *_values: Any) -> Stream:
        drawn = Drawn()
        while True:
            since = self._service.rings
            model = await self._look(visitor)
            yield {**self._rendered(model, drawn), **await self._front.of(model, visitor)}
            if not model.is_busy or model.saga is None:
                return
            await self._service.moved(model.saga.id, since)
            await asyncio.sleep(_BREATH_S)

    async def _look(self, visitor: Visitor) -> PageModel:
        return await page_model(self._service, self._conversations, visitor)

    # -- rendering -----------------------------------------------------------------------------------------------------

    def _rendered(self, model: PageModel, drawn: Drawn) -> Updates:
        saga, page = model.saga, model.page
        messages = shown_messages(model.conversation, model.shown, page)
        shown = Shown() if saga is None or model.shown is None else Shown(saga.id, model.shown.plan.hash or "")
        parts = page.fields(model.conversation.draft)
        opening = {"role": "assistant", "content": page.opening}
        return {
            self._chatbot: [opening, *as_chat(messages)],
            self._domain: page.name,
            self._header: front_words(self._service, model.today),
            self._status: cards.status_card(
                model.shown,
                is_busy=model.is_busy,
                told=model.problem,
                interrupted=model.interrupted,
                foreseen=model.foreseen,
                of=saga.id if saga is not None else "",
                stamp=model.stamp,
            ),
            self._shown: shown.text,
            **self._request.of(model, parts),
            **self._plans_of(model, parts),
            **self._ways_of(model, drawn),
            **self._faults.of(model),
            **self._gallery.of(model, drawn),
        }

    def _taken_along(self, model: PageModel) -> Updates:
        saga = model.saga
        if saga is None or saga.plan.hash is None or model.is_busy or status_of(saga) not in _TO_TAKE_ALONG:
            return {self._files: gr.update(visible=False)}
        names = [each.name for each in model.page.downloads(saga)]
        links = records.take_along(saga.id, names, model.shared, is_tentative=not saga.plan.version)
        return {self._files: gr.update(visible=True, value=links)}

    def _ways_of(self, model: PageModel, drawn: Drawn) -> Updates:
        """Return what is possible instead of what was refused, and the versions to go back to."""
        saga, page = model.saga, model.page
        listed = [each for each in model.versions if saga is not None and not each.is_of(saga) and saga.stage not in FINAL]
        state = ([each.number for each in listed], model.remedies, saga and saga.version)
        if state != drawn.ways:
            told = [(each.number, version_words(page, each, saga)) for each in listed if saga is not None]
            drawn.ways = state
            drawn.ways_card = render("ways", remedies=model.remedies, versions=told) if told or model.remedies else ""
        return {self._ways: gr.update(visible=bool(drawn.ways_card), value=drawn.ways_card)}

    def _plans_of(self, model: PageModel, parts: Sequence[Part]) -> Updates:
        shown, page = model.shown, model.page
        before = None if model.before is None else (model.before.plan, model.before.cost)
        has_plan = shown is not None and shown.plan.content is not None
        asked = None if model.conversation.is_open else parts
        changes = model.saga if shown is not model.saga else None
        plan = ""
        if shown is not None and has_plan:
            plan = cards.plan_card(shown, page, before, model.today, asked=asked, changes_saga=changes)
        updates: Updates = {
            self._plan: gr.update(visible=bool(plan), value=plan),
            **self._taken_along(model),
            self._decision: gr.update(visible=model.waits),
            self._approve: gr.update(value=book_label(model)),
            self._enough: gr.update(visible=model.is_sketch),
            self._reject: gr.update(visible=model.waits, value=discard_label(model)),
            self._cancel: gr.update(visible=_can_cancel(model), value=cancel_label(model)),
            self._resume: gr.update(visible=_can_resume(model)),
        }
        compared = comparison(shown, page) if shown is not None and model.is_asking else ""
        return updates | {self._comparison: gr.update(visible=bool(compared), value=compared)}


def _can_cancel(model: PageModel) -> bool:
    """Return whether it can be cancelled; a first plan that only waits is discarded."""
    if model.saga is None or (model.waits and not model.saga.plan.version and not something_stands(model.saga)):
        return False
    return model.is_open or status_of(model.saga) is SagaStatus.COMMITTED


def _can_resume(model: PageModel) -> bool:
    """Tell whether it is open, nobody is working on it, and it is not merely waiting for an approval or the outside world."""
    if model.saga is None or model.shown is None or model.is_busy or model.saga.stage in FINAL:
        return False
    return status_of(model.shown) is not SagaStatus.AWAITING_APPROVAL and not waits_for_the_world(model.saga)
