"""Harness: variables, derived quantities, rules and tests, as read from a file and never changed.

Pydantic checks the form of a file: numbers are exact, and every fault is one line that names its place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeVar

from flint import fmpq
from pydantic import BaseModel, Field, PlainValidator, SkipValidation, ValidationError, model_validator

from sagagraph.errors import InvalidInputError
from sagagraph.harness.language.tree import TRUE, Node, names_in

Value = fmpq | str | bool | tuple["Value", ...]


def _count(said: object) -> int:
    if not isinstance(said, fmpq) or said.q != 1 or said < 0:
        raise ValueError("must be a whole number")
    return int(said.p)


def _text(said: object) -> str:
    if not isinstance(said, str | fmpq):
        raise ValueError("must be text")  # noqa: TRY004 - Pydantic reports a ValueError with its place
    return str(said)


Count = Annotated[int, PlainValidator(_count)]
Text = Annotated[str, PlainValidator(_text)]
_WORDS: Final = ("title", "description", "source")


class Form(BaseModel, strict=True, frozen=True, extra="allow", arbitrary_types_allowed=True):
    """Form of a file. Unknown keys are kept, with a warning; null counts as absent."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, said: Any) -> Any:
        return {key: each for key, each in said.items() if each is not None} if isinstance(said, Mapping) else said

    def unread(self, where: str) -> Iterator[str]:
        """Yield the keys that have no meaning here; texts for people may be anywhere."""
        yield from (f"{where}{name} is not read" for name in self.model_extra or {} if name not in _WORDS)


class Severity(StrEnum):
    CRITICAL = "CRITICAL"
    FATAL = "FATAL"
    """Its assertion is never negotiable."""


class Rule(Form):
    """Rule. `tree`: its assertion, parsed. `negotiable`: whether a limit that its assertion states as a number may be moved."""

    id: Annotated[Text, Field(min_length=1, max_length=200)]
    assertion: Any = None
    tree: SkipValidation[Node] = TRUE
    description: Text = ""
    target_field: Text = ""
    condition: Text = ""
    severity: Annotated[Severity, Field(strict=False)] = Severity.CRITICAL
    source: Text = ""
    negotiable: bool = True
    uses: Text = ""
    """`NAME@VERSION` of an external validator that judges `inputs` instead of an assertion."""
    inputs: list[Text] = []

    def with_tree(self, tree: Node) -> Rule:
        return self.model_copy(update={"tree": tree})


class Case(Form):
    """Case: an artifact, and the rules that it must fail: at least `must_fail`, or exactly `fails` if that is stated."""

    name: Text = ""
    artifact: dict[str, Any] = {}
    must_fail: list[str] = []
    fails: list[str] | None = None


class Approval(Form):
    """Approval: how many people approve a change, and which; all who have that role if nobody is named."""

    needed: Count = 1
    of: list[Text] = []


@dataclass(frozen=True, slots=True)
class Variable:
    """Variable. `low`, `high`: the ends of its domain, both included; None for an open end. `choices`: all its values, if they
    are listed.

    `value`: of a constant or a parameter; None for what an executor decides. `step`: by which gradients and witnesses are
    rounded.
    """

    name: str
    kind: str
    """number, integer, boolean, string or list"""
    unit: str = "1"
    low: fmpq | None = None
    high: fmpq | None = None
    choices: tuple[Value, ...] = ()
    value: Value | None = None
    step: fmpq | None = None
    is_negotiable: bool = False
    has_domain: bool = True
    cost: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_decided(self) -> bool:
        return self.value is None

    @property
    def is_number(self) -> bool:
        return self.kind in ("number", "integer")

    @property
    def values(self) -> tuple[Value, ...]:
        """Return all values, if they are listed."""
        return self.choices or self.symbols

    @property
    def symbols(self) -> tuple[Value, ...]:
        """Return what whole numbers stand for, from 0 on: false is 0, in whichever order a domain lists the values."""
        return (False, True) if self.kind == "boolean" else self.choices

    def excludes(self, value: Value | None) -> bool:
        """Tell whether a value is outside the domain."""
        if self.choices:
            return value not in self.choices
        if not isinstance(value, fmpq):
            return False
        below = self.low is not None and value < self.low
        return below or (self.high is not None and value > self.high) or (self.kind == "integer" and value.q != 1)


