"""Loading: a file as a harness, or one line that says what is wrong with it.

Extra keys are kept and warned of. Files in the paper's form, `rules` alone with `input.get('x')`, are read too.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Final

from flint import fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.files import text_file
from sagagraph.harness.language.kinds import ANY, BOOLEAN, STRING, Kind, kind_of, pure, require_boolean
from sagagraph.harness.language.parser import is_name, parse
from sagagraph.harness.language.tree import Node, names_in
from sagagraph.harness.language.units import ONE, read_unit
from sagagraph.harness.registry.harness import Case, Harness, Rule, Severity, Value, Variable
from sagagraph.harness.registry.yaml_file import read_yaml

MOST_RULES: Final = 1000
MOST_VARIABLES: Final = 1000
_TOP: Final = frozenset(
    {"harness", "version", "title", "owner", "variables", "derived", "rules", "tests", "description", "waived", "approval"}
)
_VARIABLE: Final = frozenset({"unit", "domain", "decided_by", "step", "value", "kind", "negotiable", "cost", "type", "hidden",
                              "description", "title", "source"})  # fmt: skip
_RULE: Final = frozenset({"id", "description", "target_field", "condition", "assertion", "severity", "source",
                          "negotiable", "title"})  # fmt: skip


def load_harness(path: Path) -> Harness:
    """Read a file. Raises `InvalidInputError`, which names the file and what in it is wrong."""
    try:
        return harness_from(text_file(path, "FILE"))
    except InvalidInputError as exc:
        raise InvalidInputError(str(exc).removeprefix("FILE: "), field=str(path) if "FILE: " not in str(exc) else "FILE") from exc


def harness_from(text: str) -> Harness:
    """Read a file's text. Raises `InvalidInputError`."""
    return harness_of(read_yaml(text, "the file"))


def harness_of(document: object) -> Harness:
    """Return the harness that a document describes, parsed, typed and with its units checked. Raises `InvalidInputError`."""
    if not isinstance(document, Mapping):
        raise InvalidInputError("a harness is a mapping with `rules`", field="the file")
    warnings = [f"{key} is not read" for key in document if key not in _TOP]
    variables = _variables(document.get("variables"), warnings)
    derived = _derived(document.get("derived"), variables)
    rules = _rules(document.get("rules"), warnings)
    _check(rules, variables, derived)
    tests = _mapping(document.get("tests"), "tests")
    approval = _mapping(document.get("approval"), "approval")
    approvers = tuple(_text(each, "approval.of") for each in _list(approval.get("of"), "approval.of"))
    approvals = _count(approval.get("needed"), "approval.needed")
    if approvals < 1 or (approvers and approvals > len(approvers)):
        raise InvalidInputError("must be at least 1, and no more than there are approvers", field="approval.needed")
    return Harness(
        id=_text(document.get("harness"), "harness"),
        version=_count(document.get("version"), "version"),
        rules=rules,
        variables=variables,
        derived=derived,
        golden=_cases(tests.get("golden"), "tests.golden", rules),
        poisoned=_cases(tests.get("poisoned"), "tests.poisoned", rules),
        title=_text(document.get("title"), "title"),
        owner=_text(document.get("owner"), "owner"),
        waived=tuple(_text(each, "waived") for each in _list(document.get("waived"), "waived")),
        approvals=approvals,
        approvers=approvers,
        document=document,
        warnings=tuple(warnings),
    )


# -- variables -------------------------------------------------------------------------------------------------------


def _variables(said: object, warnings: list[str]) -> dict[str, Variable]:
    found = _mapping(said, "variables")
    if len(found) > MOST_VARIABLES:
        raise InvalidInputError(f"has more than {MOST_VARIABLES} entries", field="variables")
    for name in found:
        if not is_name(name):
            raise InvalidInputError("a variable is named by letters, digits and underscores, and by no word of the language",
                                    field=f"variables.{name}")  # fmt: skip
    return {name: _variable(name, _mapping(each, f"variables.{name}"), warnings) for name, each in found.items()}


