"""Checks: one sentence that must hold of an adapter, what it depends on, and how it is tested."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from sagagraph.domains.travel.provider.receipts import ProviderGuarantees
from sagagraph.errors import SagaGraphError
from sagagraph.testing.providers.bench import Bench
from sagagraph.testing.providers.trial import ContractBrokenError, Trial

Promise = Literal["dedup", "void", "deadline", "refusals_final"]
Aid = Literal["ledger", "lose_next_answer", "unreachable"]
Run = Callable[[Trial], Awaitable[None]]


@dataclass(frozen=True)
class Check:
    """Check. `promise`: asked only of providers that declare it; `aid`: only if the bench has it."""

    run: Run
    promise: Promise | None
    aid: Aid | None
    of_each_kind: bool

    @property
    def name(self) -> str:
        """Return the sentence, with underscores."""
        return self.run.__name__


class Checks:
    """Checks of a module, collected in order."""

    def __init__(self) -> None:
        self._checks: list[Check] = []

    def __iter__(self) -> Iterator[Check]:
        return iter(self._checks)

    def add(self, *, promise: Promise | None = None, aid: Aid | None = None, of_each_kind: bool = True) -> Callable[[Run], Run]:
        def keep(run: Run) -> Run:
            self._checks.append(Check(run, promise, aid, of_each_kind))
            return run

        return keep


async def carry_out(check: Check, bench: Bench, name: str) -> str | None:
    """Return why the check was skipped for this provider; None: it ran, and holds. `name`: unlike any used before.

    Raises:
        ContractBrokenError: it does not hold; the message says what the provider did.
    """
    promises = await bench.provider.guarantees()
    if check.promise is not None and not _is_given(promises, check.promise):
        return f"the provider does not declare {check.promise}"
    if check.aid is not None and getattr(bench, check.aid) is None:
        return f"the bench has no {check.aid}"
    questions = list(bench.questions.items())
    if not questions:
        raise ContractBrokenError("the bench names nothing to book: give it a flight, a train or a hotel")
    for kind, question in questions if check.of_each_kind else questions[:1]:
        await _carry_out(check, Trial(bench, promises, kind, question, f"{name}-{kind}"))
    return None


async def _carry_out(check: Check, trial: Trial) -> None:
    about = f"{trial.kind}: " if check.of_each_kind else ""
    try:
        await check.run(trial)
    except ContractBrokenError as broken:
        raise ContractBrokenError(f"{about}{broken}") from broken.__cause__
    except SagaGraphError as exc:
        raise ContractBrokenError(f"{about}a call that should have been answered raised {type(exc).__name__}: {exc}") from exc


def _is_given(promises: ProviderGuarantees, promise: Promise) -> bool:
    return bool(getattr(promises, promise))
