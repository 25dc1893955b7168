"""Wording: sagas in the words of the people whose plans they are, without any identifier."""

from __future__ import annotations

import re
from typing import Final

from sagagraph.errors import ConflictError, InvalidInputError, SagaGraphError
from sagagraph.planning.page import Page
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import PlanState, Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui.differences import filled
from sagagraph.ui.versions import Version

_LONGEST_TITLE: Final = 110
_SAGA: Final = re.compile(r"\bsaga '[^']*'(?::\s*)?")
_CHANGING: Final = re.compile(r"it is being changed by '[^']*': cancel that first, or resume it|is being changed by '[^']*'")
_WISHED: Final = " wishes for something else"
_CHANGED: Final = "The plan has changed in the meantime: look at it again before you decide."


def names_in(saga: Saga, page: Page) -> dict[str, str]:
    """Return what people call each operation of a saga's plan: the thing that it books, or else what it does."""
    acts = {each.id: page.acts.get(each.spec.action, each.spec.action.replace("_", " ")) for each in saga.in_order()}
    return acts | page.names(saga)


def cause_of(saga: Saga, page: Page) -> str:
    """Say why the plan had to change: what has happened, or what became of one of its parts; empty if it was only wished."""
    cause = saga.plan.disruption
    if cause.endswith(_WISHED):
        told = page.happened(saga.request)
        return told[-1].text if told else ""
    part, _, why = cause.partition(": ")
    return f"{names[part]}: {why}" if part in (names := names_in(saga, page)) else cause


def in_words(exc: SagaGraphError) -> str:
    """Return the message for somebody on a page, who knows neither field names nor hashes."""
    if isinstance(exc, ConflictError):
        return _CHANGED
    said = str(exc).removeprefix(f"{exc.field}: ") if isinstance(exc, InvalidInputError) else str(exc)
    said = _SAGA.sub("this plan ", _CHANGING.sub("a change of it waits for your decision", said)).strip()
    return f"{said[:1].upper()}{said[1:]}"


def title(saga: Saga, page: Page) -> str:
    """Return the request in a few words."""
    words = page.sentence(saga.request).rstrip(".")
    return words if len(words) <= _LONGEST_TITLE else f"{words[: _LONGEST_TITLE - 1]}…"


def version_words(page: Page, version: Version, saga: Saga) -> str:
    """Return what an earlier version of the saga's plan costs, and what was asked for then instead."""
    parts = [page.fields(page.draft_of(each)) for each in (saga.request, version.request)]
    reasons = version.plan.reasons[:1] if isinstance(version.plan, PlanState) else ()
    told = list(filled(*parts)) or map(str, reasons)
    return "; ".join(filter(None, (page.price(version.plan.content, version.plan.cost), *told))) or "another plan"


def next_step(saga: Saga, page: Page) -> str:
    """Say where a plan stands, and what its owner can do next."""
    price = page.price(saga.plan.content, saga.plan.cost)
    match status_of(saga):
        case SagaStatus.AWAITING_APPROVAL:
            return f"{f'{price}, waits' if price else 'Waits'} for your decision: look at it, then “{page.go_ahead}”"
        case SagaStatus.PLANNING:
            return "Is being planned"
        case SagaStatus.RUNNING:
            return page.under_way or "Is being booked"
        case SagaStatus.COMMITTED:
            return f"Done{f' for {price}' if price else ''}: look at it, change it or cancel it"
        case SagaStatus.HELD | SagaStatus.STUCK:
            return "Needs you: something is open that only a person can settle"
        case SagaStatus.INFEASIBLE:
            return "Not possible: say what may be different"
        case _:
            return "Over: nothing of it is in effect"
