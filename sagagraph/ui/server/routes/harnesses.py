"""Harnesses over REST: judged, explained and run; frozen and changed, and limits overridden, by people who sign for
it.

What anybody sends is limited in size and seconds, and judged in a separate process.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, date, datetime
from functools import partial
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Request
from pydantic import Field

from sagagraph.context.quoting import new_nonce
from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.registry import model_of, open_engine
from sagagraph.settings import Settings
from sagagraph.ui.server.bounds import bounded
from sagagraph.ui.server.routes.api import PREFIX, Body, Json
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import Visitor, visitor_of

T = TypeVar("T")
_MOST_SECONDS: Final = 30.0
_FIELD: Final = "harness"
router = APIRouter()


class HarnessFile(Body):
    """`harness`: the file's text, in YAML."""

    harness: str = Field(min_length=1, max_length=100_000)


class ArtifactAgainst(HarnessFile):
    """Check request. Without `artifact`, the file's own tests are run."""

    artifact: Json | None = None


class Question(HarnessFile):
    seconds: float = Field(10.0, gt=0, le=_MOST_SECONDS)


class SignedOverride(HarnessFile):
    """Override that a person signs. `report`: the hash that an explanation showed. `to`: a decimal number. `until`: the last day;
    without it, for one run.
    """

    report: str = Field(min_length=1, max_length=100)
    parameter: str = Field(min_length=1, max_length=100)
    to: str = Field(min_length=1, max_length=400)
    by: Annotated[str, Field(min_length=1, max_length=100)]
    reason: str = Field(min_length=1, max_length=1000)
    until: date | None = None


class Signed(HarnessFile):
    by: Annotated[str, Field(min_length=1, max_length=100)]
    reason: str = Field("", max_length=1000)
    """Of a proposal."""


class Proof(HarnessFile):
    """Proof to check. `certificates`: in the form in which an explanation showed them."""

    certificates: list[Json] = Field(min_length=1, max_length=100)


class HarnessRun(HarnessFile):
    """Run request. `run`: the id of a run that was interrupted, or ended in a paradox that somebody has overridden since."""

    run: str | None = Field(None, min_length=1, max_length=200)


@router.post(f"{PREFIX}/harness/check", summary="Judge an artifact by a harness")
async def check(body: ArtifactAgainst) -> Json:
    return await bounded(partial(_checked, body.harness, body.artifact), _MOST_SECONDS, field=_FIELD)


@router.post(f"{PREFIX}/harness/explain", summary="Say whether any artifact can pass a harness; if none can, prove why")
async def explain(body: Question) -> Json:
    return await bounded(partial(explained, body.harness, body.seconds), body.seconds, field=_FIELD)


@router.post(f"{PREFIX}/harness/replay", summary="Have certificates checked independently")
async def replay(body: Proof) -> Json:
    return await bounded(partial(_replayed, body.harness, body.certificates), _MOST_SECONDS, field=_FIELD)


@router.post(f"{PREFIX}/harness/run", summary="Let executors decide the variables until all rules pass")
async def run(body: HarnessRun, request: Request) -> Json:
    """Run a harness. Without a model, executors follow the gradients. An interrupted run continues where it was."""
    service, visitor = request.app.state.service, visitor_of(request)
    saga_id = body.run or visitor.new_id("harness", uuid.uuid4().hex[:8])
    visitor.check_sees(saga_id)
    if service.settings.store == "memory:":
        raise InvalidInputError("a run needs a store that another process can open, not memory", field="store")
    running = partial(_run, service.settings, body.harness, saga_id, datetime.now(UTC).date())
    again = f'send it again with "run": "{saga_id}", and it goes on where it was'
    return await bounded(running, _MOST_SECONDS, field=_FIELD, instead=again)


@router.post(f"{PREFIX}/harness/freeze", summary="Freeze a version by its hash")
async def freeze(body: Signed, request: Request) -> Json:
    return await _decided(body, request, "author", lambda records, harness, by: records.freeze(harness, by, _now(), _thought))


@router.post(f"{PREFIX}/harness/propose", summary="Propose a new version of a frozen harness")
async def propose(body: Signed, request: Request) -> Json:
    return await _decided(body, request, "author", lambda records, harness, by: records.propose(harness, by, body.reason, _now()))