@dataclass(frozen=True, slots=True)
class Harness:
    id: str
    version: int
    rules: tuple[Rule, ...]
    variables: Mapping[str, Variable] = field(default_factory=dict)
    derived: Mapping[str, Node] = field(default_factory=dict)
    """In an order in which each uses earlier ones only."""
    golden: tuple[Case, ...] = ()
    poisoned: tuple[Case, ...] = ()
    title: str = ""
    waived: tuple[str, ...] = ()
    approval: Approval = field(default_factory=Approval)
    document: Mapping[str, Any] = field(default_factory=dict)
    """What the file says."""
    hash: str = ""
    """SHA-256 of the canonical form of what the file says: sorted keys, exact numbers."""
    warnings: tuple[str, ...] = ()

    @property
    def decided(self) -> dict[str, Variable]:
        return {name: each for name, each in self.variables.items() if each.is_decided}

    def rule(self, rule_id: str) -> Rule:
        return next(each for each in self.rules if each.id == rule_id)

    def fields_of(self, rule: Rule) -> tuple[str, ...]:
        """Return the fields that a rule reads, directly or through derived quantities."""
        found: dict[str, None] = {}
        waiting = list(rule.inputs or names_in(rule.tree))
        while waiting:
            name = waiting.pop(0)
            if name in self.derived:
                waiting += [each for each in names_in(self.derived[name]) if each not in found]
            else:
                found[name] = None
        return tuple(found)

    def with_values(self, values: Mapping[str, Value]) -> Harness:
        """Return it with other values of parameters, or with decided ones held: an overlay, never a change of the file."""
        changed = {name: replace(self.variables[name], value=value) for name, value in values.items()}
        return replace(self, variables={**self.variables, **changed})

    @property
    def inside(self) -> Harness:
        """Return it without the rules of external validators, about which nothing can be proven."""
        return self.with_rules(tuple(each for each in self.rules if not each.uses))

    def with_rules(self, rules: tuple[Rule, ...]) -> Harness:
        return replace(self, rules=rules)


def hash_of(document: Any) -> str:
    """Return the SHA-256 of JSON with sorted keys and exact numbers: the same for the same content everywhere."""

    def exact(value: object) -> object:
        return {"exact": str(value)} if isinstance(value, fmpq) else str(value)

    said = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=exact)
    return hashlib.sha256(said.encode()).hexdigest()


# -- what a file says ---------------------------------------------------------------------------------------------------


class VariableForm(Form):
    unit: Text | None = None
    domain: Any = None
    values: list[Any] | None = None
    value: Any = None
    step: fmpq | None = None
    kind: Literal["constant", "parameter", "decision", "variable", "derived"] = "variable"
    type: Literal["number", "float", "real", "integer", "int", "boolean", "bool", "string", "str", "enum", "list"] | None = None
    decided_by: Text = ""
    negotiable: bool = False
    hidden: bool = False
    cost: dict[str, Any] = {}


class TestsForm(Form):
    golden: list[Case] = []
    poisoned: list[Case] = []


class HarnessForm(Form):
    harness: Text = ""
    version: Count = 1
    title: Text = ""
    owner: Text = ""
    variables: dict[str, VariableForm] = Field(default={}, max_length=1000)
    derived: dict[str, Any] = {}
    rules: list[Rule] = Field(min_length=1, max_length=1000)
    tests: TestsForm = TestsForm()
    waived: list[Text] = []
    approval: Approval = Approval()


F = TypeVar("F", bound=Form)
_SAID: Final = {"missing": "is missing", "model_type": "must be a mapping", "dict_type": "must be a mapping",
                "list_type": "must be a list", "too_short": "must not be empty"}  # fmt: skip


def read_form(form: type[F], said: object) -> F:
    """Read a part of a file in its form. Raises `InvalidInputError`, which names the first fault and its place."""
    try:
        return form.model_validate(said)
    except ValidationError as exc:
        fault = exc.errors()[0]
        place = ".".join(str(each) for each in fault["loc"]) or "the file"
        message = _SAID.get(fault["type"], fault["msg"].removeprefix("Value error, ").replace("Input should be", "must be"))
        raise InvalidInputError(message, field=place) from exc
