"""Concerns: a plan judged in scopes, each by a validator that is shown a slice of its own (SagaLLM sections 3.2.2 and 3.3).

A concern declares what it reads as a `msgspec` struct, its view: nothing else can get into its slices. Its scopes are selected
from the domain's case, and each is judged by its view alone, so that a verdict can be made again from its slice, and need not be
made again while the slice is the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Generic, TypeVar

import msgspec

from sagagraph.context.slice import BYTES_PER_TOKEN, DEFAULT_BUDGET_TOKENS, ContextSlice, Fact, content_hash, hash_of, select
from sagagraph.errors import ContextBudgetError, InvalidInputError
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Certificate, Verdict, Violation
from sagagraph.workflow.values import Json

Case = TypeVar("Case")
"""What the scopes of a domain are selected from: a plan, its request and the evidence."""
View = TypeVar("View", bound=msgspec.Struct)
Row = TypeVar("Row")

ROOM_BYTES = 3000
"""For the rows of a window: the rest of a slice is for what they are judged by."""
SCOPED: Final = 2
"""The version of a domain's judgement: since 2 in scopes, before that by one validator that was shown everything. It increases
with the version of any of its validators.
"""
_REMEMBERED: Final = 50_000
_WRITER: Final = msgspec.json.Encoder(order="sorted")
_FEW: Final = 50
"""How many rows to try to show at once."""


@dataclass(frozen=True, slots=True)
class Concern(Generic[Case, View]):
    """Concern: one validator of a domain. `check` must depend on the view alone.

    `scopes` yields the name and the view of each scope; a rule that needs more than fits is checked in `windows`.
    """

    name: str
    kind: Kind
    view: type[View]
    scopes: Callable[[Case], Iterable[tuple[str, View]]]
    check: Callable[[View], Iterable[Violation]]
    version: int = 1

    def validate(self, artifact: Json, context: ContextSlice) -> Verdict:  # noqa: ARG002 - the slice has the artifact's part
        return Verdict.of(self.judged(written(context.facts)))

    def judged(self, slice_: bytes) -> tuple[Violation, ...]:
        return tuple(self.check(_reader(self.view).decode(slice_)))


@cache
def _reader(view: type[View]) -> msgspec.json.Decoder[View]:
    return msgspec.json.Decoder(view)


def written(view: msgspec.Struct | dict[str, Json]) -> bytes:
    """Write a slice as it is shown and hashed: JSON in one form, with sorted names."""
    return _WRITER.encode(view)


def slice_of(view: msgspec.Struct) -> ContextSlice:
    """Return all of a view as a slice: everything in it is critical. Raises `ContextBudgetError`, which names the field that does
    not fit.
    """
    facts: dict[str, Json] = msgspec.json.decode(written(view))
    return select(Fact(name, value, critical=True) for name, value in facts.items())


def windows(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the rows in order, as many at a time as fit: none for no rows. A row that fits in no window has one of its own."""
    left = list(rows)
    if len(left) <= _FEW and len(msgspec.json.encode(left)) <= ROOM_BYTES:
        if left:
            yield left
        return
    window: list[Row] = []
    used = 0
    for row in left:
        size = len(msgspec.json.encode(row)) + 1
        if window and used + size > ROOM_BYTES:
            yield window
            window, used = [], 0
        window.append(row)
        used += size
    if window:
        yield window


def each_row(
    name: str,
    kind: Kind,
    row: type[Row],
    rows: Callable[[Case], Iterable[Row]],
    check: Callable[[Row], Iterable[Violation]],
    version: int = 1,
) -> Concern[Case, Any]:
    """Return the concern that judges each row by itself, in windows, which are named by their first and last rows."""
    view: Any = msgspec.defstruct("RowsView", [("rows", tuple[row, ...])], frozen=True)  # type: ignore[valid-type]  # a value

    def scopes(case: Case) -> Iterator[tuple[str, Any]]:
        return ((f"{window[0]} to {window[-1]}", view(tuple(window))) for window in windows(rows(case)))

    return Concern(name, kind, view, scopes, lambda shown: (fault for each in shown.rows for fault in check(each)), version)


@dataclass(slots=True)
class Remembered:
    """Violations by validator, version and slice: after a repair, only the scopes that it touched are judged.

    `judged` counts the scopes that had to be judged. Not safe for threads.
    """

    judged: int = 0
    _known: OrderedDict[tuple[str, int, str], tuple[Violation, ...]] = field(default_factory=OrderedDict)

    def judge(self, concern: Concern[Any, Any], slice_: bytes, slice_hash: str) -> tuple[Violation, ...]:
        key = concern.name, concern.version, slice_hash
        found = self._known.get(key)
        if found is None:
            self.judged += 1
            found = self._known[key] = concern.judged(slice_)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return found


