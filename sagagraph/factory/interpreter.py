"""Interpreter: walks through a document, and asks for its tasks as operations of a saga.

What becomes known only at run time, which branch a choice takes and which members a map has, is an operation too: it is
journalled, and a run that goes on after a crash meets the same one.
"""

from __future__ import annotations

import asyncio
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sagagraph.errors import OperationFailedError
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, action, to_json
from sagagraph.workflow.condition import holds
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.language.document import (
    INDEX,
    INPUT,
    ITEM,
    Document,
    Edge,
    EdgeKind,
    Graph,
    Node,
    NodeType,
)
from sagagraph.workflow.language.schemas import misfits
from sagagraph.workflow.operation import resolve
from sagagraph.workflow.order import in_order
from sagagraph.workflow.policy import Catch
from sagagraph.workflow.values import Json

_ANY_MEMBERS: Final = 100


class Runner(Protocol):
    """Runner: whoever carries operations out (a saga's body), or knows what became of them (its journal)."""

    async def run(self, action: Action, request: object, *, id: str, after: tuple[str, ...]) -> Any:  # noqa: A002
        """Return the result. Raises `OperationFailedError` if nothing of it stands."""

    async def code_of(self, operation: str) -> str:
        """Return the code with which an operation failed."""


@action(name="workflow.choose", kind=ActionKind.READ_ONLY)
def choose(request: dict[str, Any], call: Call) -> dict[str, Any]:  # noqa: ARG001
    """Decide which branch is taken: what is asked for is the decision, and the journal keeps it."""
    return {"chosen": request["chosen"]}


@action(name="workflow.members", kind=ActionKind.READ_ONLY)
def members(request: dict[str, Any], call: Call) -> list[Any]:  # noqa: ARG001
    """Decide the members of a map."""
    return list(request["members"])


@dataclass(frozen=True, slots=True)
class Ended:
    """End of a node. `last`: the operations that whatever comes next comes after. A skipped node neither succeeded nor failed."""

    succeeded: bool = False
    failed: bool = False
    error_code: str | None = None
    output: Json = None
    last: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where a graph is carried out: what is known there, by node, and how its operations' ids begin."""

    known: ChainMap[str, Ended]
    prefix: str = ""
    before: tuple[str, ...] = ()

    def within(self, prefix: str, before: tuple[str, ...], **bindings: Json) -> _Scope:
        added = {name: Ended(succeeded=True, output=value) for name, value in bindings.items()}
        return _Scope(self.known.new_child(added), prefix, before)

    @property
    def outputs(self) -> dict[str, Json]:
        return {name: each.output for name, each in self.known.items()}


