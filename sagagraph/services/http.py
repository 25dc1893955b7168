"""HTTP: any service that has an OpenAPI document, and a few lines that say which operation books, which undoes and which asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.refusals import http_refused
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, Declaration, Function, Guarantees, action
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.call import Probe
from sagagraph.services.contract.line import Fault
from sagagraph.services.http_description import Described, Description, Promised, Step, at, described, filled
from sagagraph.services.service import POLICY, TERMS, Account, Opened, Promise, Sheet, Trial
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.values import Json

with needing("http"):
    import httpx2
    import yaml

_METHODS: Final = ("get", "put", "post", "delete", "patch")
_IF_THERE: Final = ("get", "delete")


class HttpService:
    """Service at an account, as it is described. `document`: its OpenAPI document."""

    def __init__(self, account: Account, document: Mapping[str, Any], client: httpx2.AsyncClient) -> None:
        self.identity = account.identity
        self._client, self._base = client, account.address.rstrip("/")
        self._paths = {
            said["operationId"]: (method, path, {each["name"]: each["in"] for each in _parameters(document, item, said)})
            for path, item in document.get("paths", {}).items()
            for method, said in item.items()
            if method in _METHODS and "operationId" in said
        }

    def check(self, step: Step, where: str) -> None:
        """Raises `InvalidInputError` for an operation or a parameter that the document does not have."""
        if step.operation not in self._paths:
            raise InvalidInputError(f"the document has no operation {step.operation!r}", field=where)
        known = self._paths[step.operation][2]
        if missing := [each for each in known if known[each] == "path" and each not in step.parameters]:
            raise InvalidInputError(f"{step.operation!r} needs {', '.join(missing)}", field=f"{where}.parameters")
        if unknown := [each for each in step.parameters if each not in known]:
            raise InvalidInputError(f"{step.operation!r} has no parameter {', '.join(unknown)}", field=f"{where}.parameters")

    async def ask(self, step: Step, values: Mapping[str, Any], key: str = "") -> Any:
        """Call the operation. Returns the JSON of its answer; None where what is asked for, or deleted, is not there.

        Raises `httpx2.HTTPError`.
        """
        method, path, places = self._paths[step.operation]
        said: dict[str, dict[str, Any]] = {"query": {}, "header": {}, "path": {}, "cookie": {}}
        for name, value in step.parameters.items():
            said[places[name]][name] = filled(value, values)
        for name, value in said["path"].items():
            path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
        headers = {**said["header"], **({step.key: key} if step.key else {})}
        body = {} if step.body is None else {"json": filled(step.body, values)}
        answer = await self._client.request(method, self._base + path, params=said["query"], headers=headers, **body)
        if method in _IF_THERE and answer.status_code == httpx2.codes.NOT_FOUND:
            return None
        answer.raise_for_status()
        return answer.json() if answer.content else None


def _parameters(document: Mapping[str, Any], item: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for each in (*item.get("parameters", ()), *said.get("parameters", ())):
        yield at(document, each["$ref"].removeprefix("#")) if "$ref" in each else each


def http_actions(service: HttpService, said: Description) -> tuple[Action, ...]:
    for name, each in said.actions.items():
        for part in ("book", "ask", "undo", "void"):
            if (step := getattr(each, part)) is not None:
                service.check(step, f"actions.{name}.{part}")
    return tuple(_action(service, name, each) for name, each in said.actions.items())


def _action(service: HttpService, name: str, said: Described) -> Action:
    def result_in(answer: Any) -> dict[str, Json]:
        return {name: at(answer, pointer) for name, pointer in said.result.items()}

    async def book(request: Any, call: Call) -> Any:
        return result_in(await service.ask(said.book, _values(request, call), call.idempotency_key))

    async def undo(request: Any, result: Any, call: Call) -> Any:
        step = said.undo or said.void
        return await service.ask(step, _values(request, call, result), call.idempotency_key) if step else None

    async def void(request: Any, call: Call) -> Any:
        return await service.ask(said.void, _values(request, call)) if said.void else None

    async def find(request: Any, call: Call) -> Probe:
        if (ask := said.ask) is None:
            return Probe.unknown("nothing is described that could be asked")
        answer = await service.ask(ask, _values(request, call))
        found = at(answer, ask.found)
        landed = found if isinstance(found, list) else [found] if found else []
        live = [each for each in landed if not (ask.undone and _looks(each, ask.undone))]
        if len(live) > 1:
            return Probe.multiple([result_in(each) for each in live])
        if live:
            return Probe.landed(result_in(live[0]))
        is_undone = bool(landed) or (ask.voided != "" and at(answer, ask.voided) is True)
        return Probe.undone() if is_undone else Probe.absent()

    declared: Declaration = {"name": name, "kind": _kind(said), "policy": POLICY, "provider": service.identity}
    declared["fails_on"] = http_refused
    if said.promises is not None:
        declared["guarantees"] = _guarantees(said.promises, void)
    if _can_be_undone(said):
        declared["compensate"] = undo
    if said.ask is not None:
        declared["probe"] = find
    return action(book, **declared)


def _can_be_undone(said: Described) -> bool:
    return said.undo is not None or said.void is not None


def _kind(said: Described) -> ActionKind:
    return ActionKind.COMPENSATABLE if _can_be_undone(said) else ActionKind.PIVOT


def _guarantees(given: Promised, void: Function) -> Guarantees:
    return Guarantees(
        dedup=None if given.dedup is None else timedelta(seconds=given.dedup),
        settles=None if given.settles is None else timedelta(seconds=given.settles),
        void=void if given.void else None,
        deadline=given.deadline,
        refusals_final=given.refusals_final,
    )


def _sheet(name: str, said: Described) -> Sheet:
    given = said.promises
    terms = [term for term in TERMS if given is not None and getattr(given, term) not in (None, False)]
    promises = tuple(Promise(term, "as described", given.source) for term in terms if given is not None)
    undo = said.undo or said.void
    probe = said.ask.operation if said.ask else ""
    return Sheet(name, _kind(said), said.does, undo.operation if undo else "", probe, promises, said.lasting)


def _values(request: Any, call: Call, result: Any = None) -> dict[str, Any]:
    named = {
        "key": call.operation_key,
        "deadline": call.deadline.isoformat(),
        "saga": call.saga_id,
        "operation": call.operation_id,
    }
    return {**named, "request": request, "result": result}


def _looks(row: Any, how: Mapping[str, Any]) -> bool:
    return all(at(row, pointer) == value for pointer, value in how.items())


@asynccontextmanager
async def open_account(account: Account) -> AsyncIterator[Opened]:
    """Open the account as the file of its option `description` says."""
    file = Path(str(account.options.get("description") or ""))
    said = await asyncio.to_thread(_described_in, file)
    header = {"Authorization": f"Bearer {account.secret}"} if account.secret and not account.user else {}
    auth = httpx2.BasicAuth(account.user, account.secret) if account.user else None
    async with httpx2.AsyncClient(auth=auth, headers=header, timeout=POLICY.timeout_s) as client:
        service = HttpService(account, await asyncio.to_thread(_document, said.openapi, file), client)
        actions = http_actions(service, said)
        sheets = tuple(_sheet(name, each) for name, each in said.actions.items())
        yield Opened(actions, _trial(service, said, actions), sheets)


def _described_in(file: Path) -> Description:
    if not file.is_file():
        raise InvalidInputError("name the file that describes the service: --option description=FILE.yaml", field="description")
    return described(file.read_text(encoding="utf-8"))


def _document(where: str, beside: Path) -> Any:
    """Read the OpenAPI document, as JSON or YAML. It is asked for without the account's secret."""
    try:
        is_elsewhere = where.startswith(("http://", "https://"))
        text = httpx2.get(where).raise_for_status().text if is_elsewhere else (beside.parent / where).read_text(encoding="utf-8")
        found = yaml.safe_load(text)
    except (OSError, httpx2.HTTPError, yaml.YAMLError) as exc:
        raise InvalidInputError(f"{where!r} cannot be read: {type(exc).__name__}", field="openapi") from exc
    if not isinstance(found, dict) or not isinstance(found.get("paths"), dict):
        raise InvalidInputError(f"{where!r} is no OpenAPI document: it has no paths", field="openapi")
    return found


def _trial(service: HttpService, said: Description, actions: tuple[Action, ...]) -> Trial:
    tried = said.trial
    if tried is None:
        return Trial(None, done=None, undone=None)
    tries = next(each for each in actions if each.name == tried.action)

    async def book(saga: BodySaga, name: str) -> None:
        looked = None if tried.look is None else await service.ask(tried.look, {"name": name})
        await saga.run(tries, filled(tried.request, {"name": name, "looked": looked}))

    async def standing(name: str) -> dict[str, int]:
        answer = await service.ask(tried.records, {"name": name})

        def of(pointer: str) -> list[Any]:
            return [each for each in at(answer, pointer) or () if at(each, tried.name) == name]

        live = [each for each in of(tried.rows) if _looks(each, tried.live)]
        return {"live": len(live), "too often": sum(max(0, len(of(each)) - 1) for each in tried.once)}

    unasked = frozenset[str]() if tries.guarantees.dedup else frozenset({Fault.TWICE})
    done, undone = {"live": 1, "too often": 0}, {"live": 0, "too often": 0}
    return Trial(standing, done=done, undone=undone, book=book, unasked=unasked)
