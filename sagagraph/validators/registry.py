"""Registry of validators: which exist, what they are for, and how several judge one artifact, each by its own slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS, ContextSlice, Fact, select
from sagagraph.errors import ContextBudgetError, InvalidInputError
from sagagraph.validators.inter import (
    Consistency,
    Contract,
    DependencySatisfaction,
    MutualAgreement,
    Temporal,
    TransactionalIntegrity,
)
from sagagraph.validators.intra import ConstraintAdherence, ContextRetention, Factual, Reasoning, Semantic, Syntactic
from sagagraph.validators.kinds import Kind
from sagagraph.validators.protocol import Validator, judge
from sagagraph.validators.verdict import Verdict, VerdictStatus

TIME_LIMIT_S: Final = 30.0
"""Seconds for one validator; one that takes longer counts as an outage, and its verdict is UNKNOWN."""


@dataclass(frozen=True, slots=True)
class Registered:
    validator: Validator
    kinds: frozenset[Kind]


class ValidatorRegistry:
    """Validators by name and version; each serves one or more kinds."""

    def __init__(self, entries: Iterable[Registered] = ()) -> None:
        self._entries: dict[tuple[str, int], Registered] = {}
        for each in entries:
            self.add(each.validator, *each.kinds)

    def __iter__(self) -> Iterator[Registered]:
        return iter(self._entries.values())

    def add(self, validator: Validator, *kinds: Kind) -> None:
        """Register one. Raises `InvalidInputError` for a validator without a kind, and for a duplicate name and version."""
        key = validator.name, validator.version
        if not kinds:
            raise InvalidInputError(f"validator {validator.name!r}: say which kind it serves", field="kinds")
        if key in self._entries:
            raise InvalidInputError(f"validator {validator.name!r} version {validator.version} is registered", field="validator")
        self._entries[key] = Registered(validator, frozenset(kinds))

    def of(self, kind: Kind) -> tuple[Validator, ...]:
        return tuple(each.validator for each in self if kind in each.kinds)

    def find(self, name: str, version: int) -> Validator:
        """Return the validator that a certificate names. Raises `InvalidInputError` if it is not registered."""
        try:
            return self._entries[name, version].validator
        except KeyError:
            raise InvalidInputError(f"validator {name!r} version {version} is not registered", field="validator") from None

    @property
    def missing(self) -> frozenset[Kind]:
        """Return the kinds that no validator serves."""
        return frozenset(Kind) - {kind for each in self for kind in each.kinds}


def generic_validators() -> ValidatorRegistry:
    """Return one deterministic validator of plan documents for every kind."""
    return ValidatorRegistry(
        Registered(validator, frozenset({Kind(validator.name)}))
        for validator in (
            Syntactic(),
            Semantic(),
            Factual(),
            ConstraintAdherence(),
            Reasoning(),
            ContextRetention(),
            Contract(),
            DependencySatisfaction(),
            Consistency(),
            Temporal(),
            MutualAgreement(),
            TransactionalIntegrity(),
        )
    )


@dataclass(frozen=True, slots=True)
class Judgement:
    """Judgement by several. `verdicts`: one per validator, in their order."""

    verdicts: tuple[Verdict, ...]

    @property
    def verdict(self) -> Verdict:
        """Combine all verdicts: a violation outweighs an outage, and an outage outweighs approval."""
        if not self.verdicts:
            return Verdict.unknown("nobody has judged it")
        violations = tuple(violation for each in self.verdicts for violation in each.violations)
        reasons = [each.reason for each in self.verdicts if each.verdict is VerdictStatus.UNKNOWN]
        if violations:
            return Verdict.of(violations)
        return Verdict.unknown("; ".join(reasons)) if reasons else Verdict.of([])


def slice_for(validator: Validator, facts: Iterable[Fact], *, budget_tokens: int = DEFAULT_BUDGET_TOKENS) -> ContextSlice:
    """Return the facts that it declares to read (`reads`), and no others; all that fit, if it declares nothing.

    Raises `ContextBudgetError` if its critical facts do not fit.
    """
    reads: tuple[str, ...] | None = getattr(validator, "reads", None)
    return select((each for each in facts if reads is None or each.name in reads), budget_tokens=budget_tokens)


async def judge_by(
    validators: Iterable[Validator], artifact: object, facts: Iterable[Fact], *, within_s: float = TIME_LIMIT_S
) -> Judgement:
    """Judge by several validators, each of which sees only the artifact and its slice. One whose critical facts do not fit
    answers UNKNOWN.
    """
    given = tuple(facts)
    verdicts: list[Verdict] = []
    for validator in validators:
        try:
            context = slice_for(validator, given)
        except ContextBudgetError as exc:
            verdicts.append(Verdict.unknown(f"{validator.name} could not judge: {exc}"))
        else:
            verdicts.append(await judge(validator, artifact, context, within_s=within_s))
    return Judgement(tuple(verdicts))


def facts_of(given: Mapping[str, object]) -> tuple[Fact, ...]:
    """Return facts that a judgement cannot do without."""
    return tuple(Fact(name, value, critical=True) for name, value in given.items())
