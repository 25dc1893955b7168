"""Words for the results of the commands of `sagagraph harness`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def lines_of(document: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"warning: {each}" for each in document.get("warnings", ()))
    if "status" in document:
        yield from _explained(document)
        return
    for each in document["rules"]:
        margin = "" if each["margin"] is None else f", margin {each['margin']:g}"
        reason = f": {each['reason']}" if each.get("reason") else ""
        yield f"{each['rule']}: {each['verdict']}{margin}{reason}"
    for each in document.get("tests", ()):
        if not each["kept"]:
            yield f"test {each['name']}: {each['reason']}"
    for name in document.get("outside_domain", ()):
        yield f"{name} is outside its domain"
    yield str(document["verdict"])


def _explained(document: Mapping[str, Any]) -> Iterator[str]:
    yield str(document["status"])
    if document["reason"]:
        yield f"because {document['reason']}"
    if document["witness"] is not None:
        yield "for example " + ", ".join(f"{name} = {value}" for name, value in document["witness"].items())
    for each in document["conflicts"]:
        yield f"these cannot hold together: {', '.join(each)}"
    for each in document["relaxations"]:
        kind = "parameter" if "parameter" in each else "rule"
        yield f"{kind} {each[kind]}: from {each['from']} to {each['to']} would be enough alone"
    for each in document["gaps"]:
        if each["to"] is None:
            yield f"{each.get('parameter') or each.get('rule')}: {each['reason']}"
    if document["status"] == "paradox":
        yield "a person has to decide; nothing is relaxed by itself"