def _variable(name: str, said: Mapping[str, Any], warnings: list[str]) -> Variable:
    where = f"variables.{name}"
    warnings += [f"{where}.{key} is not read" for key in said if key not in _VARIABLE]
    value = _value(said.get("value"), f"{where}.value")
    low, high, choices = _domain(said.get("domain"), f"{where}.domain")
    kind = _kind(said, value, choices, where)
    if value is None and said.get("kind") in ("constant", "parameter"):
        raise InvalidInputError(f"a {said['kind']} needs a value", field=f"{where}.value")
    if value is not None and said.get("decided_by"):
        raise InvalidInputError("what somebody decides has no value; a constant or a parameter has", field=f"{where}.value")
    step = _number(said.get("step"), f"{where}.step")
    if step is not None and step <= 0:
        raise InvalidInputError("must be more than 0", field=f"{where}.step")
    if kind in ("number", "integer") and said.get("unit") is None:
        raise InvalidInputError('every number has a unit; "1" where it has none', field=f"{where}.unit")
    unit = _unit_text(said.get("unit"), f"{where}.unit")
    if kind in ("number", "integer"):
        read_unit(unit, f"{where}.unit")
    negotiable = _flag(said.get("negotiable"), f"{where}.negotiable", default=False)
    if negotiable and (kind not in ("number", "integer") or value is None or said.get("kind") == "constant"):
        raise InvalidInputError("only a parameter, with a number as its value, can be negotiable", field=f"{where}.negotiable")
    _check_value(value, kind, low, high, choices, where)
    return Variable(
        name, kind, unit, low, high, choices, value, step, negotiable,
        _flag(said.get("hidden"), f"{where}.hidden", default=False),
        said.get("domain") is not None or kind == "boolean", _mapping(said.get("cost"), f"{where}.cost"),
        _text(said.get("decided_by"), f"{where}.decided_by"),
    )  # fmt: skip


def _check_value(
    value: Value | None, kind: str, low: fmpq | None, high: fmpq | None, choices: tuple[Value, ...], where: str
) -> None:
    if value is None:
        return
    if kind == "integer" and isinstance(value, fmpq) and value.q != 1:
        raise InvalidInputError("is no whole number", field=f"{where}.value")
    outside = isinstance(value, fmpq) and ((low is not None and value < low) or (high is not None and value > high))
    if outside or (choices and value not in choices):
        raise InvalidInputError("is outside its domain", field=f"{where}.value")


_KINDS: Final = {"number": "number", "float": "number", "real": "number", "integer": "integer", "int": "integer",
                 "boolean": "boolean", "bool": "boolean", "string": "string", "str": "string", "list": "list"}  # fmt: skip


def _kind(said: Mapping[str, Any], value: Value | None, choices: tuple[Value, ...], where: str) -> str:
    if said.get("type") is not None:
        kind = _KINDS.get(str(said["type"]))
        if kind is None:
            raise InvalidInputError(
                f"must be one of number, integer, boolean, string, list, not {said['type']!r}", field=f"{where}.type"
            )
        return kind
    if said.get("kind") not in (None, "constant", "parameter", "decision", "variable", "derived"):
        raise InvalidInputError(f"must be constant or parameter, not {said['kind']!r}", field=f"{where}.kind")
    sample = value if value is not None else choices[0] if choices else None
    return _kind_of_value(sample)


def _kind_of_value(value: Value | None) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "list" if isinstance(value, tuple) else "number"


def _domain(said: object, where: str) -> tuple[fmpq | None, fmpq | None, tuple[Value, ...]]:
    """Two numbers are its ends; other lists, and `values`, count what it can be."""
    if said is None:
        return None, None, ()
    if isinstance(said, Mapping):
        if "values" in said:
            return None, None, _choices(_list(said["values"], where), where)
        said = [said.get("min"), said.get("max")]
    listed = _list(said, where)
    if len(listed) == 2 and all(each is None or isinstance(each, fmpq) for each in listed):
        low, high = listed
        if low is not None and high is not None and low > high:
            raise InvalidInputError("its first end is above its second", field=where)
        return low, high, ()
    return None, None, _choices(listed, where)


