"""Corruptions of certificates: a part dropped or widened, a wrong rule, a multiplier gone; each makes it false."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from sagagraph.harness.proof.checker import replay, seal
from sagagraph.harness.proof.explain import Status, explain
from sagagraph.harness.registry.harness import Harness
from sagagraph.harness.registry.loading import harness_of
from tests.harness.generated import generate

Certified = list[tuple[Harness, dict[str, Any]]]


def certified(examples: list[Harness], seeds: range) -> Certified:
    """Return the certificates of examples and of generated systems, each with its harness."""
    made = [harness_of(generate(seed, satisfiable=False, rules=8).document) for seed in seeds]
    return [
        (harness, json.loads(json.dumps(each)))
        for harness in (*examples, *made)
        for each in explain(harness, relax=False).certificates
    ]


def corrupted(known: Certified, count: int, rng: random.Random) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield so many false certificates, their hashes made anew, and what the checker says against each; "" if it accepts one."""
    while count:
        harness, certificate = rng.choice(known)
        broken = _corrupt(rng, harness, copy.deepcopy(certificate))
        if broken is not None:
            answer = replay(harness, seal({key: value for key, value in broken.items() if key != "hash"}))
            yield broken, "" if answer.accepted else answer.reason
            count -= 1


def _corrupt(rng: random.Random, harness: Harness, certificate: dict[str, Any]) -> dict[str, Any] | None:
    """Change a certificate so that it is false; None where the change cannot be known to make it so."""
    node = rng.choice(list(_nodes(certificate["tree"])))
    match rng.randrange(6):
        case 0 if "parts" in node:
            node["parts"].pop(rng.randrange(len(node["parts"])))
        case 1 if "cuts" in node:
            cut = rng.choice(node["cuts"])
            variable = harness.variables[cut["variable"]]
            cut["at"] = str(variable.high if cut["side"] == "below" else variable.low)
            rule = harness.with_rules(tuple(each for each in harness.rules if each.id == cut["rule"]))
            if explain(rule, relax=False).status is not Status.SATISFIABLE:
                return None  # only where the rule holds somewhere is it false to cut everything off
        case 2 if "rule" in node:
            others = [each.id for each in harness.rules if each.id != node["rule"] and each.id not in certificate["rules"]]
            if not others:
                return None
            node["rule"] = rng.choice(others)
        case 3 if node is certificate["tree"] and "sum" in node and len(node["sum"]) > 1:
            node["sum"].pop(rng.randrange(len(node["sum"])))
            if any(len(each["of"]) > 1 for each in node["sum"]) or len(certificate["rules"]) <= len(node["sum"]):
                return None  # only fewer rules than an irreducible conflict has refute nothing for sure
        case 4:
            dropped = rng.choice(certificate["rules"])
            certificate["rules"] = [each for each in certificate["rules"] if each != dropped]
        case 5:
            certificate["domains"][rng.choice(sorted(certificate["domains"]))]["ends"] = ["0", "1"]
        case _:
            return None
    return certificate


def _nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield tree
    for each in (*tree.get("parts", ()), *([tree["then"]] if "then" in tree else [])):
        yield from _nodes(each)
