"""Rendering: one JSON document on standard output, or text for people; everything else goes to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sagagraph.cli.console import Printer, escape
from sagagraph.saga.core import events as e
from sagagraph.saga.core.doubt.remedies import in_words
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.maintenance.replay import Replay
from sagagraph.saga.engine.maintenance.retention import Retirement
from sagagraph.saga.engine.views.document import describe, plain
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.saga.engine.views.waits import waits_of
from sagagraph.validators.verdict import Verdict

T = TypeVar("T")
_GOOD = {SagaStatus.COMMITTED, OperationStatus.SUCCEEDED}
_BAD = {SagaStatus.HELD, SagaStatus.STUCK, OperationStatus.HELD, OperationStatus.COMPENSATION_FAILED, OperationStatus.FAILED}

stdout, stderr = Printer(), Printer(stderr=True)


def warn_of(shortfalls: Sequence[str]) -> None:
    """Warn of a database that can lose what it has acknowledged."""
    if shortfalls:
        told = f"unsafe durability: a crash of the database can lose what was acknowledged ({', '.join(shortfalls)})"
        stderr.print(told, markup=False)


def print_json(document: Any) -> None:
    sys.stdout.write(json.dumps(plain(document), ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def printed(document: T, show: Callable[[T], None], *, as_json: bool) -> int:
    """Print a document as JSON, or as `show` does. Returns 0, the exit code."""
    (print_json if as_json else show)(document)
    return 0


def announce(words: str, *, as_json: bool) -> Callable[[str], None]:
    """Announce where a service listens, once it does."""

    def tell(url: str) -> None:
        if as_json:
            print_json({"url": url})
        else:
            stdout.print(f"{words} {url}", markup=False)

    return tell


def print_saga(view: SagaView) -> None:
    from rich.table import Table

    table = Table("operation", "action", "status", "attempts", "error", box=None, pad_edge=False)
    for each in view.operations:
        error = each.note or (each.error["message"] if each.error else "")
        table.add_row(each.id, each.action, _coloured(each.status), str(each.attempts), escape(error))
    if view.operations:
        stdout.print(table)
    for each in view.operations:
        if each.remedy is not None:
            stdout.print(f"{each.id}:{in_words(each.remedy)}", markup=False)
            for answer, does in each.remedy.answers.items():
                stdout.print(f"  --as {answer}: {does}", markup=False)
    if view.trusts_exceptions:
        stdout.print("trusts exceptions: one that a node raises says that nothing of it stays", markup=False)
    if view.reason:
        stdout.print(f"because: {escape(view.reason)}")
    for lock in view.locks:
        times = "" if lock.begins is None and lock.ends is None else f" from {lock.begins} to {lock.ends}"
        amount = f", {lock.amount} of {lock.capacity}" if lock.mode == "counted" else ""
        stdout.print(f"keeps: {lock.key}{times} ({lock.mode}{amount}), for {lock.operation}", markup=False)
    for blocker in view.awaits:
        stdout.print(f"waits for: {blocker.key}, which saga {blocker.saga} keeps for {blocker.operation}", markup=False)
    if view.yielded_by:
        stdout.print(f"yielded: {view.yielded_by} released its locks to others", markup=False)
    for each_left in view.residue:
        stdout.print(f"residue: {escape(each_left)}")
    for use in view.models:
        cost = "" if use.cost_usd is None else f", ${use.cost_usd:.4f}"
        spent = f"{use.tokens_in:,} tokens in, {use.tokens_out:,} out, {use.seconds:.1f} s{cost}"
        stdout.print(f"{use.role}: asked {use.model} {use.questions} times: {spent}", markup=False)
    print_outcome(view)


def print_outcome(view: SagaView) -> None:
    cost = view.cost
    money = f", {cost.total:,.2f} {cost.currency}" if cost.currency and cost.total else ""
    fees = f", fees {cost.fees:,.2f} {cost.currency}" if cost.fees else ""
    stdout.print(f"saga {escape(view.saga_id)}: {_coloured(view.status)}{money}{fees}")


def print_sagas(sagas: Sequence[Saga], page: int, following: int | None) -> None:
    """Print one page of sagas, and which one follows, with reversals and amendments under the saga that they undo or change."""
    known = {saga.id: saga for saga in sagas}
    below = {saga.id: [each for each in (*saga.amendments, saga.reversal) if each in known] for saga in sagas}
    subordinate = {each for names in below.values() for each in names}
    for saga in sagas:
        if saga.id not in subordinate:
            stdout.print(f"{saga.id}: {status_of(saga).value}", markup=False)
            for each in below[saga.id]:
                stdout.print(f"  {each}: {status_of(known[str(each)]).value}", markup=False)
    if following is not None:
        stdout.print(f"there are older sagas: sagagraph status --page {following}")
    if not sagas:
        stdout.print("there are no sagas in this store" if page == 1 else f"there is no page {page}")


def print_replay(replayed: Replay) -> None:
    for each in replayed.differences:
        stdout.print(f"version {each.version}: {each.what}: journalled {each.journal}, replayed {each.replay}", markup=False)
    for why in replayed.unchecked:
        stdout.print(f"unchecked: {why}", markup=False)
    found = f"{len(replayed.differences)} differences" if replayed.differences else "no difference"
    stdout.print(
        f"saga {replayed.saga_id}: {replayed.versions} versions folded again, {replayed.validators} verdicts made again: {found}",
        markup=False,
    )


def print_retirement(told: Retirement, archive: Path | None, *, dry_run: bool) -> None:
    done = "dropped" if archive is None else f"archived in {archive}"
    for saga_id in told.retired:
        stdout.print(f"{saga_id}: {'would be ' if dry_run else ''}{done}", markup=False)
    for each in told.kept:
        stdout.print(f"{each.saga_id}: kept: {each.why}", markup=False)
    if not told.retired and not told.kept:
        stdout.print("no saga is that old and finished")


def print_verdict(verdict: Verdict) -> None:
    for each in verdict.violations:
        stdout.print(f"{each.code}: {each.message}", markup=False)
    stdout.print(f"{verdict.verdict.value}{f': {verdict.reason}' if verdict.reason else ''}", markup=False)


def print_preview(preview: CancelPreview) -> None:
    if not preview.possible:
        stdout.print(f"saga {escape(preview.saga_id)} cannot be cancelled")
    for each in preview.undo:
        doubt = "" if each.certain else " (in doubt: sealed, and undone if it had landed)"
        stdout.print(f"would undo {escape(each.id)} ({each.action}){doubt}, fee {each.fee:,.2f} {each.currency or ''}".rstrip())
    stdout.print(f"fees: {preview.fees:,.2f} {preview.currency or ''}".rstrip())
    for left in preview.residue:
        stdout.print(f"residue: {escape(left)}")


def print_plan(number: int, plan: Mapping[str, Any]) -> None:
    cost = plan["cost"]
    money = f": {cost['total']:,.2f} {cost['currency']}" if cost["total"] else ""
    stdout.print(f"plan {number} ({plan['plan_hash']}){money}")
    for leg in str(plan["title"]).split("; "):
        stdout.print(f"  {escape(leg)}")
    for reason in plan["reasons"]:
        stdout.print(f"  - {escape(reason)}")


def _coloured(status: SagaStatus | OperationStatus) -> str:
    colour = "green" if status in _GOOD else "red" if status in _BAD else "yellow"
    return f"[{colour}]{status.value}[/{colour}]"


_QUIET = (e.LeaseTaken, e.OperationProbed, e.PlanJudged)


def show_waits(saga: Saga, entries: tuple[e.Entry, ...]) -> None:
    """Print a line on standard error for each operation that has just begun to wait for its provider."""
    begun = {getattr(each.event, "operation", None) for each in entries if hasattr(each.event, "retry_at")}
    for each in waits_of(saga):
        if each.operation in begun:
            stderr.print(
                f"waiting {each.seconds:.0f} s before {each.operation} is tried again: {each.reason} "
                f"(Ctrl-C leaves it; go on with: sagagraph resume {saga.id})",
                markup=False,
            )


def show_progress(_saga: Saga, entries: tuple[e.Entry, ...]) -> None:
    """Return an observer that prints one line on standard error for each event that a person cares about."""
    for entry in entries:
        if not isinstance(entry.event, _QUIET):
            stderr.print(f"[dim]{escape(describe(entry))}[/dim]")
