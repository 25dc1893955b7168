"""Reports of a deadlock, for people: what clashes, what was tried, how far apart it is, what each way out costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sagagraph.harness.life.records import report_hash
from sagagraph.harness.proof.explain import Explanation, explanation_json
from sagagraph.harness.proof.menu import evidence, menu_json, menu_of
from sagagraph.harness.registry.harness import Harness


def deadlock(harness: Harness, found: Explanation) -> dict[str, Any]:
    """Return the report of a proven paradox, for JSON. `report` is what an override is bound to."""
    return {
        **explanation_json(harness, found),
        "report": report_hash(harness, found),
        "evidence": list(evidence(harness, found)),
        "menu": menu_json(menu_of(harness, found)),
        "required": "human authorisation",
    }


def markdown(harness: Harness, said: Mapping[str, Any]) -> str:
    """Return the report as a page."""
    return "\n".join(_lines(harness, said)) + "\n"


def _lines(harness: Harness, said: Mapping[str, Any]) -> Iterator[str]:
    rules = {each.id: each for each in harness.rules}
    yield f"# {_plain(harness.title or harness.id)}: no artifact passes all rules\n"
    yield f"Version {harness.version}, harness `{said['harness_hash']}`, report `{said['report']}`."
    yield "\nHuman authorisation is required.\n"
    for number, conflict in enumerate(said["conflicts"], 1):
        yield f"## Conflict {number}\n\n| rule | says | source | severity |\n| --- | --- | --- | --- |"
        for each in conflict:
            rule = rules[each]
            yield f"| {_plain(each)} | {_plain(rule.condition or rule.assertion)} | {_plain(rule.source)} | {rule.severity} |"
        yield f"\nCertificate `{said['certificates'][number - 1]['hash']}`.\n"
    yield "## What was tried\n\n| artifact | fails | left | right |\n| --- | --- | --- | --- |"
    for each in said["evidence"]:
        artifact = ", ".join(f"{name} = {value}" for name, value in each["artifact"].items())
        yield f"| {_plain(artifact)} | {_plain(each['fails'])} | {each['left']} | {each['right']} |"
    yield "\n## How far apart\n"
    for each in said["gaps"]:
        name = each.get("parameter") or each.get("rule")
        moved = f"from {each['from']} to {each['to']} (by {each['gap']})" if each["to"] is not None else "alone it does not help"
        yield f"- {_plain(name)}: {moved}"
    yield "\n## Ways out\n\n- **A**: this report; nothing is relaxed."
    for each in said["menu"][1:]:
        moves = ", ".join(f"{_plain(move['parameter'])} from {move['from']} to {move['to']}" for move in each["moves"])
        margin = f", with a margin of {each['margin_percent']} %" if each["margin_percent"] else ""
        cost = ", ".join(f"{_plain(kind)} {value:g}" for kind, value in each["cost"].items()) or "none stated"
        near = f"; close to their limits: {_plain(', '.join(each['closer']))}" if each["closer"] else ""
        yield f"- **{each['option']}**: {moves}{margin}; costs {cost}{'' if each['pareto'] else ' (another way beats it)'}{near}"


def _plain(text: object) -> str:
    """Text of a file cannot end a cell, or become a link or a tag."""
    return "".join(f"\\{each}" if each in "|<>[]`*_\\" else each for each in " ".join(str(text).split()))
