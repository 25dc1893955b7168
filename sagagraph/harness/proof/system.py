"""Systems: the rules of a harness as formulas over boxes of its decided variables; what solver and relaxations work on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf

import networkx as nx
from flint import fmpq

from sagagraph.harness.language.core import CoreForm, Formula, NotSupportedError, TooLargeError
from sagagraph.harness.language.core import names_in as names_of
from sagagraph.harness.proof.intervals import Interval, of_rational
from sagagraph.harness.proof.terms import Bounds
from sagagraph.harness.registry.harness import Harness, Rule, Value, Variable

Span = tuple[fmpq | None, fmpq | None]
"""Both ends inside; None where there is no end."""
Point = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Box:
    """`spans` of numbers, exact; `choices`: what is left of the values of everything that is counted."""

    spans: Mapping[str, Span]
    choices: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    floats: Bounds = field(default_factory=dict)
    """The spans, rounded outwards."""

    @staticmethod
    def of(spans: Mapping[str, Span], choices: Mapping[str, tuple[Value, ...]]) -> Box:
        return Box(spans, choices, {name: _outwards(span) for name, span in spans.items()})

    def with_span(self, name: str, span: Span) -> Box:
        return Box({**self.spans, name: span}, self.choices, {**self.floats, name: _outwards(span)})

    def with_choice(self, name: str, values: tuple[Value, ...]) -> Box:
        """Leave these values. A number of which one is left becomes a span."""
        choices = {**self.choices, name: values}
        if name in self.spans and values:
            numbers = [each for each in values if isinstance(each, fmpq)]
            return replace(self.with_span(name, (min(numbers), max(numbers))), choices=choices)
        return Box(self.spans, choices, self.floats)


def _outwards(span: Span) -> Interval:
    low, high = span
    return (-inf if low is None else of_rational(low)[0]), (inf if high is None else of_rational(high)[1])


class UndefinedDomainError(Exception):
    """Fields without a domain are read by rules; nothing can be proven about them."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(sorted(names))
        super().__init__(f"no domain is stated for {', '.join(self.names)}")


class UnsupportedRuleError(Exception):
    """A rule that the solver cannot read."""


@dataclass(frozen=True, slots=True)
class System:
    """`rules`: their formulas by id. `integers`: variables that are whole numbers. `freed`: parameters that may move."""

    harness: Harness
    rules: Mapping[str, Formula]
    root: Box
    integers: frozenset[str]
    freed: frozenset[str] = frozenset()
    whole: Box = field(default_factory=lambda: Box({}))
    """The domains of all variables, also of those that a part does not depend on."""

    def components(self) -> tuple[System, ...]:
        """Return the parts that share no variable: each is decided by itself."""
        graph: nx.Graph[str] = nx.Graph()
        for rule_id, formula in self.rules.items():
            graph.add_node(f"\t{rule_id}")
            graph.add_edges_from((f"\t{rule_id}", name) for name in names_of(formula))
        return tuple(self._part(frozenset(each)) for each in nx.connected_components(graph))

    def _part(self, nodes: frozenset[str]) -> System:
        spans = {name: span for name, span in self.root.spans.items() if name in nodes}
        choices = {name: values for name, values in self.root.choices.items() if name in nodes}
        rules = {each: formula for each, formula in self.rules.items() if f"\t{each}" in nodes}
        return replace(self, rules=rules, root=Box.of(spans, choices))

    def only(self, rule_ids: Iterable[str]) -> System:
        wanted = set(rule_ids)
        return replace(self, rules={each: formula for each, formula in self.rules.items() if each in wanted})


def system_of(harness: Harness, *, freed: Mapping[str, Span] | None = None) -> System:
    """Return the system of all rules. `freed`: spans for parameters that are treated as if they were decided.

    Raises:
        UndefinedDomainError: a rule reads a field without a domain.
        UnsupportedRuleError: a rule decides over lists, or expands to too much.
    """
    free = freed or {}
    read = {name for rule in harness.rules for name in harness.fields_of(rule)}
    missing = [name for name in read if name not in harness.variables or _lacks_domain(harness.variables[name])]
    if missing:
        raise UndefinedDomainError(missing)
    decided = [each for name, each in harness.variables.items() if name in read and each.is_decided]
    fixed = {name: each.value for name, each in harness.variables.items() if each.value is not None and name not in free}
    choices = {each.name: _choices(each) for each in decided if each.choices or each.kind == "boolean"}
    symbols = {name: tuple(v for v in values if isinstance(v, str | bool)) for name, values in choices.items()}
    form = CoreForm(fixed, {name: values for name, values in symbols.items() if values}, harness.derived)
    formulas = {rule.id: _formula(form, rule) for rule in harness.rules}
    spans = {each.name: _span(each) for each in decided if each.kind in ("number", "integer")}
    whole = frozenset(each.name for each in decided if each.kind == "integer")
    root = Box.of({**spans, **free}, choices)
    return System(harness, formulas, root, whole, frozenset(free), root)


def _lacks_domain(variable: Variable) -> bool:
    return variable.is_decided and not variable.has_domain


def _choices(variable: Variable) -> tuple[Value, ...]:
    return variable.choices or (False, True)


def _span(variable: Variable) -> Span:
    if variable.choices:
        numbers = [each for each in variable.choices if isinstance(each, fmpq)]
        return min(numbers), max(numbers)
    return variable.low, variable.high


def _formula(form: CoreForm, rule: Rule) -> Formula:
    try:
        return form.formula(rule.tree)
    except (NotSupportedError, TooLargeError, RecursionError) as exc:
        raise UnsupportedRuleError(f"rule {rule.id}: {exc or 'too deep'}") from exc
