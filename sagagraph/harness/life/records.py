"""Records: what people decided about harnesses, each written once in the database of the journals, and never changed.

Versions are frozen by hash. A change of a frozen harness is a proposal, which must be approved by people other than its author.
An override moves one parameter, for one report, once; rules and assertions are never rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from flint import fmpq
from pydantic import BaseModel

from sagagraph.errors import ConflictError, InvalidInputError, NotAllowedError
from sagagraph.harness.judging.check import run_tests
from sagagraph.harness.language.parser import NotANumberError, rational
from sagagraph.harness.life.cases import mutants, score
from sagagraph.harness.proof.explain import Explanation, Status, explain, explanation_json
from sagagraph.harness.registry.harness import Harness, hash_of
from sagagraph.saga.stores.port import Document, Documents

KINDS: Final = ("frozen", "proposal", "approval", "override", "use")


@dataclass(frozen=True, slots=True)
class Person:
    """Person. `role`: reader, author or approver. An agent is always a reader, whatever it claims."""

    name: str
    role: str

    def require(self, role: str, what: str) -> None:
        if self.role != role or not self.name.strip() or self.name.strip().lower().partition(":")[0] in ("agent", "model"):
            raise NotAllowedError(f"{self.name or 'nobody'} ({self.role}) may not {what}: it takes a person who is {role}")


class Override(BaseModel, frozen=True):
    """Override. `to` and `before`: exact texts. `until`: a date, or empty for one run."""

    parameter: str
    before: str
    to: str
    report: str
    by: str
    role: str
    reason: str
    until: str = ""


T = TypeVar("T")


class Think(Protocol):
    """Function that does slow work: here, or in a separate process."""

    async def __call__(self, think: Callable[[], T], /) -> T: ...


async def _here(think: Callable[[], T], /) -> T:
    return think()


class Records:
    """Records of one harness id. `documents`: of the store; `today`: the date by which expiry is decided."""

    def __init__(self, documents: Documents, harness_id: str) -> None:
        if not harness_id:
            raise InvalidInputError("a harness needs an id before anything about it can be kept", field="harness")
        self._documents = documents
        self._saga = f"harness:{harness_id}"

    async def _all(self, kind: str) -> tuple[Mapping[str, Any], ...]:
        return tuple(each.data for each in await self._documents.documents(self._saga, kind))

    async def _put(self, kind: str, key: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Store it under its key, bound to all earlier ones of its kind (`previous`, a hash), unless the key is taken."""
        chained = {**data, "previous": hash_of(await self._all(kind))}
        return dict((await self._documents.put(Document(self._saga, kind, key, chained))).data)

    async def broken_links(self) -> tuple[str, ...]:
        """Return the records that are not bound to those before them: something was changed, dropped or inserted."""
        found: list[str] = []
        for kind in KINDS:
            rows = await self._all(kind)
            broken = (number for number, each in enumerate(rows) if each.get("previous") != hash_of(rows[:number]))
            found += [f"{kind} {number + 1}" for number in broken]
        return tuple(found)

    # -- freezing --

    async def freeze(self, harness: Harness, by: Person, at: str, think: Think = _here) -> Mapping[str, Any]:
        """Freeze a version: tests kept, mutants killed or waived, satisfiability stated. The first version needs an author only.

        Raises:
            NotAllowedError: the person may not, or a later version has no approved proposal.
            InvalidInputError: what keeps it from being frozen.
        """
        by.require("author", "freeze a harness")
        known = await think(partial(_fit_to_freeze, harness))
        for version in (await self._all("frozen"))[
            -1:
        ]:  # as many as the version in force says: a proposal cannot lower the number itself
            approved = {each["by"] for each in await self._all("approval") if each["hash"] == harness.hash}
            if len(approved) < version["approvals"]:
                said = f"propose it, and let {version['approvals']} others approve it ({len(approved)} did)"
                raise NotAllowedError(f"version {harness.version} changes a frozen harness: {said}")
        kept = await self._put("frozen", str(harness.version), {
            "version": harness.version, "hash": harness.hash, "by": by.name, "at": at, "approvals": harness.approval.needed,
            "approvers": list(harness.approval.of), **known,
        })  # fmt: skip
        if kept["hash"] != harness.hash:
            raise ConflictError(f"version {harness.version} is frozen with other content (hash {kept['hash'][:12]}): count it up")
        return kept

    async def require_unchanged(self, harness: Harness) -> None:
        """Refuse a file that was changed after it was frozen. Raises `ConflictError`."""
        for each in await self._all("frozen"):
            if each["version"] == harness.version and each["hash"] != harness.hash:
                raise ConflictError(f"version {harness.version} of {harness.id} was changed after it was frozen: count it up")

    # -- changes --

    async def propose(self, harness: Harness, by: Person, reason: str, at: str) -> Mapping[str, Any]:
        """Propose a version as it is in the file. Raises `NotAllowedError`."""
        by.require("author", "propose a change")
        said = {"hash": harness.hash, "version": harness.version, "by": by.name, "reason": reason, "at": at}
        return await self._put("proposal", harness.hash, said)

    async def approve(self, harness: Harness, by: Person, at: str) -> Mapping[str, Any]:
        """Approve a proposal. Raises `NotAllowedError` for its author and for everybody who is not an approver."""
        by.require("approver", "approve a change")
        proposal = next((each for each in await self._all("proposal") if each["hash"] == harness.hash), None)
        if proposal is None:
            raise NotAllowedError("nobody proposed this content of the file")
        if proposal["by"].strip().casefold() == by.name.strip().casefold():
            raise NotAllowedError(f"{by.name} made the proposal and cannot approve it")
        frozen = await self._all("frozen")
        allowed = frozen[-1]["approvers"] if frozen else ()
        if allowed and by.name not in allowed:
            raise NotAllowedError(f"{by.name} is not among those who approve changes: {', '.join(allowed)}")
        return await self._put("approval", f"{harness.hash}/{by.name}", {"hash": harness.hash, "by": by.name, "at": at})

    # -- overrides --

    async def override(self, harness: Harness, given: Override, by: Person, at: str, think: Think = _here) -> Mapping[str, Any]:
        """Sign an override for a report. A report is answered only once. `think`: runs the proof, which is made again.

        Raises:
            NotAllowedError: the person may not, or the parameter is not negotiable.
            ConflictError: the report is a different one, or was answered differently.
            InvalidInputError: the value does not resolve the paradox.
        """
        by.require("approver", "override a limit")
        found = await think(partial(explain, harness))
        if found.status is not Status.PARADOX or report_hash(harness, found) != given.report:
            raise ConflictError("that is not the hash of this harness's report: it is about something else, or out of date")
        variable = harness.variables.get(given.parameter)
        if variable is None or not variable.is_negotiable or not isinstance(variable.value, fmpq):
            raise NotAllowedError(f"{given.parameter} is not a negotiable parameter")
        if str(variable.value) != given.before:
            raise ConflictError(f"{given.parameter} is {variable.value}, not {given.before}")
        if (await think(partial(explain, overlaid(harness, given), relax=False))).status is not Status.SATISFIABLE:
            raise InvalidInputError(f"{given.to} does not resolve it", field="--to")
        signed = given.model_copy(update={"by": by.name, "role": by.role})
        kept = await self._put("override", given.report, {**signed.model_dump(), "at": at})
        if Override.model_validate(kept) != signed:
            raise ConflictError(f"this report was answered by {kept['by']} at {kept['at']}")
        return kept

    async def consume(self, report: str, run: str, today: date) -> Override | None:
        """Return the override that answers a report, for this run. It serves one run, unless it is valid until a date. Safe to
        repeat.
        """
        kept = await self.override_of(report)
        if kept is None:
            return None
        given = Override.model_validate(kept)
        if given.until:
            return given if date.fromisoformat(given.until) >= today else None
        used = await self._put("use", report, {"report": report, "run": run})
        return given if used["run"] == run else None

    async def override_of(self, report: str) -> Mapping[str, Any] | None:
        """Return the override that a person signed for a report."""
        return next((each for each in await self._all("override") if each["report"] == report), None)

    async def audit(self, today: date) -> dict[str, Any]:
        """Return every decision, and the overrides in force."""
        used = {each["report"]: each["run"] for each in await self._all("use")}
        overrides: list[Mapping[str, Any]] = []
        for each in await self._all("override"):
            in_force = date.fromisoformat(each["until"]) >= today if each["until"] else each["report"] not in used
            overrides.append({**each, "used_by": used.get(each["report"]), "in_force": in_force})
        known = {f"{kind}s": await self._all(kind) for kind in ("proposal", "approval")}
        return {"frozen": await self._all("frozen"), **known, "overrides": overrides, "broken_links": await self.broken_links()}


