"""`trip` and `change`: from a sentence or a file to a plan, its approval, and its booking."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sagagraph.bootstrap import model_of, open_travel
from sagagraph.cli import output
from sagagraph.cli.approval import approved_or_not
from sagagraph.cli.door import PERSON, VERDICT_AGAINST, Door, acting, asked, checked_id, domain_of, interruptible
from sagagraph.cli.files import json_file
from sagagraph.context.model import Model
from sagagraph.domains.travel.amending import wish_of
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.problem import parse_request
from sagagraph.domains.travel.text import PartialRequest, read_request
from sagagraph.domains.travel.text.rewording import reworded
from sagagraph.errors import InvalidInputError
from sagagraph.planning.domain import Infeasible
from sagagraph.saga.engine import Engine
from sagagraph.saga.events import SagaBegun
from sagagraph.saga.status import SagaStatus


async def trip(
    door: Door, text: str | None, request: Path | None, saga_id: str | None, *, approved: bool, plan_only: bool
) -> int:
    if text is not None and request is not None:
        raise InvalidInputError("give a sentence or --request, not both", field="TEXT")
    if plan_only:
        return await _plan_only(door, text, request)
    name = f"trip-{uuid.uuid4().hex[:8]}" if saga_id is None else checked_id(saga_id)
    async with acting(door, "travel") as opened:
        if text is None and request is None and saga_id is not None:
            wanted = await _first_request(opened.engine, saga_id)
        else:
            wanted = await _wanted(opened.domain, text, request, model=model_of(door.settings))
        with interruptible(name):  # before this there is no saga to go on with
            view = await opened.graph.start(name, wanted, approved_by=f"{PERSON}, --yes" if approved else None)
            view = await approved_or_not(door, opened, view)
    return door.show(view)


async def _first_request(engine: Engine, saga_id: str) -> Any:
    """What the saga was begun with, whatever it was changed to since."""
    begun = (await engine.journal(saga_id))[0].event
    return begun.request if isinstance(begun, SagaBegun) else None


async def change(door: Door, saga_id: str, text: str | None, request: Path | None, lost: Sequence[str], *, approved: bool) -> int:
    if (text is not None and request is not None) or (text is None and request is None and not lost):
        raise InvalidInputError(
            "say what is wished otherwise, or give --request FILE.json, one of them; or name what is --lost", field="TEXT"
        )
    with interruptible(saga_id):
        async with acting(door, await domain_of(door, saga_id, only="travel")) as opened:
            before = await opened.engine.load(saga_id)
            wanted = before.request
            if text is not None or request is not None:
                current = PartialRequest.of(wish_of(before.request))
                wanted = await _wanted(opened.domain, text, request, current)
            approver = f"{PERSON}, --yes" if approved else None
            view = await opened.graph.change(saga_id, wanted, by=PERSON, approved_by=approver, lost=lost)
            view = await approved_or_not(door, opened, view)
    code = door.show(view)
    is_unchanged = view.amendments != before.amendments and view.plan_version == before.plan.version
    return VERDICT_AGAINST if is_unchanged and view.status is SagaStatus.COMMITTED else code


async def _plan_only(door: Door, text: str | None, request: Path | None) -> int:
    async with open_travel(door.settings) as travel:
        proposed = await travel.propose(await _wanted(travel, text, request, model=model_of(door.settings)))
    if isinstance(proposed, Infeasible):
        return _infeasible(door, proposed)
    plans = [asdict(each) for each in proposed]
    if door.as_json:
        output.print_json({"plans": plans})
    for number, each in enumerate(plans, 1) if not door.as_json else ():
        output.print_plan(number, each)
    return 0


def _infeasible(door: Door, found: Infeasible) -> int:
    if door.as_json:
        output.print_json({"plans": [], "verdict": "INVALID", **asdict(found)})
    for reason in found.reasons if not door.as_json else ():
        output.stdout.print(f"no plan: {reason}", markup=False)
    return VERDICT_AGAINST


async def _wanted(
    travel: Travel, text: str | None, request: Path | None, known: PartialRequest | None = None, model: Model | None = None
) -> Any:
    """The request as JSON; what is missing is asked for on a terminal, and named otherwise. `known`: what was wished before.

    A sentence that does not make a request by itself is first shown to the model, where there is one.
    """
    today = (await travel.provider.now()).date()
    if request is not None:
        return parse_request(json_file(request, "--request"), cities=travel.cities, today=today).model_dump(mode="json")
    if not (text or "").strip():
        raise InvalidInputError("say where the trip goes, or give --request FILE.json", field="TEXT")
    partial = read_request(text or "", cities=travel.cities, today=today, known=known)
    if model is not None and partial.missing():
        plainer = await reworded(text or "", model=model, cities=travel.cities, today=today)
        if plainer is not None:
            output.stderr.print(f"put in plain words by {model.name}", markup=False)
        partial = plainer or partial
    while (questions := partial.missing()) and sys.stdin.isatty() and sys.stdout.isatty():
        _name_what_was_not_understood(partial)
        answer = await asked(f"{questions[0].text} ")
        if answer is None:
            break
        partial = read_request(answer, cities=travel.cities, today=today, known=partial)
    if questions:
        unread = [f"Not understood: {', '.join(partial.unread)}."] if partial.unread else []
        raise InvalidInputError(" ".join([*(each.text for each in questions), *unread]), field=questions[0].field)
    _name_what_was_not_understood(partial)
    return partial.complete().model_dump(mode="json")


def _name_what_was_not_understood(partial: PartialRequest) -> None:
    if partial.unread:
        output.stderr.print(f"not understood: {', '.join(partial.unread)}", markup=False)
