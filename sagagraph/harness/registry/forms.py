"""Forms: what a file may say where, checked by Pydantic; numbers are exact, and every fault is one line that names its place.

Rules and tests are kept as they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeVar

from flint import fmpq
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, SkipValidation, ValidationError, model_validator

from sagagraph.errors import InvalidInputError
from sagagraph.harness.language.tree import TRUE, Node


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


class Form(BaseModel):
    """Keys that nobody reads are kept, and warned of; what is null is not said."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow", arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, said: Any) -> Any:
        return {key: each for key, each in said.items() if each is not None} if isinstance(said, Mapping) else said

    def unread(self, where: str) -> Iterator[str]:
        """Yield the keys that mean nothing here; words for people may stand anywhere."""
        yield from (f"{where}{name} is not read" for name in self.model_extra or {} if name not in _WORDS)


class VariableForm(Form):
    unit: Text | None = None
    domain: Any = None
    value: Any = None
    step: fmpq | None = None
    kind: Literal["constant", "parameter", "decision", "variable", "derived"] = "variable"
    type: Literal["number", "float", "real", "integer", "int", "boolean", "bool", "string", "str", "list"] | None = None
    decided_by: Text = ""
    negotiable: bool = False
    hidden: bool = False
    cost: dict[str, Any] = {}


class Severity(StrEnum):
    CRITICAL = "CRITICAL"
    FATAL = "FATAL"
    """Its assertion is never negotiable."""


class Rule(Form):
    """`tree`: its assertion, parsed. `negotiable`: whether a limit that its assertion states as a number may be moved."""

    id: Annotated[Text, Field(min_length=1, max_length=200)]
    assertion: Any = None
    tree: SkipValidation[Node] = TRUE
    description: Text = ""
    target_field: Text = ""
    condition: Text = ""
    severity: Annotated[Severity, Field(strict=False)] = Severity.CRITICAL
    source: Text = ""
    negotiable: bool = True

    def with_tree(self, tree: Node) -> Rule:
        return self.model_copy(update={"tree": tree})


class Case(Form):
    """A test: an artifact, and the rules that it must fail: at least `must_fail`, or exactly `fails` where that is stated."""

    name: Text = ""
    artifact: dict[str, Any] = {}
    must_fail: list[str] = []
    fails: list[str] | None = None


class TestsForm(Form):
    golden: list[Case] = []
    poisoned: list[Case] = []


class ApprovalForm(Form):
    needed: Count = 1
    of: list[Text] = []


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
    approval: ApprovalForm = ApprovalForm()


F = TypeVar("F", bound=Form)


def read_form(form: type[F], said: object) -> F:
    """Return what is said in its form. Raises `InvalidInputError`, which names the first fault and its place."""
    try:
        return form.model_validate(said)
    except ValidationError as exc:
        fault = exc.errors()[0]
        place = ".".join(str(each) for each in fault["loc"]) or "the file"
        message = fault["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
        raise InvalidInputError(message, field=place) from exc
