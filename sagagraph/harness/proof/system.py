"""Systems: the rules of a harness as formulas over boxes of its decided variables; what solver and relaxations work on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

import networkx as nx
from flint import fmpq

from sagagraph.harness.language.core import CoreForm, NotSupportedError, TooLargeError
from sagagraph.harness.language.formulas import Formula, names_in, one_of
from sagagraph.harness.proof.boxes import Bounds
from sagagraph.harness.proof.intervals import Interval, of_rational
from sagagraph.harness.registry.harness import Harness, Value, Variable

Span = tuple[fmpq | None, fmpq | None]
"""Both ends included; None for an open end."""
Numbers = Mapping[str, fmpq]
Point = Mapping[str, Value]
DOMAIN: Final = "\tdomain "
"""Prefix of a variable of which only some values are allowed; no rule's id has a tab."""


@dataclass(frozen=True, slots=True)
class Box:
    """Box. `spans` are exact; `floats`: the same, rounded outwards."""

    spans: Mapping[str, Span]
    floats: Bounds = field(default_factory=dict)

    @staticmethod
    def of(spans: Mapping[str, Span]) -> Box:
        return Box(spans, {name: _outwards(span) for name, span in spans.items()})

    def with_span(self, name: str, span: Span) -> Box:
        return Box({**self.spans, name: span}, {**self.floats, name: _outwards(span)})


def _outwards(span: Span) -> Interval:
    low, high = span
    return (-inf if low is None else of_rational(low)[0]), (inf if high is None else of_rational(high)[1])


class UnreadableError(Exception):
    """Nothing can be proven about these rules. `missing`: fields without a domain that they read."""

    def __init__(self, message: str, missing: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class System:
    """System. `rules`: their formulas by id, those of domains too. `integers`: variables that are whole numbers. `symbols`: the
    values that a whole number stands for.
    """

    harness: Harness
    rules: Mapping[str, Formula]
    root: Box
    integers: frozenset[str]
    symbols: Mapping[str, tuple[Value, ...]]
    whole: Box = field(default_factory=lambda: Box({}))
    """The domains of all variables, including those that a part does not depend on."""

    def components(self) -> tuple[System, ...]:
        """Return the parts that share no variable: each is decided separately."""
        graph: nx.Graph[tuple[str, str]] = nx.Graph()
        for rule_id, formula in self.rules.items():
            graph.add_node(("rule", rule_id))
            graph.add_edges_from((("rule", rule_id), ("variable", name)) for name in names_in(formula))
        return tuple(
            replace(
                self,
                rules={rule_id: formula for rule_id, formula in self.rules.items() if ("rule", rule_id) in nodes},
                root=Box.of({name: span for name, span in self.root.spans.items() if ("variable", name) in nodes}),
            )
            for nodes in nx.connected_components(graph)
        )

    def only(self, rule_ids: Iterable[str]) -> System:
        """Return the system with only some of the rules; domains stay."""
        wanted = set(rule_ids)
        rules = {each: formula for each, formula in self.rules.items() if each in wanted or each.startswith(DOMAIN)}
        return replace(self, rules=rules)

    def point(self, numbers: Numbers) -> Point:
        """Return a point with the values that its numbers stand for."""
        return {name: self.symbols[name][int(each.floor())] if name in self.symbols else each for name, each in numbers.items()}


def system_of(harness: Harness) -> System:
    """Return the system of all rules.

    Raises:
        UnreadableError: a rule reads a field without a domain, decides over lists, or expands to too much.
    """
    read = {name for rule in harness.rules for name in harness.fields_of(rule)}
    known = harness.variables
    missing = sorted(name for name in read if name not in known or (known[name].is_decided and not known[name].has_domain))
    if missing:
        raise UnreadableError(f"no domain is stated for {', '.join(missing)}", tuple(missing))
    decided = [each for name, each in harness.decided.items() if name in read]
    symbols = {each.name: each.symbols for each in decided if not each.is_number}
    fixed = {name: each.value for name, each in known.items() if each.value is not None}
    form = CoreForm(fixed, symbols, harness.derived)
    rules: dict[str, Formula] = {}
    for rule in harness.rules:
        try:
            rules[rule.id] = form.formula(rule.tree)
        except (NotSupportedError, TooLargeError, RecursionError) as exc:
            raise UnreadableError(f"rule {rule.id}: {exc or 'too deep'}") from exc
    rules |= {f"{DOMAIN}{each.name}": one_of(each.name, tuple(v for v in each.choices if isinstance(v, fmpq)))
              for each in decided if each.is_number and each.choices}  # fmt: skip
    root = Box.of({each.name: span_of(each) for each in decided})
    whole = frozenset(each.name for each in decided if each.kind != "number")
    return System(harness, rules, root, whole, symbols, root)


def span_of(variable: Variable) -> Span:
    if not variable.values:
        return variable.low, variable.high
    numbers = [each for each in variable.values if isinstance(each, fmpq)] or [
        fmpq(int(each)) if isinstance(each, bool) else fmpq(number) for number, each in enumerate(variable.values)
    ]
    return min(numbers), max(numbers)


_DIGITS = (2, 3, 4, 6, 9, 13, 15)
"""The most digits that JSON writes and reads again as the same number."""


def rounded_points(numbers: Numbers, box: Box, system: System, *, exactly: bool = True) -> Iterator[Numbers]:
    """Yield it rounded to its steps first, then to more and more digits, then as it is, if it may have any number of digits."""
    seen: set[tuple[fmpq, ...]] = set()
    for digits in (0, *_DIGITS, 99)[: None if exactly else -1]:
        point = {name: _rounded(name, value, digits, box, system) for name, value in numbers.items()}
        key = tuple(point.values())
        if key not in seen:
            seen.add(key)
            yield point


def _rounded(name: str, value: fmpq, digits: int, box: Box, system: System) -> fmpq:
    if name in system.integers:
        return inside(fmpq((value + fmpq(1, 2)).floor()), box.spans[name])
    listed = [each for each in system.harness.variables[name].choices if isinstance(each, fmpq)]
    if listed:
        return min(listed, key=lambda each: abs(each - value))
    if digits == 99:
        return value
    step = system.harness.variables[name].step if digits == 0 else None
    found = significant(value, digits or 2) if step is None else fmpq((value / step + fmpq(1, 2)).floor()) * step
    return inside(found, system.root.spans[name])


def inside(value: fmpq, span: Span) -> fmpq:
    """Return the nearest value in the interval."""
    low, high = span
    value = value if low is None else max(low, value)
    return value if high is None else min(high, value)


def significant(value: fmpq, digits: int, *, upwards: bool | None = None) -> fmpq:
    """Return it with this many decimal digits, rounded `upwards` or downwards, or to the nearest."""
    if value == 0:
        return value
    size = abs(value)
    power = len(str(int(size.p))) - len(str(int(size.q)))
    scale = fmpq(10) ** (digits - power)
    scaled = value * scale
    nearest = (scaled + fmpq(1, 2)).floor()
    return fmpq(nearest if upwards is None else scaled.ceil() if upwards else scaled.floor()) / scale
