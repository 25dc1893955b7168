"""Plan documents, as the generic validators read them: steps, claims and statements. Plain JSON.

A planner's messages and thoughts have no place in it: unknown fields are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import AwareDatetime, BaseModel, Field, JsonValue, TypeAdapter

from sagagraph.workflow.condition import Comparison
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.values import Json


class _Part(BaseModel, frozen=True, extra="forbid", allow_inf_nan=False):
    pass


class Step(_Part):
    """One operation: its action, inputs, prerequisites and resources."""

    id: str = Field(min_length=1)
    action: str = Field(min_length=1)
    kind: ActionKind = ActionKind.READ_ONLY
    inputs: JsonValue = None
    depends_on: tuple[str, ...] = ()
    begins: AwareDatetime | None = None
    ends: AwareDatetime | None = None
    takes: Mapping[str, float] = Field(default_factory=dict)
    """Its use of shared resources, by name, for as long as it lasts."""
    cost: float = Field(default=0, ge=0)


class Term(_Part):
    """A fact's name, or a value."""

    fact: str | None = None
    value: JsonValue = None


class Claim(_Part):
    """One step of reasoning: the sum of `left` compares with `right`, because of facts and earlier claims."""

    id: str
    left: tuple[Term, ...]
    comparison: Comparison
    right: Term
    because: tuple[str, ...] = ()


class Statement(_Part):
    """What one agent holds to be true."""

    by: str
    about: str
    value: JsonValue


class PlanDocument(_Part):
    """Plan document. `request`: the wishes as the plan understands them."""

    request: Mapping[str, JsonValue] = Field(default_factory=dict)
    steps: tuple[Step, ...] = Field(min_length=1)
    claims: tuple[Claim, ...] = ()
    statements: tuple[Statement, ...] = ()

    @property
    def specs(self) -> tuple[OperationSpec, ...]:
        return tuple(OperationSpec(each.id, each.action, each.kind, each.inputs, each.depends_on) for each in self.steps)


PLAN = TypeAdapter(PlanDocument)


def leaves(value: Json, name: str = "") -> Iterator[tuple[str, Json]]:
    """Yield every plain value in a JSON value, under the name of its field."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from leaves(each, str(key))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from leaves(each, name)
    else:
        yield name, value
