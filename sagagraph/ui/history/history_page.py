"""The history page: a visitor's sagas, each with its journal, states, verdicts, and every version of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gradio as gr
from markupsafe import Markup

from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.planning.page import Page
from sagagraph.saga.core.doubt.remedies import in_words, remedy_of
from sagagraph.saga.core.events import Entry, Resolution
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import FINAL, Operation, Saga
from sagagraph.saga.engine.views.document import describe
from sagagraph.saga.stores.projections import project
from sagagraph.ui.chat.conversation import Conversations
from sagagraph.ui.chat.page_model import reopen
from sagagraph.ui.handlers import Handlers, Stream, Updates
from sagagraph.ui.history import records
from sagagraph.ui.html import cards
from sagagraph.ui.page_state import kept
from sagagraph.ui.pictures.dependencies import dependency_graph
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import Visitor

_MOST_SHOWN = 300
"""Journal lines shown on a page; the whole journal can be downloaded."""


class HistoryPage:
    def __init__(self, service: Service, conversations: Conversations) -> None:
        self._service = service
        self._conversations = conversations

    # -- components ----------------------------------------------------------------------------------------------------

    def build(self, hood: gr.Accordion) -> None:
        self._opened = kept()
        with gr.Row(elem_classes="sg-tight"):
            self._pick = gr.Dropdown([], label="Saga", scale=5, min_width=300, elem_id="pick", filterable=False)
            self._refresh = gr.Button("Refresh", size="sm", scale=0, min_width=90, elem_id="refresh")
        self._list = gr.HTML(elem_id="saga-list")
        with gr.Column(visible=False, elem_id="record") as self._record:
            self._build_version()
            self._build_actions()
            with gr.Tabs():
                with gr.Tab("Steps"):
                    self._graph = gr.HTML(elem_id="record-graph")
                with gr.Tab("Journal"):
                    self._journal = gr.HTML(elem_id="journal")
                with gr.Tab("State"):
                    self._state = gr.HTML(elem_id="state")
                with gr.Tab("Verdicts"):
                    self._verdicts = gr.HTML(elem_id="verdicts")
                    self._check = gr.Button("Fold and judge again", size="sm", elem_id="replay")
                    self._replay = gr.HTML(elem_id="replayed")
        self._listen(hood)

    def _build_version(self) -> None:
        self._version = gr.Slider(1, 2, step=1, value=1, label="As it was at version", elem_id="version")
        self._at = gr.HTML(elem_id="at-version")
        self._files = gr.HTML(elem_id="files")

    def _build_actions(self) -> None:
        with gr.Row(elem_classes="sg-tight"):
            self._open = gr.Button("Open in the chat", size="sm", min_width=120, elem_id="open-in-chat")
            self._resume = gr.Button("Resume", size="sm", min_width=90, elem_id="record-resume")
        with gr.Accordion("Resolve what is held", open=True, visible=False, elem_id="resolve-box") as self._resolve_box:
            with gr.Row(elem_classes="sg-tight"):
                self._held = gr.Dropdown([], label="Operation", min_width=160, elem_id="held")
                ways = [each.value for each in Resolution]
                self._way = gr.Radio(ways, label="What a person found out", min_width=200, elem_id="way")
                self._output = gr.Textbox(label="What it returned, as JSON, if it landed", min_width=200, elem_id="output")
            self._resolve = gr.Button("Settle it", size="sm", elem_id="resolve")
        self._told = gr.HTML(elem_id="told")

    # -- events --------------------------------------------------------------------------------------------------------

    def _listen(self, hood: gr.Accordion) -> None:
        outputs = [self._pick, self._list, self._record, self._version, self._at, self._files, self._resume, self._resolve_box]
        outputs += [self._held, self._told, self._graph, self._journal, self._state, self._verdicts, self._replay, self._opened]
        on = Handlers(outputs, self._follow, self._refused).on
        for listen in (hood.expand, self._refresh.click):
            on(listen, self._refreshed, [self._opened])
        on(self._pick.input, self._record_of, [self._pick])
        on(self._version.release, self._record_of, [self._opened, self._version])
        on(self._open.click, self._on_open, [self._opened])
        on(self._resume.click, self._on_resume, [self._opened])
        on(self._resolve.click, self._on_resolve, [self._opened, self._held, self._way, self._output])
        on(self._check.click, self._on_check, [self._opened])

    async def _refreshed(self, visitor: Visitor, saga_id: str) -> Updates:
        saga_id = saga_id or self._conversations.of(visitor).saga_id or ""
        return {**await self._listed(visitor, saga_id), **await self._record_of(visitor, saga_id)}

    async def _on_open(self, visitor: Visitor, saga_id: str) -> Updates | None:
        if not saga_id:
            return None
        saga = await self._service.saga(visitor, saga_id)
        await reopen(self._service, self._conversations, visitor, saga)
        return {self._told: cards.note("It is open in the chat now.")}

    async def _on_resume(self, visitor: Visitor, saga_id: str) -> None:
        if saga_id:
            await self._service.resume(visitor, saga_id)

    async def _on_resolve(self, visitor: Visitor, saga_id: str, operation: str | None, way: str | None, output: str) -> None:
        if saga_id and operation:
            said, returned = _found_out(way, output)
            await self._service.resolve(visitor, saga_id, operation, said, returned)

    async def _on_check(self, visitor: Visitor, saga_id: str) -> Updates | None:
        return {self._replay: records.replay_card(await self._service.replay(visitor, saga_id))} if saga_id else None

    async def _refused(self, _visitor: Visitor, why: SagaGraphError) -> Updates:
        return {self._told: cards.problem(str(why))}

    async def _follow(self, visitor: Visitor, saga_id: str, *_values: Any) -> Stream:
        since = self._service.rings
        while saga_id and self._service.is_busy(saga_id):
            yield await self._record_of(visitor, saga_id)
            await self._service.moved(saga_id, since)
            since = self._service.rings
        yield await self._refreshed(visitor, saga_id)

    # -- rendering -----------------------------------------------------------------------------------------------------

    async def _listed(self, visitor: Visitor, saga_id: str) -> Updates:
        sagas = await self._service.sagas(visitor)
        told = [(saga, records.title(saga, self._service.pages.get(saga.domain))) for saga in sagas]
        choices = [(f"{words} · {status_of(saga).value}", saga.id) for saga, words in told]
        return {self._list: records.saga_list(told), self._pick: gr.update(choices=choices, value=saga_id or None)}

    async def _record_of(self, visitor: Visitor, saga_id: str | None, version: int | None = None) -> Updates:
        if not saga_id:
            return {self._record: gr.update(visible=False)}
        try:
            entries = await self._service.journal(visitor, saga_id)
        except SagaGraphError as exc:
            return {self._record: gr.update(visible=False), self._list: cards.problem(str(exc))}
        at = len(entries) if version is None else max(1, min(version, len(entries)))
        now = fold(saga_id, entries)
        then = now if at == len(entries) else fold(saga_id, entries[:at])
        return {**self._at_version(then, entries, at), **await self._as_it_is(visitor, now), self._opened: saga_id}

    def _at_version(self, saga: Saga, entries: tuple[Entry, ...], at: int) -> Updates:
        seen = entries[:at]
        page = self._service.pages.get(saga.domain)
        card = cards.status_card(saga)
        plan = cards.plan_card(saga, page) if page and saga.plan.content is not None else ""
        return {
            self._version: gr.update(maximum=max(len(entries), 2), value=at),
            self._at: Markup().join((card, cards.note(describe(seen[-1])), plan)),
            self._graph: dependency_graph(_operations(saga, page)),
            self._journal: records.journal_table(seen[-_MOST_SHOWN:]),
            self._state: records.state_tables(project(saga.id, seen)),
            self._verdicts: records.verdict_table(records.judgements(seen)),
            self._replay: "",
        }

    async def _as_it_is(self, visitor: Visitor, saga: Saga) -> Updates:
        held = [each.id for each in saga.in_order() if each.waits_for_person]
        names = [each.name for each in await self._service.downloads(visitor, saga.id)]
        problem = self._service.problem(saga.id)
        return {
            self._record: gr.update(visible=True),
            self._files: records.download_links(saga.id, names),
            self._resume: gr.update(visible=saga.stage not in FINAL),
            self._resolve_box: gr.update(visible=bool(held)),
            self._held: gr.update(choices=held, value=held[0] if held else None),
            self._told: Markup().join((cards.problem(problem) if problem else "", *_remedies(saga))),
        }


def _remedies(saga: Saga) -> Iterator[Markup]:
    """Yield what would settle each operation that is held in doubt."""
    for each in saga.in_order():
        if (remedy := remedy_of(saga, each)) is not None:
            yield cards.note(f"{each.id}:{in_words(remedy)}")


def _operations(saga: Saga, page: Page | None) -> tuple[Operation, ...]:
    """Return the plan's operations; before a plan is accepted, those that it would become."""
    if len(saga.operations) or page is None or saga.plan.content is None:
        return tuple(saga.in_order())
    specs = page.domain.workflow(saga.plan.content)
    return tuple(Operation(spec, ordinal, 0) for ordinal, spec in enumerate(specs))


def _found_out(way: str | None, output: str) -> tuple[Resolution, Any]:
    """Return what a person reports about an operation; its result is never made up."""
    if way is None:
        raise InvalidInputError("say what you found out: it landed, is absent, has failed, or is compensated", field="way")
    said = Resolution(way)
    if said is Resolution.LANDED and not output.strip():
        raise InvalidInputError(
            "say what it returned, as JSON: other operations use it (null, if it returns nothing)", field="output"
        )
    try:
        return said, json.loads(output) if output.strip() else None
    except ValueError as exc:
        raise InvalidInputError(f"is not JSON: {exc}", field="output") from exc
