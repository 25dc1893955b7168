"""Judging: an itinerary in a file, by what the provider quotes now."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from pydantic import ValidationError

from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.request import parse_request
from sagagraph.domains.travel.rules.evidence import gather_evidence
from sagagraph.domains.travel.rules.validator import validate_raw
from sagagraph.files import json_file
from sagagraph.planning.entry import Case
from sagagraph.validators.concern import certified
from sagagraph.validators.verdict import Verdict


async def judge(case: Case, travel: Travel) -> Verdict:
    """Judge a plan: an itinerary, or a plan of `trip --plan-only` that contains one."""
    wanted, said = json_file(case.problem, "PROBLEM"), json_file(case.plan, "PLAN")
    itinerary = said["plan"] if isinstance(said, Mapping) and "plan" in said else said
    now = await travel.provider.now()
    request = parse_request(wanted, cities=travel.cities, today=now.date())
    try:
        parsed = Itinerary.model_validate(itinerary)
    except ValidationError:
        return validate_raw(itinerary, wanted, None, now=now, cities=travel.cities)
    evidence = await gather_evidence(parsed, request, (), Decimal(0), travel.provider, travel.cities)
    verdict = await travel.validate(request.model_dump(mode="json"), itinerary, evidence.model_dump(mode="json"))
    return certified(verdict, itinerary, travel.name)
