"""Loading: a file as a harness, or one line that says what is wrong with it.

Extra keys are kept, with a warning. Files in the paper's form, with only `rules` that use `input.get('x')`, are read too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Final

from flint import fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.files import text_file
from sagagraph.harness.language.kinds import ANY, BOOLEAN, ONE, STRING, Kind, kind_of, pure, read_unit
from sagagraph.harness.language.parser import is_name, parse
from sagagraph.harness.language.tree import Node, names_in, short
from sagagraph.harness.registry.harness import Case, Harness, HarnessForm, Rule, Value, Variable, VariableForm, hash_of, read_form
from sagagraph.harness.registry.yaml_file import read_yaml

_KINDS: Final = {"float": "number", "real": "number", "int": "integer", "bool": "boolean", "str": "string"}


def load_harness(path: Path) -> Harness:
    """Read a file. Raises `InvalidInputError`, which names the file and what is wrong in it."""
    text = text_file(path, "FILE")
    try:
        return harness_from(text)
    except InvalidInputError as exc:
        raise InvalidInputError(str(exc), field=str(path)) from exc


def harness_from(text: str) -> Harness:
    """Read a file's text. Raises `InvalidInputError`."""
    return harness_of(read_yaml(text, "the file"))


def harness_of(document: object) -> Harness:
    """Return the harness that a document describes, parsed, typed and with its units checked. Raises `InvalidInputError`."""
    if not isinstance(document, Mapping):
        raise InvalidInputError("a harness is a mapping with `rules`", field="the file")
    form = read_form(HarnessForm, document)
    variables = {name: _variable(name, each) for name, each in form.variables.items()}
    derived = _derived(form.derived, variables)
    rules = tuple(_parsed(each) for each in form.rules)
    _check(rules, variables, derived)
    approval = form.approval
    if approval.needed < 1 or (approval.of and approval.needed > len(approval.of)):
        raise InvalidInputError("must be at least 1, and no more than there are approvers", field="approval.needed")
    parts = {"": form, **{f"variables.{name}.": each for name, each in form.variables.items()},
             **{f"rules.{rule.id}.": rule for rule in form.rules}}  # fmt: skip
    return Harness(
        id=form.harness,
        version=form.version,
        rules=rules,
        variables=variables,
        derived=derived,
        golden=_cases(form.tests.golden, "tests.golden", rules),
        poisoned=_cases(form.tests.poisoned, "tests.poisoned", rules),
        title=form.title,
        waived=tuple(form.waived),
        approval=approval,
        document=document,
        hash=hash_of(document),
        warnings=tuple(said for where, part in parts.items() for said in part.unread(where)),
    )


def _variable(name: str, said: VariableForm) -> Variable:
    where = f"variables.{name}"
    if not is_name(name):
        raise InvalidInputError("a variable is named by letters, digits and underscores, and by no word of the language",
                                field=where)  # fmt: skip
    value = _value(said.value, f"{where}.value")
    stated = said.domain if said.values is None else {"values": said.values}
    low, high, choices = _domain(stated, f"{where}.domain")
    sample = value if value is not None else choices[0] if choices else None
    kind = _KINDS.get(said.type, said.type) if said.type not in (None, "enum") else _kind_of_value(sample)
    found = Variable(
        name, kind, said.unit or "1", low, high, choices, value, said.step, said.negotiable,
        stated is not None or kind == "boolean", said.cost,
    )  # fmt: skip
    for is_wrong, key, message in _faults(found, said):
        if is_wrong:
            raise InvalidInputError(message, field=f"{where}.{key}")
    if found.is_number:
        read_unit(found.unit, f"{where}.unit")
    return found


def _faults(found: Variable, said: VariableForm) -> Iterator[tuple[bool, str, str]]:
    value, is_fixed = found.value, said.kind in ("constant", "parameter")
    yield value is None and is_fixed, "value", f"a {said.kind} needs a value"
    is_decided = value is not None and bool(said.decided_by)
    yield is_decided, "value", "what somebody decides has no value; a constant or a parameter has"
    yield found.step is not None and found.step <= 0, "step", "must be more than 0"
    yield found.is_number and said.unit is None, "unit", 'every number has a unit; "1" where it has none'
    can_move = found.is_number and value is not None and said.kind != "constant"
    yield said.negotiable and not can_move, "negotiable", "only a parameter, with a number as its value, can be negotiable"
    yield found.kind == "integer" and isinstance(value, fmpq) and value.q != 1, "value", "is not a whole number"
    yield value is not None and found.excludes(value), "value", "is outside its domain"


def _kind_of_value(value: Value | None) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "list" if isinstance(value, tuple) else "number"


def _domain(said: object, where: str) -> tuple[fmpq | None, fmpq | None, tuple[Value, ...]]:
    """Read a domain. Two numbers are its ends; other lists, and `values`, list all its values."""
    if said is None:
        return None, None, ()
    counted = isinstance(said, Mapping) and "values" in said
    if isinstance(said, Mapping):
        said = said["values"] if counted else [said.get("min"), said.get("max")]
    if isinstance(said, list) and not counted and len(said) == 2 and all(each is None or isinstance(each, fmpq) for each in said):
        low, high = said
        if low is not None and high is not None and low > high:
            raise InvalidInputError("its first end is above its second", field=where)
        return low, high, ()
    values = _value(said, where)
    if not isinstance(values, tuple) or not values:
        raise InvalidInputError("must be two numbers, its ends, or a list of values of one kind", field=where)
    return None, None, tuple(dict.fromkeys(values))


