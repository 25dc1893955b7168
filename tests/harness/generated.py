"""Generated harnesses with known conflicts: linear, quadratic and exponential, satisfiable or not, by seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flint import fmpq


@dataclass(frozen=True)
class Generated:
    """`conflicts`: the planted ones, which are all there are; empty where it is satisfiable."""

    document: Mapping[str, Any]
    conflicts: frozenset[frozenset[str]]


def generate(seed: int, *, satisfiable: bool, rules: int) -> Generated:
    """Planted conflicts are on variables of their own; whatever is beside them is satisfied by a known point, with room."""
    rng = random.Random(seed)
    variables: dict[str, Any] = {}
    listed: list[tuple[str, str]] = []
    conflicts: list[frozenset[str]] = []
    for number in range(0 if satisfiable else rng.randint(1, 2 if rules >= 8 else 1)):
        planted = _planted(rng, f"p{number}", variables, most=rules - len(listed))
        if planted:
            conflicts.append(frozenset(name for name, _ in planted))
            listed += planted
    point = {f"x{number}": rng.randint(1, 9) for number in range(rng.randint(2, 5))}
    for name in point:
        variables[name] = {"unit": "1", "domain": [fmpq(0), fmpq(10)]}
    while len(listed) < rules:
        listed.append((f"R{len(listed)}", _satisfied(rng, point)))
    rng.shuffle(listed)
    document = {
        "harness": f"generated-{seed}",
        "variables": variables,
        "rules": [{"id": name, "assertion": text} for name, text in listed],
    }
    return Generated(document, frozenset(conflicts))


def _satisfied(rng: random.Random, point: Mapping[str, int]) -> str:
    """A rule that the point keeps, and that other points within the domains break."""
    one, other = rng.sample(sorted(point), 2)
    a, b = rng.randint(1, 5), rng.randint(1, 5)
    x, y = point[one], point[other]
    room = rng.randint(1, 3)
    match rng.randrange(6):
        case 0:
            return f"{a}*{one} + {b}*{other} <= {min(a * x + b * y + room, (a + b) * 10 - 1)}"
        case 1:
            return f"{a}*{one} + {b}*{other} >= {max(a * x + b * y - room, 1)}"
        case 2:
            return f"{one}**2 + {other}**2 <= {min(x * x + y * y + room, 199)}"
        case 3:
            return f"{one}*{other} >= {max(x * y - room, 1)}"
        case 4:
            return f"exp({one}/5) <= exp({min(x + room, 9.5)}/5)"
        case _:
            return f"{a}*{one} - {b}*{other} <= {min(a * x - b * y + room, a * 10 - 1)}"


def _planted(rng: random.Random, prefix: str, variables: dict[str, Any], most: int) -> list[tuple[str, str]]:
    """Rules that clash all together, none of which is needless."""
    x, y, z = (f"{prefix}{each}" for each in "xyz")
    a, b = rng.randint(1, 4), rng.randint(1, 4)
    gap = rng.choice(["0.001", "0.5", "1"])
    kinds = {
        "chain": [f"{x} <= {a}", f"{y} <= {b}", f"{x} + {y} >= {a + b} + {gap}"],
        "strict": [f"{x} < {a}", f"{x} >= {a}"],
        "disc": [f"{x}**2 + {y}**2 <= {a * a}", f"{x} + {y} >= 2*{a} + {gap}"],
        "product": [f"{x}*{y} >= {a * b} + {gap}", f"{x} <= {a}", f"{y} <= {b}"],
        "exponential": [f"exp({x}) <= {a + 2}", f"{y} >= {b}", f"exp({x})*{y} >= 9*{a + 2} + {gap}", f"{y} <= 9"],
        "cycle": [f"{x} - {y} >= {gap}", f"{y} - {z} >= {gap}", f"{z} - {x} >= {gap}"],
        "cases": [f"{x} <= {a} or {x} >= {a} + 2", f"{a} + 0.5 <= {x} <= {a} + 1"],
    }
    name = rng.choice([each for each, texts in kinds.items() if len(texts) <= most] or ["none"])
    if name == "none":
        return []
    texts = kinds[name]
    if name == "exponential":
        texts = [texts[0], texts[2], texts[3]]
    for each in (x, y, z):
        if any(each in text for text in texts):
            variables[each] = {"unit": "1", "domain": [fmpq(0), fmpq(10)]}
    return [(f"{prefix}_{number}", text) for number, text in enumerate(texts)]
