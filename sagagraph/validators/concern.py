"""Concerns: a plan judged in scopes, each by a validator that is shown a slice of its own (SagaLLM sections 3.2.2 and 3.3).

A concern declares what it reads as a `msgspec` struct, its view: nothing else can get into its slices. Its scopes are selected
from the domain's case, and each is judged by its view alone, so that a verdict can be made again from its slice, and need not be
made again while the slice is the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

import msgspec

from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS, ContextSlice, Fact, content_hash, select
from sagagraph.errors import ContextBudgetError
from sagagraph.validators.kinds import Kind
from sagagraph.validators.registry import Judgement
from sagagraph.validators.verdict import Certificate, Verdict, Violation
from sagagraph.workflow.values import Json

Case = TypeVar("Case")
"""What the scopes of a domain are selected from: a plan, its request and the evidence."""
View = TypeVar("View", bound=msgspec.Struct)
Row = TypeVar("Row")

ROOM_BYTES = 3000
"""For the rows of a window: the rest of a slice is for what all its rows are judged by."""
_REMEMBERED: Final = 50_000


@dataclass(frozen=True, slots=True)
class Concern(Generic[Case, View]):
    """One validator of a domain. `check` must depend on the view alone.

    `scopes` names each scope and says what is shown of it; a rule that needs more than fits is checked in `windows`.
    """

    name: str
    kind: Kind
    view: type[View]
    scopes: Callable[[Case], Iterable[tuple[str, View]]]
    check: Callable[[View], Iterable[Violation]]
    version: int = 1

    def validate(self, artifact: Json, context: ContextSlice) -> Verdict:  # noqa: ARG002 - the slice has the artifact's part
        return Verdict.of(self.check(msgspec.convert(context.facts, self.view)))

    def slices(self, case: Case) -> Iterator[tuple[str, ContextSlice | ContextBudgetError]]:
        """Every scope with its slice, or with the error that names what does not fit in one."""
        for scope, view in self.scopes(case):
            try:
                yield scope, slice_of(view)
            except ContextBudgetError as exc:
                yield scope, exc


def slice_of(view: msgspec.Struct, *, budget_tokens: int = DEFAULT_BUDGET_TOKENS) -> ContextSlice:
    """All of a view: it is critical. Raises `ContextBudgetError` that names the field that does not fit."""
    facts: dict[str, Json] = msgspec.to_builtins(view)
    return select((Fact(name, value, critical=True) for name, value in facts.items()), budget_tokens=budget_tokens)


def windows(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows in order, as many at a time as fit: none for no rows. A row that fits in no window has one of its own."""
    window: list[Row] = []
    used = 0
    for row in rows:
        size = len(msgspec.json.encode(row)) + 1
        if window and used + size > ROOM_BYTES:
            yield window
            window, used = [], 0
        window.append(row)
        used += size
    if window:
        yield window


@dataclass(slots=True)
class Remembered:
    """Violations by validator, version and slice: a repair has only those scopes judged that it touched.

    `judged` counts the scopes that had to be judged. Not safe for threads.
    """

    judged: int = 0
    _known: OrderedDict[tuple[str, int, str], tuple[Violation, ...]] = field(default_factory=OrderedDict)

    def verdict(self, validator: Concern[Any, Any], context: ContextSlice) -> Verdict:
        key = validator.name, validator.version, context.hash
        found = self._known.get(key)
        if found is None:
            self.judged += 1
            found = self._known[key] = validator.validate(None, context).violations
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return Verdict.of(found)


def judge_scopes(concerns: Iterable[Concern[Case, Any]], case: Case, remembered: Remembered | None = None) -> Verdict:
    """One verdict with a certificate for each validator and scope; whoever knows the whole plan puts its hash into them.

    A slice that is too large, and an exception in a validator, leave their scope unjudged: UNKNOWN, unless another scope is
    INVALID.
    """
    known = remembered or Remembered()
    return together(verdict for each in concerns for verdict in _by(each, case, known))


def _by(concern: Concern[Case, Any], case: Case, known: Remembered) -> Iterator[Verdict]:
    try:
        for scope, context in concern.slices(case):
            yield _judged(concern, scope, context, known)
    except Exception as exc:  # noqa: BLE001 - what cannot be selected is not judged
        yield Verdict.unknown(f"{concern.name} could not be shown its part: {type(exc).__name__}: {exc}")


def _judged(concern: Concern[Any, Any], scope: str, context: ContextSlice | ContextBudgetError, known: Remembered) -> Verdict:
    if isinstance(context, ContextBudgetError):
        return Verdict.unknown(f"{concern.name} could not judge {scope}: {context}")
    try:
        verdict = known.verdict(concern, context)
    except Exception as exc:  # noqa: BLE001 - whatever breaks inside a validator says nothing about the plan
        verdict = Verdict.unknown(f"{concern.name} could not judge {scope}: {type(exc).__name__}: {exc}")
    certificate = Certificate(
        validator=concern.name,
        version=concern.version,
        artifact_hash="",
        slice_hash=context.hash,
        slice_tokens=context.tokens,
        kind=concern.kind.value,
        scope=scope,
        found=tuple(dict.fromkeys(each.code for each in verdict.violations)),
    )
    return verdict.model_copy(update={"certificate": certificate})


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """Their union, with all certificates."""
    each_verdict = tuple(verdicts)
    certificates = tuple(each.certificate for each in each_verdict if each.certificate is not None)
    return Judgement(each_verdict).verdict.model_copy(update={"certificates": certificates})


def certified(verdict: Verdict, artifact: Json) -> Verdict:
    """The verdict of several validators on `artifact`, which all its certificates name from now on."""
    hashed = content_hash(artifact)
    named = tuple(each.model_copy(update={"artifact_hash": hashed}) for each in verdict.certificates)
    return verdict.model_copy(update={"certificates": named})