def _choices(listed: list[Any], where: str) -> tuple[Value, ...]:
    values = [_value(each, where) for each in listed]
    if not values or None in values or len({_kind_of_value(each) for each in values}) != 1:
        raise InvalidInputError("must be two numbers, its ends, or a list of values of one kind", field=where)
    return tuple(dict.fromkeys(each for each in values if each is not None))


def _value(said: object, where: str) -> Value | None:
    if said is None or isinstance(said, fmpq | str | bool):
        return said
    if isinstance(said, list):
        items = tuple(each for each in (_value(one, where) for one in said) if each is not None)
        if len(items) == len(said) and len({_kind_of_value(each) for each in items}) <= 1:
            return items
    raise InvalidInputError("must be a number, a string, a boolean or a list of one kind", field=where)


# -- derived quantities and rules ------------------------------------------------------------------------------------


def _derived(said: object, variables: Mapping[str, Variable]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for name, each in _mapping(said, "derived").items():
        where = f"derived.{name}"
        if not is_name(name) or name in variables:
            raise InvalidInputError("is a variable too" if name in variables else "cannot be a name", field=where)
        text = each.get("expression") or each.get("formula") if isinstance(each, Mapping) else each
        found[name] = parse(_assertion(text, where), where)
    try:
        order = TopologicalSorter({name: set(names_in(tree)) & found.keys() for name, tree in found.items()}).static_order()
        return {name: found[name] for name in order}
    except CycleError as exc:
        raise InvalidInputError(f"rest on each other in a circle: {' → '.join(exc.args[1])}", field="derived") from exc


def _rules(said: object, warnings: list[str]) -> tuple[Rule, ...]:
    listed = _list(said, "rules")
    if not listed or len(listed) > MOST_RULES:
        raise InvalidInputError("a harness has at least one rule" if not listed else f"has more than {MOST_RULES}", field="rules")
    rules = tuple(_rule(_mapping(each, f"rules[{number}]"), f"rules[{number}]", warnings) for number, each in enumerate(listed))
    seen: set[str] = set()
    for each in rules:
        if each.id in seen:
            raise InvalidInputError(f"the id {each.id!r} stands twice", field="rules")
        seen.add(each.id)
    return rules


def _rule(said: Mapping[str, Any], where: str, warnings: list[str]) -> Rule:
    rule_id = _text(said.get("id"), f"{where}.id")
    if not rule_id.strip() or not rule_id.isprintable() or len(rule_id) > 200:
        raise InvalidInputError("a rule needs an id", field=f"{where}.id")
    warnings += [f"rules.{rule_id}.{key} is not read" for key in said if key not in _RULE]
    assertion = _assertion(said.get("assertion"), f"rules.{rule_id}.assertion")
    severity = said.get("severity") or Severity.CRITICAL
    if severity not in list(Severity):
        raise InvalidInputError(f"must be CRITICAL or FATAL, not {severity!r}", field=f"rules.{rule_id}.severity")
    return Rule(
        rule_id, assertion, parse(assertion, f"rules.{rule_id}.assertion"),
        _text(said.get("description"), f"rules.{rule_id}.description"),
        _text(said.get("target_field"), f"rules.{rule_id}.target_field"),
        _text(said.get("condition"), f"rules.{rule_id}.condition"),
        Severity(severity), _text(said.get("source"), f"rules.{rule_id}.source"),
        _flag(said.get("negotiable"), f"rules.{rule_id}.negotiable", default=True),
    )  # fmt: skip


def _assertion(said: object, where: str) -> str:
    if isinstance(said, bool | fmpq):
        raise InvalidInputError("an assertion is text that compares something", field=where)
    if not isinstance(said, str) or not said.strip():
        raise InvalidInputError("is missing; a rule without an assertion checks nothing", field=where)
    return said


def _check(rules: tuple[Rule, ...], variables: Mapping[str, Variable], derived: Mapping[str, Node]) -> None:
    """Names, kinds and units. Without `variables`, as in the paper's files, names are of any kind."""
    kinds = {name: kind_of_variable(each) for name, each in variables.items()}
    for name, tree in derived.items():
        _check_names(tree, variables, derived, f"derived.{name}")
        kinds[name] = kind_of(tree, kinds, f"derived.{name}")
    for rule in rules:
        where = f"rules.{rule.id}.assertion"
        _check_names(rule.tree, variables, derived, where)
        if not names_in(rule.tree):
            raise InvalidInputError(f"`{rule.assertion[:80]}` is constant: it reads no variable", field=where)
        require_boolean(rule.tree, kinds, where)


def kind_of_variable(variable: Variable) -> Kind:
    match variable.kind:
        case "boolean":
            return BOOLEAN
        case "string":
            return STRING
        case "list":
            items = variable.value if isinstance(variable.value, tuple) else ()
            unit = read_unit(variable.unit, variable.name)
            kinds = {"number": Kind("number", unit), "string": STRING, "boolean": BOOLEAN}
            return Kind("list", items=kinds.get(_kind_of_value(items[0]), ANY) if items else ANY)
        case _:
            unit = read_unit(variable.unit, variable.name)
            plain = pure(variable.value).bare if unit == ONE and isinstance(variable.value, fmpq) and variable.value else ()
            return Kind("number", unit, bare=plain)


def _check_names(tree: Node, variables: Mapping[str, Variable], derived: Mapping[str, Node], where: str) -> None:
    for name in names_in(tree) if variables else ():
        if name not in variables and name not in derived:
            raise InvalidInputError(f"{name} is neither a variable nor derived", field=where)


# -- tests and plain fields ------------------------------------------------------------------------------------------


def _cases(said: object, where: str, rules: tuple[Rule, ...]) -> tuple[Case, ...]:
    cases: list[Case] = []
    known = {rule.id for rule in rules}
    for number, each in enumerate(_list(said, where)):
        found = _mapping(each, f"{where}[{number}]")
        exact = found.get("fails")
        must = _list(exact if exact is not None else found.get("must_fail"), f"{where}[{number}].must_fail")
        for rule_id in must:
            if rule_id not in known:
                raise InvalidInputError(f"there is no rule {rule_id!r}", field=f"{where}[{number}].must_fail")
        name = _text(found.get("name"), f"{where}[{number}].name") or f"{where}[{number}]"
        cases.append(Case(name, _mapping(found.get("artifact"), f"{where}[{number}].artifact"), tuple(must), exact is not None))
    return tuple(cases)


def _mapping(said: object, where: str) -> Mapping[str, Any]:
    if said is None:
        return {}
    if not isinstance(said, Mapping):
        raise InvalidInputError("must be a mapping", field=where)
    return said


def _list(said: object, where: str) -> list[Any]:
    if said is None:
        return []
    if not isinstance(said, list):
        raise InvalidInputError("must be a list", field=where)
    return said


def _text(said: object, where: str) -> str:
    if said is None:
        return ""
    if isinstance(said, fmpq):
        return str(said)
    if not isinstance(said, str):
        raise InvalidInputError("must be text", field=where)
    return said


def _unit_text(said: object, where: str) -> str:
    return _text(said, where) or "1"


def _flag(said: object, where: str, *, default: bool) -> bool:
    if said is None:
        return default
    if not isinstance(said, bool):
        raise InvalidInputError("must be true or false", field=where)
    return said


def _number(said: object, where: str) -> fmpq | None:
    if said is not None and not isinstance(said, fmpq):
        raise InvalidInputError("must be a number", field=where)
    return said


def _count(said: object, where: str) -> int:
    if said is None:
        return 1
    if not isinstance(said, fmpq) or said.q != 1 or said < 0:
        raise InvalidInputError("must be a whole number", field=where)
    return int(said.p)