def _fit_to_freeze(harness: Harness) -> dict[str, Any]:
    """Return what is recorded about a version. Raises `InvalidInputError`, which says what keeps it from being frozen."""
    broken = [each.name for each in run_tests(harness).cases if not each.kept]
    if broken:
        raise InvalidInputError(f"its tests are not kept: {', '.join(broken[:5])}", field="tests")
    found = mutants(harness)
    surviving = [each.name for each in found if not each.killed and each.name not in harness.waived]
    if surviving:
        listed = "; ".join(surviving[:5])
        raise InvalidInputError(f"no test notices {len(surviving)} mutants, nor are they waived: {listed}", field="waived")
    waived = [each.name for each in found if not each.killed]
    return {"mutation_score": score(found), "waived": waived, "satisfiable": explain(harness, relax=False).status.value}


def overlaid(harness: Harness, given: Override) -> Harness:
    """Return the harness with the override's value: its file and hash stay as they are. Raises `InvalidInputError`."""
    try:
        to = rational(given.to)
    except NotANumberError as exc:
        raise InvalidInputError(str(exc), field="--to") from exc
    if harness.variables[given.parameter].excludes(to):
        raise InvalidInputError(f"{given.to} is outside the domain of {given.parameter}", field="--to")
    return harness.with_values({given.parameter: to})


def report_hash(harness: Harness, found: Explanation) -> str:
    """Return the hash of a deadlock report, to which an override is bound."""
    said = explanation_json(harness, found)
    return hash_of({key: said[key] for key in ("status", "conflicts", "relaxations", "harness_hash", "certificates")})
