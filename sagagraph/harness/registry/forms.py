"""Forms: what a file may say where, checked by Pydantic; numbers are exact, and every fault is one line that names its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

from flint import fmpq
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, model_validator

from sagagraph.errors import InvalidInputError
from sagagraph.harness.registry.harness import Severity


def _number(said: object) -> fmpq:
    if not isinstance(said, fmpq):
        raise ValueError("must be a number")  # noqa: TRY004 - Pydantic reports a ValueError with its place
    return said


def _count(said: object) -> int:
    if not isinstance(said, fmpq) or said.q != 1 or said < 0:
        raise ValueError("must be a whole number")
    return int(said.p)


def _text(said: object) -> str:
    if not isinstance(said, str | fmpq) or isinstance(said, bool):
        raise ValueError("must be text")  # noqa: TRY004 - as above
    return str(said)


Number = Annotated[fmpq, PlainValidator(_number)]
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
    step: Number | None = None
    kind: Literal["constant", "parameter", "decision", "variable", "derived"] = "variable"
    type: Literal["number", "float", "real", "integer", "int", "boolean", "bool", "string", "str", "list"] | None = None
    decided_by: Text = ""
    negotiable: bool = False
    hidden: bool = False
    cost: dict[str, Any] = {}


class RuleForm(Form):
    id: Annotated[Text, Field(min_length=1, max_length=200)]
    assertion: Any = None
    description: Text = ""
    target_field: Text = ""
    condition: Text = ""
    severity: Severity | Literal["CRITICAL", "FATAL"] = Severity.CRITICAL
    source: Text = ""
    negotiable: bool = True


class CaseForm(Form):
    name: Text = ""
    artifact: dict[str, Any] = {}
    must_fail: list[str] = []
    fails: list[str] | None = None


class TestsForm(Form):
    golden: list[CaseForm] = []
    poisoned: list[CaseForm] = []


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
    rules: list[RuleForm] = Field(min_length=1, max_length=1000)
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
