"""Records: a saga's journal, its projections and its verdicts as tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup

from sagagraph.money import cost_text
from sagagraph.planning.page import Page
from sagagraph.saga.core.events import Entry, OperationRejected, OperationSucceeded, PlanJudged
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.maintenance.replay import Replay
from sagagraph.saga.engine.views.document import describe, plain
from sagagraph.saga.stores.projections import Projection
from sagagraph.ui import wording
from sagagraph.ui.chat.page_model import stands_alone
from sagagraph.ui.html.cards import badge, moment_text, note
from sagagraph.ui.html.templates import render, table
from sagagraph.ui.server.routes.api import PREFIX

_LONGEST_VALUE: Final = 20_000

STATE_TABLES: Final = (
    ("S_A: what the saga is about", "application_state", ("entity_type", "entity", "state", "version", "plan_version", "data")),
    ("S_O: operations", "operation_state", ("operation", "action", "kind", "status", "attempts", "idempotency_key", "output")),
    ("S_O: compensations", "compensation_state", ("operation", "inverse", "state", "prerequisites", "attempts", "output")),
    ("S_O: decisions", "decisions", ("journal_version", "subject", "decision", "decided_by", "reasons")),
    ("S_D: dependencies", "dependency_state", ("operation", "depends_on", "kind", "condition", "status", "plan_version")),
    ("S_D: constraints", "constraint_evaluations", ("journal_version", "subject", "rule", "holds", "message", "decided_by")),
)
"""Heading, rows of the projection, and the columns that are shown."""


def title(saga: Saga, page: Page | None) -> str:
    """Return the request in a few words; for a saga that changes or undoes another, that saga's id."""
    return saga.id if page is None or not stands_alone(saga) else wording.title(saga, page)


def saga_list(sagas: Sequence[tuple[Saga, str]]) -> Markup:
    """Return the visitor's sagas with their titles."""
    if not sagas:
        return note("You have no sagas yet: plan something.")
    rows = [
        (
            Markup("{}<code>{}</code>").format(words, saga.id),
            badge(status_of(saga)),
            _moment(saga.begun_at),
            cost_text(saga.plan.cost),
        )
        for saga, words in sagas
    ]
    return table(("saga", "status", "begun", "cost"), rows)


def _moment(at: float) -> Markup:
    return Markup('<span class="sg-moment">{}</span>').format(moment_text(at))


def journal_table(entries: Iterable[Entry]) -> Markup:
    rows = [(_moment(each.at), describe(each), _json(each.event)) for each in entries]
    return table(("when", "what", "all of it"), rows)


def state_tables(projection: Projection) -> Markup:
    return render(
        "state", tables=[(heading, columns, _rows(projection, name, columns)) for heading, name, columns in STATE_TABLES]
    )


def _rows(projection: Projection, name: str, columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [tuple(_cell(getattr(row, column)) for column in columns) for row in getattr(projection, name)]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple | list) and all(isinstance(each, str) for each in value):
        return "; ".join(value)
    return _json(value) if isinstance(value, dict | list | tuple) else str(value)


def _json(value: Any) -> Markup:
    text = json.dumps(plain(value), ensure_ascii=False, indent=1)[:_LONGEST_VALUE]
    return Markup("<details><summary>…</summary><pre>{}</pre></details>").format(text)


@dataclass(frozen=True, slots=True)
class Judgement:
    version: int
    of: str
    verdict: Any
    shown: Any
    """Facts other than the request by which the validator judged."""


def judgements(entries: Iterable[Entry]) -> tuple[Judgement, ...]:
    found: list[Judgement] = []
    for entry in entries:
        event = entry.event
        if isinstance(event, PlanJudged):
            found.append(Judgement(entry.version, f"plan {event.plan_hash}", event.verdict, event.shown))
        elif isinstance(event, OperationSucceeded | OperationRejected):
            found += [Judgement(entry.version, event.operation, verdict, event.output) for verdict in event.verdicts]
    return tuple(found)


def verdict_table(found: Sequence[Judgement]) -> Markup:
    if not found:
        return note("Nothing was judged yet.")
    rows = [(str(each.version), each.of, *_verdict_cells(each.verdict), _json(each.shown)) for each in found]
    return table(("version", "of", "verdict", "why", "validator", "what it was shown"), rows)


def _verdict_cells(verdict: Any) -> tuple[str, str, str]:
    said = verdict if isinstance(verdict, dict) else {}
    why = [said.get("reason", ""), *(str(each.get("message", "")) for each in said.get("violations", ()))]
    certificate = said.get("certificate") or {}
    by = f"{certificate.get('validator', '')} v{certificate.get('version', '')}, {certificate.get('slice_tokens', '?')} tokens"
    return str(said.get("verdict", "")), "; ".join(filter(None, why)), by if certificate else ""


def replay_card(replayed: Replay) -> Markup:
    same = "no difference" if not replayed.differences else f"{len(replayed.differences)} differences"
    told = f"{replayed.versions} versions folded again, {replayed.validators} verdicts made again: {same}"
    rows = [(str(each.version), each.what, _json(each.journal), _json(each.replay)) for each in replayed.differences]
    found = table(("version", "what", "journal", "replay"), rows) if rows else ""
    return render("replay", told=told, found=found, unchecked=replayed.unchecked)


def download_links(saga_id: str, names: Iterable[str]) -> Markup:
    return render("downloads", folder=_folder(saga_id), names=names)


def take_along(saga_id: str, names: Iterable[str], shared: str, *, is_tentative: bool) -> Markup:
    """Return the ways in which a plan leaves the page: on paper, as files, and at the path where others see it, if they can."""
    return render("take_along", folder=_folder(saga_id), names=names, shared=shared, is_tentative=is_tentative)


def _folder(saga_id: str) -> str:
    return f"{PREFIX}/sagas/{quote(saga_id, safe='')}/files"
