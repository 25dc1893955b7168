"""Inter-agent validators, which judge what passes between agents and operations (SagaLLM section 3.3.1). Deterministic."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime

from sagagraph.validators.document import PlanDocument, Step, leaves
from sagagraph.validators.intra import PlanValidator, at_step
from sagagraph.validators.verdict import Violation
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec, references_with_paths
from sagagraph.workflow.values import Json
from sagagraph.workflow.wellformed import cycle_faults, naming_faults, pivot_faults

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list, tuple),
    "null": (type(None),),
}


class Contract(PlanValidator):
    """Every step's action exists and gets its inputs: each once, of its type, from outputs that exist.

    `interfaces`: action → {"inputs": {name: type}, "output": {name: type}, "optional": [names]}; types as in JSON schema, or
    "any". An action whose `inputs` or `output` is missing takes, or gives, anything.
    """

    name = "contract"
    reads = ("interfaces",)

    def violations(self, plan: PlanDocument, facts: Mapping[str, Json]) -> Iterator[Violation]:
        interfaces = facts.get("interfaces")
        if interfaces is None:
            return
        actions = {step.id: step.action for step in plan.steps}
        for step in plan.steps:
            if step.action not in interfaces:
                yield at_step(step.id, "UNKNOWN_ACTION", f"there is no action {step.action!r}", known=sorted(interfaces))
                continue
            yield from _unfit_inputs(step, interfaces[step.action])
            yield from _unfit_references(step, actions, interfaces)


def _unfit_inputs(step: Step, interface: Mapping[str, Json]) -> Iterator[Violation]:
    wanted = interface.get("inputs")
    if wanted is None:
        return
    given = step.inputs if isinstance(step.inputs, Mapping) else {}
    for name in sorted(wanted.keys() - given.keys() - set(interface.get("optional", ()))):
        yield at_step(step.id, "MISSING_INPUT", f"input {name!r} is missing")
    for name, value in given.items():
        if name not in wanted:
            yield at_step(step.id, "UNKNOWN_INPUT", f"action {step.action!r} takes no input {name!r}")
        elif not _is_of(value, wanted[name]):
            yield at_step(step.id, "WRONG_TYPE", f"input {name!r} must be of type {wanted[name]}", found=type(value).__name__)


def _is_of(value: Json, wanted: str) -> bool:
    is_reference = isinstance(value, Mapping) and "$from" in value
    if is_reference or wanted not in _TYPES:
        return True
    return isinstance(value, _TYPES[wanted]) and (wanted == "boolean" or not isinstance(value, bool))


def _unfit_references(step: Step, actions: Mapping[str, str], interfaces: Mapping[str, Json]) -> Iterator[Violation]:
    for source, path in references_with_paths(step.inputs):
        output = interfaces.get(actions.get(source, ""), {}).get("output")
        if output is not None and path and path[0] not in output:
            yield at_step(step.id, "MISSING_OUTPUT", f"{source} gives no {path[0]!r}", gives=sorted(output))


class DependencySatisfaction(PlanValidator):
    """Every prerequisite is in the plan (or `settled` as succeeded before it) and declared, and no step waits for itself."""

    name = "dependency satisfaction"
    reads = ("settled",)

    def violations(self, plan: PlanDocument, facts: Mapping[str, Json]) -> Iterator[Violation]:
        settled: Mapping[str, str] = facts.get("settled") or {}
        for step in plan.steps:
            for each in step.depends_on:
                if settled.get(each, "succeeded") != "succeeded":
                    yield at_step(step.id, "UNSATISFIED", f"depends on {each!r}, which has {settled[each]}")
        known = {step.id for step in plan.steps}
        before = [OperationSpec(each, "", ActionKind.READ_ONLY, None) for each in settled if each not in known]
        specs = (*plan.specs, *before)
        for fault in [*naming_faults(specs)] or cycle_faults(specs):
            yield Violation(code="DEPENDENCY", message=fault)


_FORMS = (
    ("a day", re.compile(r"\d{4}-\d{2}-\d{2}")),
    ("an instant", re.compile(r"\d{4}-\d{2}-\d{2}T.*")),
    ("a time of day", re.compile(r"\d{1,2}:\d{2}")),
    ("digits", re.compile(r"-?\d+(\.\d+)?")),
)


class Consistency(PlanValidator):
    """Values that several steps give under one name have one form: all days, all coordinates, all numbers, one currency."""

    name = "consistency"
    one_value = frozenset({"currency", "unit", "timezone"})
    """Names that have a single value throughout a plan."""

    def violations(self, plan: PlanDocument, _facts: Mapping[str, Json]) -> Iterator[Violation]:
        forms: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for step in plan.steps:
            for name, value in leaves(_without_references(step.inputs)):
                if name and value is not None:
                    forms[name].setdefault(str(value) if name in self.one_value else _form_of(value), step.id)
        for name, found in forms.items():
            if len(found) > 1:
                message = f"{name} is {' and '.join(f'{form} in {step}' for form, step in found.items())}"
                yield Violation(code="INCONSISTENT", message=message, scope={"name": name}, evidence={"forms": sorted(found)})


def _without_references(inputs: Json) -> Json:
    if isinstance(inputs, Mapping):
        return None if "$from" in inputs else {key: _without_references(each) for key, each in inputs.items()}
    return [_without_references(each) for each in inputs] if isinstance(inputs, list | tuple) else inputs


def _form_of(value: Json) -> str:
    if isinstance(value, bool):
        return "yes or no"
    if isinstance(value, int | float):
        return "a number"
    return next((form for form, pattern in _FORMS if pattern.fullmatch(str(value))), "text")


class Temporal(PlanValidator):
    """No step begins before its prerequisites have ended; none ends after its deadline (`deadlines`: step → instant)."""

    name = "temporal"
    reads = ("deadlines",)

    def violations(self, plan: PlanDocument, facts: Mapping[str, Json]) -> Iterator[Violation]:
        ends = {step.id: step.ends for step in plan.steps}
        deadlines = facts.get("deadlines") or {}
        for step in plan.steps:
            for each in step.depends_on:
                end = ends.get(each)
                if step.begins and end and step.begins < end:
                    yield at_step(step.id, "TOO_EARLY", f"begins {step.begins.isoformat()}, and {each} ends {end.isoformat()}")
            deadline = deadlines.get(step.id)
            if deadline and step.ends and step.ends > datetime.fromisoformat(deadline):
                yield at_step(step.id, "TOO_LATE", f"ends {step.ends.isoformat()}, after its deadline {deadline}")


class MutualAgreement(PlanValidator):
    """All statements about one thing agree; for each of `agree_on` (thing → agents), all those agents have spoken."""

    name = "mutual agreement"
    reads = ("agree_on",)

    def violations(self, plan: PlanDocument, facts: Mapping[str, Json]) -> Iterator[Violation]:
        said: defaultdict[str, list[tuple[str, Json]]] = defaultdict(list)
        for each in plan.statements:
            said[each.about].append((each.by, each.value))
        for about, views in said.items():
            if any(value != views[0][1] for _, value in views):
                message = f"{about}: {', '.join(f'{by} says {value!r}' for by, value in views)}"
                yield Violation(code="DISAGREEMENT", message=message, scope={"about": about})
        for about, agents in (facts.get("agree_on") or {}).items():
            silent = sorted(set(agents) - {by for by, _ in said[about]})
            if silent:
                message = f"{about}: {', '.join(silent)} has not agreed"
                yield Violation(code="NOT_AGREED", message=message, scope={"about": about})


class TransactionalIntegrity(PlanValidator):
    """Before the pivot everything can be undone, after it everything can be repeated, and there is at most one pivot.

    `undoable`: the actions that have a compensation. Each step must have one, unless it is read-only or has a pivot before it.
    """

    name = "transactional integrity"
    reads = ("undoable",)

    def violations(self, plan: PlanDocument, facts: Mapping[str, Json]) -> Iterator[Violation]:
        specs = plan.specs
        if [*naming_faults(specs)] or [*cycle_faults(specs)]:
            return  # there is no order to judge by; the validator of dependencies reports that
        for fault in pivot_faults(specs):
            yield Violation(code="PIVOT_ORDER", message=fault)
        undoable = facts.get("undoable")
        if undoable is None:
            return
        for step in plan.steps:
            if step.kind is ActionKind.COMPENSATABLE and step.action not in undoable:
                yield at_step(step.id, "NOT_UNDOABLE", f"action {step.action!r} has no compensation")