def _value(said: object, where: str) -> Value | None:
    if said is None or isinstance(said, fmpq | str | bool):
        return said
    if isinstance(said, list):
        items = tuple(each for each in (_value(one, where) for one in said) if each is not None)
        if len(items) == len(said) and len({_kind_of_value(each) for each in items}) <= 1:
            return items
    raise InvalidInputError("must be a number, a string, a boolean or a list of one kind", field=where)


def _derived(said: Mapping[str, Any], variables: Mapping[str, Variable]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for name, each in said.items():
        where = f"derived.{name}"
        if not is_name(name) or name in variables:
            raise InvalidInputError("is a variable too" if name in variables else "cannot be a name", field=where)
        text = each.get("expression") or each.get("formula") if isinstance(each, Mapping) else each
        found[name] = parse(_assertion(text, where), where)
    try:
        order = TopologicalSorter({name: set(names_in(tree)) & found.keys() for name, tree in found.items()}).static_order()
        return {name: found[name] for name in order}
    except CycleError as exc:
        raise InvalidInputError(f"depend on each other in a circle: {' → '.join(exc.args[1])}", field="derived") from exc


def _parsed(rule: Rule) -> Rule:
    if not rule.id.strip() or not rule.id.isprintable():
        raise InvalidInputError("a rule needs an id", field="rules")
    where = f"rules.{rule.id}.assertion"
    if rule.uses:
        if rule.assertion is not None or not rule.inputs:
            raise InvalidInputError("needs `inputs`, and no assertion of its own", field=f"rules.{rule.id}.uses")
        return rule
    return rule.with_tree(parse(_assertion(rule.assertion, where), where))


def _assertion(said: object, where: str) -> str:
    if isinstance(said, bool | fmpq):
        raise InvalidInputError("an assertion is text that compares something", field=where)
    if not isinstance(said, str) or not said.strip():
        raise InvalidInputError("is missing; a rule without an assertion checks nothing", field=where)
    return said


def _check(rules: tuple[Rule, ...], variables: Mapping[str, Variable], derived: Mapping[str, Node]) -> None:
    """Check ids, names, kinds and units. Without `variables`, as in the paper's files, names are of any kind."""
    ids = [rule.id for rule in rules]
    for each in ids:
        if ids.count(each) > 1:
            raise InvalidInputError(f"the id {each!r} occurs twice", field="rules")
    kinds = {name: kind_of_variable(each) for name, each in variables.items()}
    for name, tree in derived.items():
        _check_names(tree, variables, derived, f"derived.{name}")
        kinds[name] = kind_of(tree, kinds, f"derived.{name}")
    for rule in rules:
        where = f"rules.{rule.id}.assertion"
        unknown = [each for each in rule.inputs if each not in variables]
        if unknown:
            raise InvalidInputError(f"{unknown[0]} is no variable", field=f"rules.{rule.id}.inputs")
        if rule.uses:
            continue
        _check_names(rule.tree, variables, derived, where)
        if not names_in(rule.tree):
            raise InvalidInputError(f"`{rule.assertion[:80]}` is constant: it reads no variable", field=where)
        kind = kind_of(rule.tree, kinds, where)
        if kind.name not in ("boolean", "any"):
            unit = f" in {kind.unit.text}" if kind.unit is not None and not kind.unit.equals(ONE) else ""
            raise InvalidInputError(f"`{short(rule.tree)}` is a {kind.name}{unit}; an assertion is true or false", field=where)


def kind_of_variable(variable: Variable) -> Kind:
    if variable.kind in ("boolean", "string"):
        return BOOLEAN if variable.kind == "boolean" else STRING
    unit, value = read_unit(variable.unit, variable.name), variable.value
    if variable.kind == "list":
        kinds = {"number": Kind("number", unit), "string": STRING, "boolean": BOOLEAN}
        return Kind("list", items=kinds.get(_kind_of_value(value[0]), ANY) if isinstance(value, tuple) and value else ANY)
    return Kind("number", unit, bare=pure(value).bare if unit == ONE and isinstance(value, fmpq) and value else ())


def _check_names(tree: Node, variables: Mapping[str, Variable], derived: Mapping[str, Node], where: str) -> None:
    for name in names_in(tree) if variables else ():
        if name not in variables and name not in derived:
            raise InvalidInputError(f"{name} is neither a variable nor derived", field=where)


def _cases(said: list[Case], where: str, rules: tuple[Rule, ...]) -> tuple[Case, ...]:
    known = {rule.id for rule in rules}
    for number, each in enumerate(said):
        unknown = [rule_id for rule_id in each.fails or each.must_fail if rule_id not in known]
        if unknown:
            raise InvalidInputError(f"there is no rule {unknown[0]!r}", field=f"{where}[{number}].must_fail")
    return tuple(each.model_copy(update={"name": each.name or f"{where}[{number}]"}) for number, each in enumerate(said))
