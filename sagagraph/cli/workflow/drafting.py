"""Drafting: from a goal to a document whose roles are filled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

from sagagraph.cli.options import Options
from sagagraph.cli.telling import tell
from sagagraph.cli.workflow.sagas import VERDICT_AGAINST, Source, open_roster
from sagagraph.errors import InvalidInputError
from sagagraph.factory.blueprint import Blueprint, drafted, read_blueprint
from sagagraph.factory.filling import ENOUGH, Factory, Filled
from sagagraph.files import json_file, write_json
from sagagraph.registry import model_of
from sagagraph.workflow.language.document import document_json

TEMPLATES = ("trip", "reunion", "job-shop")


async def draft(options: Options, goal: str, modules: Iterable[str], domains: Iterable[str], out: Path | None) -> int:
    async with open_roster(options, Source(tuple(modules), tuple(domains))) as roster:
        capabilities = {each.action.name: sorted(each.capabilities) for each in roster.members}
        filled = Factory(roster).fill(await _blueprint(options, goal, capabilities))
    document = document_json(filled.document)
    if out is not None:
        write_json(out, document, "--out")
    ranking = {role: [asdict(each) for each in ranked] for role, ranked in filled.ranking.items()}
    told = {"document": document, "ranking": ranking, "unfilled": list(filled.unfilled)}
    tell(told, _lines(filled), as_json=options.as_json)
    return VERDICT_AGAINST if filled.unfilled else 0


async def _blueprint(options: Options, goal: str, capabilities: dict[str, list[str]]) -> Blueprint:
    if goal in TEMPLATES:
        return read_blueprint(json_file(Path(str(files("sagagraph.factory") / "templates" / f"{goal}.json")), "GOAL"))
    if goal.endswith(".json"):
        return read_blueprint(json_file(Path(goal), "GOAL"))
    model = model_of(options.settings)
    if model is None:
        why = (
            f"no template is called {goal!r} (there are {', '.join(TEMPLATES)}), and SAGAGRAPH_MODEL names no model to draft one"
        )
        raise InvalidInputError(why, field="GOAL")
    return await drafted(goal, model, {"available": capabilities})


def _lines(filled: Filled) -> Iterator[str]:
    for role, ranked in filled.ranking.items():
        best = [f"{each.name} {each.score:g}" for each in ranked if not each.why_not and each.score][:3]
        yield f"{role}: {'nobody' if role in filled.unfilled else ''}{', '.join(best) if role not in filled.unfilled else ''}"
    for role in filled.unfilled:
        near = [f"{each.name}: {each.why_not}" for each in filled.ranking[role] if each.why_not and each.score >= ENOUGH]
        yield f"nobody fills {role}{'; ' if near else ''}{'; '.join(near)}"
