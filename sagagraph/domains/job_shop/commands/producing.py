"""Producing: a schedule that is carried out as a saga, and what is reported while it is."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from sagagraph.cli import beginning
from sagagraph.cli.options import Options
from sagagraph.cli.session import acting, checked_id, show
from sagagraph.domains.job_shop.domain import reported, request_for
from sagagraph.domains.job_shop.instances import FIELD, parse_problem
from sagagraph.domains.job_shop.parsing import check_legible, parse_schedule
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file, text_file


async def begin(options: Options, file: Path, given: Path | None, seconds: float, saga_id: str | None, *, approved: bool) -> int:
    """Begin a new production, or resume the one with that id. `given`: the schedule to carry out."""
    problem = parse_problem(text_file(file, FIELD))
    schedule = parse_schedule([] if given is None else json_file(given, "--schedule"))
    check_legible(schedule, "--schedule")
    if given is not None:
        verdict = validate_schedule(problem, [slot.model_dump() for slot in schedule.slots.values()])
        if not verdict.is_valid:
            why = verdict.violations[0].message
            raise InvalidInputError(f"is not a valid schedule of this shop before anything happens: {why}", field="--schedule")
    wish = request_for(problem, seconds, schedule.slots.values())
    name = beginning.new_id("jobshop") if saga_id is None else checked_id(saga_id)
    async with acting(options, "jobshop", saga_id, create=True) as opened:
        view = await beginning.started(options, opened, name, wish, approved=approved)
    return show(options, view)


def refuse_unused(saga_id: str, options: Mapping[str, object]) -> None:
    """Raise `InvalidInputError` for what only the repair of a file can use."""
    if Path(saga_id).is_file():
        raise InvalidInputError(f"name the schedule of {saga_id} too", field="SCHEDULE")
    for name in (name for name, value in options.items() if value is not None):
        raise InvalidInputError("is for a schedule in a file, not for a production under way", field=name)


def report(
    options: Options, saga_id: str, files: Sequence[Path], seconds: float | None, *, approved: bool
) -> Coroutine[Any, Any, int]:
    """Report an event to a production under way. Raises `InvalidInputError` unless it is exactly one."""
    told = [event for file in map(_listed, files) for event in file]
    if not told:
        raise InvalidInputError("say what has happened", field="--event")
    if len(told) != 1:  # each event is known on top of the schedule that was made for those before
        raise InvalidInputError("report one event at a time to a production under way", field="--event")
    return beginning.told(options, "jobshop", saga_id, lambda saga: reported(saga, told[0], seconds), approved=approved)


def _listed(file: Path) -> list[Any]:
    said = json_file(file, "--event")
    return said if isinstance(said, list) else [said]