@router.post(f"{PREFIX}/harness/approve", summary="Approve a proposal; its author cannot")
async def approve(body: Signed, request: Request) -> Json:
    return await _decided(body, request, "approver", lambda records, harness, by: records.approve(harness, by, _now()))


@router.get(f"{PREFIX}/harness/{{name}}/audit", summary="What was frozen, proposed, approved and overridden, by whom")
async def audit(name: str, request: Request) -> Json:
    return dict(await request.app.state.service.harness_records(name).audit(datetime.now(UTC).date()))


@router.post(f"{PREFIX}/harness/override", summary="Move one negotiable limit of a proven paradox, and sign for it")
async def override(body: SignedOverride, request: Request) -> Json:
    return await overridden(body, request.app.state.service, visitor_of(request))


def loaded(text: str) -> Any:
    """Load a harness. `Any`: a `Harness`, whose module needs an extra."""
    with needing("harness"):
        from sagagraph.harness.proof.explain import without_constants
        from sagagraph.harness.registry.loading import harness_from
    return without_constants(harness_from(text))


def _checked(text: str, artifact: Json | None) -> Json:
    harness = loaded(text)
    from sagagraph.harness.judging.check import checked_json

    return checked_json(harness, artifact)


def explained(text: str, seconds: float, *, drawn: bool = False) -> Json:
    """Return an explanation, with the report of a paradox, and the data for its picture."""
    harness = loaded(text)
    from sagagraph.harness.life.report import deadlock
    from sagagraph.harness.proof.explain import Status, explain, explanation_json
    from sagagraph.harness.proof.region import region_of

    until = time.monotonic() + seconds
    found = explain(harness, expired=lambda: time.monotonic() > until)
    said = deadlock(harness, found) if found.status is Status.PARADOX else explanation_json(harness, found)
    return {**said, "region": region_of(harness)} if drawn else said


def _replayed(text: str, certificates: list[Json]) -> Json:
    harness = loaded(text)
    from sagagraph.harness.proof.checker import replay

    found = [replay(harness, each) for each in certificates]
    return {"accepted": all(each.accepted for each in found), "certificates": [asdict(each) for each in found]}


def _run(settings: Settings, text: str, saga_id: str, today: date) -> Json:
    """Run it in this process, on a loop of its own."""
    return asyncio.run(_ran(settings, loaded(text), saga_id, today))


async def _ran(settings: Settings, harness: Any, saga_id: str, today: date) -> Json:
    from sagagraph.harness.life.records import Records
    from sagagraph.harness.loop.executors import asking, obedient
    from sagagraph.harness.loop.running import ended_json, run_harness

    model = model_of(settings)
    async with open_engine(settings) as engine:
        executor = asking(model, new_nonce) if model else obedient()
        ending = run_harness(engine, harness, saga_id, executor, Records(engine.store, harness.id), today)
        return await ended_json(harness, saga_id, ending)


async def _thought(think: Callable[[], T], /) -> T:
    return await bounded(think, _MOST_SECONDS, field=_FIELD)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _signer(said: str, visitor: Visitor) -> str:
    """Return who signs: somebody who has logged in signs with that name, and with no other."""
    return visitor.name.removeprefix("user ") if visitor.name.startswith("user ") else said


async def _decided(body: Signed, request: Request, role: str, decide: Callable[[Any, Any, Any], Awaitable[Any]]) -> Json:
    """Make a decision. `Any`: `Records`, `Harness` and `Person`, whose modules need an extra."""
    harness = await bounded(partial(loaded, body.harness), _MOST_SECONDS, field=_FIELD)
    from sagagraph.harness.life.records import Person

    by = Person(_signer(body.by, visitor_of(request)), role)
    return dict(await decide(request.app.state.service.harness_records(harness.id), harness, by))


async def overridden(body: SignedOverride, service: Service, visitor: Visitor) -> Json:
    harness = await bounded(partial(loaded, body.harness), _MOST_SECONDS, field=_FIELD)
    from sagagraph.harness.life.records import Override, Person

    by = _signer(body.by, visitor)
    known = harness.variables.get(body.parameter)
    given = Override(parameter=body.parameter, before=str(known.value if known else ""), to=body.to, report=body.report, by=by,
                     role="approver", reason=body.reason, until=body.until.isoformat() if body.until else "")  # fmt: skip
    records = service.harness_records(harness.id)
    return dict(await records.override(harness, given, Person(by, "approver"), _now(), _thought))
