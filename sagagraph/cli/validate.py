"""`sagagraph validate`: a plan, whoever made it, judged by the independent validators of its domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sagagraph.bootstrap import open_travel
from sagagraph.cli import output
from sagagraph.cli.door import Door
from sagagraph.cli.files import json_file, text_file
from sagagraph.domains.job_shop import instances
from sagagraph.domains.job_shop import parsing as job_shop
from sagagraph.domains.job_shop.rules import validator as job_shop_validator
from sagagraph.domains.reunion.parsing import parse_events, parse_moment_of, parse_plan, parse_problem
from sagagraph.domains.reunion.rules.validator import ReunionValidator, shown
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.request import parse_request
from sagagraph.domains.travel.rules.evidence import gather_evidence
from sagagraph.domains.travel.rules.validator import validate_raw
from sagagraph.errors import InvalidInputError
from sagagraph.validators.protocol import judge
from sagagraph.validators.verdict import Verdict


class JudgedDomain(StrEnum):
    REUNION = "reunion"
    TRAVEL = "travel"
    JOBSHOP = "jobshop"


async def validate_reunion(
    door: Door, problem: Path, plan: Path, events: Sequence[Path], executed_until: str | None, against: Path | None
) -> int:
    stated = json_file(problem, "PROBLEM")
    known = parse_problem(stated)
    happened = _listed(json_file(each, "--event") for each in events)
    parse_events(known, happened)
    old = None if against is None else json_file(against, "--against")
    _check_history(known, executed_until, old, is_told=bool(happened), asked=against is not None)
    context = shown(stated, happened, against=old, executed_until=executed_until)
    return _show(door, await judge(ReunionValidator(), json_file(plan, "PLAN"), context))


async def validate_job_shop(
    door: Door, problem: Path, plan: Path, events: Sequence[Path], executed_until: str | None, against: Path | None
) -> int:
    stated = text_file(problem, instances.FIELD)
    happened = _listed(json_file(each, "--event") for each in events)
    job_shop.parse_events(instances.parse_problem(stated), happened)
    old = None if against is None else json_file(against, "--against")
    until = None if executed_until is None else job_shop.parse_moment_said(executed_until, "--executed-until")
    _check_told(until is not None, is_told=bool(happened), asked=against is not None)
    if against is not None:
        job_shop.check_legible(job_shop.parse_schedule(old), "--against")
    context = job_shop_validator.shown(stated, happened, against=old, executed_until=until)
    return _show(door, await judge(job_shop_validator.JobShopValidator(), json_file(plan, "PLAN"), context))


async def validate_trip(door: Door, problem: Path, plan: Path) -> int:
    """By what the provider quotes now. `plan`: an itinerary, or a plan of `trip --plan-only` with one in it."""
    wanted, said = json_file(problem, "PROBLEM"), json_file(plan, "PLAN")
    itinerary = said["plan"] if isinstance(said, Mapping) and "plan" in said else said
    async with open_travel(door.settings) as travel:
        now = await travel.provider.now()
        request = parse_request(wanted, cities=travel.cities, today=now.date())
        try:
            parsed = Itinerary.model_validate(itinerary)
        except ValidationError:
            return _show(door, validate_raw(itinerary, wanted, None, now=now, cities=travel.cities))
        evidence = await gather_evidence(parsed, request, (), Decimal(0), travel.provider, travel.cities)
        verdict = await travel.validate(request.model_dump(mode="json"), itinerary, evidence.model_dump(mode="json"))
    return _show(door, verdict)


def _listed(files: Any) -> list[Any]:
    return [event for file in files for event in (file if isinstance(file, list) else [file])]


def _check_history(problem: Any, executed_until: str | None, old: Any, *, is_told: bool, asked: bool) -> None:
    if executed_until is not None:
        parse_moment_of(problem, executed_until, "--executed-until")
    _check_told(executed_until is not None, is_told=is_told, asked=asked)
    if asked and (fault := parse_plan(problem, old).fault):
        raise InvalidInputError(fault, field="--against")


def _check_told(is_until: bool, *, is_told: bool, asked: bool) -> None:
    if is_until and not asked:
        raise InvalidInputError("name the plan that was carried out until then: --against OLDPLAN", field="--executed-until")
    if asked and not is_until and not is_told:
        raise InvalidInputError("say until when the old plan was carried out: --executed-until or --event", field="--against")


def _show(door: Door, verdict: Verdict) -> int:
    if door.as_json:
        output.print_json(verdict.model_dump(mode="json"))
    else:
        output.print_verdict(verdict)
    return 0 if verdict.is_valid else 1