class Interpreter:
    """One run of a document. `serial`: one node after the other, in an order that is the same everywhere, as other engines run
    its export.
    """

    def __init__(self, document: Document, actions: Mapping[str, Action], runner: Runner, *, serial: bool = False) -> None:
        self._document = document
        self._actions = actions
        self._runner = runner
        self._serial = serial
        self._latest: tuple[str, ...] = ()
        self._failure: OperationFailedError | None = None

    async def run(self, given: Json) -> dict[str, Json]:
        """Return the output of each node of the outer graph that was carried out.

        Raises `OperationFailedError`, once everything that had begun has ended: the body that lets it through compensates.
        """
        scope = _Scope(ChainMap()).within("", (), **{INPUT: given})
        ended = await self._graph(self._document.graph, scope)
        if self._failure is not None:
            raise self._failure
        return {name: each.output for name, each in ended.items() if each.succeeded}

    async def _graph(self, graph: Graph, scope: _Scope) -> dict[str, Ended]:
        by_id, needs = {each.id: each for each in graph.nodes}, graph.needs
        done = {each: asyncio.Event() for each in by_id}

        async def one(name: str) -> None:
            for each in needs[name]:
                await done[each].wait()
            scope.known[name] = await self._node(by_id[name], graph, scope)
            done[name].set()

        await self._all([one(name) for name in in_order(needs)])
        return {name: scope.known[name] for name in by_id}

    async def _all(self, jobs: list[Any]) -> None:
        """Do all of it, side by side or in turn. An error about running the saga stops it; a task that failed does not."""
        if self._serial:
            for each in jobs:
                await each
            return
        try:
            async with asyncio.TaskGroup() as group:
                for each in jobs:
                    group.create_task(each)
        except BaseExceptionGroup as exc:
            raise exc.exceptions[0] from None

    async def _node(self, node: Node, graph: Graph, scope: _Scope) -> Ended:
        into = graph.into(node.id)
        before = tuple(dict.fromkeys(last for each in into for last in scope.known[each.source].last)) or scope.before
        before = self._latest if self._serial else before
        if self._failure is not None or (into and not any(self._is_taken(each, graph, scope) for each in into)):
            return Ended(last=before)
        match node.type:
            case NodeType.TASK:
                return await self._task(node, scope, before)
            case NodeType.CHOICE:
                return await self._choice(node, graph, scope, before)
            case NodeType.PARALLEL:
                return await self._parallel(node, scope, before)
            case NodeType.MAP:
                return await self._map(node, scope, before)

    def _is_taken(self, edge: Edge, graph: Graph, scope: _Scope) -> bool:
        source, ended = next(each for each in graph.nodes if each.id == edge.source), scope.known[edge.source]
        if source.type is NodeType.CHOICE:
            return ended.succeeded and ended.output["chosen"] == edge.target
        if edge.guard is not None:
            return holds(edge.guard, scope.known)
        handles = [each for each in self._document.policy_of(source).catch if each.handler == edge.target]
        if handles:
            return ended.failed and any(Catch(each.errors, "").covers(ended.error_code or "") for each in handles)
        return ended.succeeded

    # -- nodes by type -------------------------------------------------------------------------------------------------

    async def _asked(self, made: Action, request: Json, node: Node, scope: _Scope, before: tuple[str, ...]) -> Ended:
        name = scope.prefix + node.id
        try:
            output = to_json(await self._runner.run(made, request, id=name, after=before))
        except OperationFailedError as exc:
            code = await self._runner.code_of(name)
            if not any(Catch(each.errors, "").covers(code) for each in self._document.policy_of(node).catch):
                self._failure = self._failure or exc
            return Ended(failed=True, error_code=code, last=before)
        self._latest = (name,)
        return Ended(succeeded=True, output=output, last=(name,))

    async def _task(self, node: Node, scope: _Scope, before: tuple[str, ...]) -> Ended:
        ended = await self._asked(self._actions[node.id], resolve(node.params, scope.outputs), node, scope, before)
        why = "; ".join(misfits(ended.output, node.io.output)) if ended.succeeded and node.io.output else ""
        if why:
            self._fail(node, f"what it returned is not as its schema says: {why}")
        return ended

    async def _choice(self, node: Node, graph: Graph, scope: _Scope, before: tuple[str, ...]) -> Ended:
        ways = graph.out_of(node.id)
        held = (each for each in ways if each.kind is EdgeKind.BRANCH and each.guard and holds(each.guard, scope.known))
        chosen = next(held, None) or next((each for each in ways if each.kind is EdgeKind.DEFAULT), None)
        if chosen is None:
            self._fail(node, "none of its guards holds, and it has no default")
            return Ended(failed=True, last=before)
        return await self._asked(choose, {"node": node.id, "chosen": chosen.target}, node, scope, before)

    async def _parallel(self, node: Node, scope: _Scope, before: tuple[str, ...]) -> Ended:
        scopes = [scope.within(scope.prefix, before) for _each in node.branches]
        return await self._inner(list(zip(node.branches, scopes, strict=True)), before)

    async def _map(self, node: Node, scope: _Scope, before: tuple[str, ...]) -> Ended:
        found, guards = resolve(node.items, scope.outputs), self._document.policy_of(node).loop_guards
        most = guards.max_iters if guards and guards.max_iters else _ANY_MEMBERS
        if not isinstance(found, list) or len(found) > most:
            has = f"{len(found)} members, and {most} are allowed" if isinstance(found, list) else "no list of members"
            self._fail(node, f"it has {has}")
            return Ended(failed=True, last=before)
        decided = await self._asked(members, {"node": node.id, "members": found}, node, scope, before)
        if not decided.succeeded or node.body is None:
            return decided
        scopes = [
            scope.within(f"{scope.prefix}{node.id}[{number}].", decided.last, **{ITEM: each, INDEX: number})
            for number, each in enumerate(decided.output)
        ]
        return await self._inner([(node.body, each) for each in scopes], decided.last)

    async def _inner(self, graphs: list[tuple[Graph, _Scope]], before: tuple[str, ...]) -> Ended:
        ended: dict[int, dict[str, Ended]] = {}

        async def one(number: int) -> None:
            ended[number] = await self._graph(*graphs[number])

        await self._all([one(number) for number in range(len(graphs))])
        in_turn = [ended[number] for number in range(len(graphs))]
        outputs = [{name: each.output for name, each in inner.items() if each.succeeded} for inner in in_turn]
        last = [name for inner in in_turn for each in inner.values() for name in each.last if name not in before]
        return Ended(succeeded=self._failure is None, output=outputs, last=tuple(dict.fromkeys(last)) or before)

    def _fail(self, node: Node, why: str) -> None:
        message = f"workflow {self._document.name!r}: {node.type.value} {node.id!r} failed: {why}"
        self._failure = self._failure or OperationFailedError(message, operation_id=node.id)