def judge_scopes(concerns: Iterable[Concern[Case, Any]], case: Case, remembered: Remembered | None = None) -> Verdict:
    """Return one verdict with a certificate for each validator and scope; a caller that knows the whole plan puts its hash into
    them.

    A slice that is too large, and an exception in a validator, leave their scope unjudged: UNKNOWN, unless another scope is
    INVALID.
    """
    union = _Union(remembered or Remembered())
    for each in concerns:
        union.judge(each, case)
    return union.verdict


@dataclass(slots=True)
class _Union:
    """Union of what the validators find. If there is nothing to look at, nothing is wrong."""

    known: Remembered
    violations: list[Violation] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    certificates: list[Certificate] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        is_unknown = self.reasons and not self.violations
        union = Verdict.unknown("; ".join(self.reasons)) if is_unknown else Verdict.of(self.violations)
        return union.model_copy(update={"certificates": tuple(self.certificates)})

    def judge(self, concern: Concern[Case, Any], case: Case) -> None:
        try:
            for scope, view in concern.scopes(case):
                self._judge_scope(concern, scope, view)
        except Exception as exc:  # noqa: BLE001 - what cannot be selected is not judged
            self.reasons.append(f"{concern.name} could not be shown its part: {type(exc).__name__}: {exc}")

    def _judge_scope(self, concern: Concern[Any, Any], scope: str, view: msgspec.Struct) -> None:
        shown = written(view)
        tokens = -(-len(shown) // BYTES_PER_TOKEN)
        if tokens > DEFAULT_BUDGET_TOKENS:
            self.reasons.append(f"{concern.name} could not judge {scope}: {_what_does_not_fit(view, tokens)}")
            return
        slice_hash = hash_of(shown)
        found: tuple[Violation, ...] = ()
        try:
            found = self.known.judge(concern, shown, slice_hash)
        except Exception as exc:  # noqa: BLE001 - whatever breaks inside a validator says nothing about the plan
            self.reasons.append(f"{concern.name} could not judge {scope}: {type(exc).__name__}: {exc}")
        self.violations += found
        certificate = Certificate(
            validator=concern.name,
            version=concern.version,
            artifact_hash="",
            slice_hash=slice_hash,
            slice_tokens=tokens,
            kind=concern.kind.value,
            scope=scope,
            found=tuple(dict.fromkeys(each.code for each in found)) if found else (),
        )
        self.certificates.append(certificate)


def _what_does_not_fit(view: msgspec.Struct, tokens: int) -> str:
    try:
        slice_of(view)
    except ContextBudgetError as exc:
        return str(exc)
    return f"the slice needs {tokens} tokens"


def certified(verdict: Verdict, artifact: Json, by: str) -> Verdict:
    """Return the verdict of several validators on `artifact`: its certificates name it, and one stands for all, by their root
    hash.
    """
    hashed = content_hash(artifact)
    each_named = tuple(each.model_copy(update={"artifact_hash": hashed}) for each in verdict.certificates)
    whole = Certificate(
        validator=by,
        version=max((SCOPED, *(each.version for each in each_named))),
        artifact_hash=hashed,
        slice_hash=content_hash([[each.validator, each.version, each.scope, each.slice_hash] for each in each_named]),
        slice_tokens=max((each.slice_tokens for each in each_named), default=0),
        slices=len(each_named),
    )
    return verdict.model_copy(update={"certificate": whole, "certificates": each_named})


def history_end(stated: int | None, by_events: Sequence[int], old: str) -> int:
    """Return until when the `old` plan was carried out: as stated, or else the first of these moments.

    Raises:
        InvalidInputError: it is not stated, and no event says it.
    """
    if stated is None and not by_events:
        message = f"say until when the old {old} was carried out, or what happened then"
        raise InvalidInputError(message, field="executed_until")
    return by_events[0] if stated is None else stated


def in_order_of(verdict: Verdict, row: str) -> Verdict:
    """Return the verdict with its violations in the order of the plan's rows, which they name as `row` in their scope; others
    last.
    """
    ordered = sorted(verdict.violations, key=lambda each: (row not in each.scope, each.scope.get(row, 0)))
    return verdict.model_copy(update={"violations": ordered})
