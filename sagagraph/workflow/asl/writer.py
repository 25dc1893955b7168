"""Writer: a document as a state machine. Its convention is in docs/workflows.md.

A graph becomes a chain of states in an order that its edges allow; what is conditional is behind a choice `NODE?`. What fails
leads to a chain that goes back: for each node that is done and has a compensation, in reverse order, a task `Undo NODE`, and a
failure at its end. A branch or a member that fails ends there, with `failed`; going back begins when all of them have ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import ceil
from typing import Any, Final

from sagagraph.errors import InvalidInputError
from sagagraph.workflow.asl.paths import (
    ALL_ERRORS,
    Rule,
    failed_with,
    parameters,
    path_text,
    place_of,
    present,
    rule_of,
)
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.language.document import (
    Document,
    Edge,
    EdgeKind,
    Graph,
    KeyTerms,
    Node,
    NodeType,
    PolicyTerms,
    nodes_in,
    notes_of,
)
from sagagraph.workflow.operation import reference_in
from sagagraph.workflow.order import in_order

LAMBDA: Final = "arn:aws:lambda:us-east-1:000000000000:function:"
"""What stands before the name of an action: where its function is deployed."""
FAILED: Final = "Failed"
STUCK: Final = "Stuck"
PREPARED: Final = "Begin"
NOTE: Final = "sagagraph "
REFUSED: Final = "Refused"
"""The error of a function that says for certain that nothing happened: as here, it is not tried again."""
_UNDO_RETRY: Final = [{"ErrorEquals": [ALL_ERRORS], "IntervalSeconds": 1, "MaxAttempts": 4, "BackoffRate": 2.0}]
States = dict[str, dict[str, Any]]


def state_machine(document: Document, resource: str = LAMBDA) -> dict[str, Any]:
    """Return the document as a state machine. Raises `InvalidInputError` for what cannot be said in one."""
    writer = _Writer(document, resource)
    states: States = {PREPARED: {"Type": "Pass", "Parameters": {"input.$": "$", "done": {}, "errors": {}, "failed": False}}}
    back = writer.chain_back(document.graph, "$", FAILED, states)
    writer.chain(document.graph, states, back, PREPARED, "")
    if any(each["Next"] == STUCK for state in states.values() for each in (*state.get("Catch", ()), *state.get("Choices", ()))):
        states[STUCK] = {"Type": "Fail", "Error": STUCK, "Cause": "a task failed after the point of no return"}
    states[FAILED] = {"Type": "Fail", "Error": "Compensated", "Cause": "a task failed, and what had been done is undone"}
    notes = {**notes_of(document), "order": [each.id for each in nodes_in(document.graph)]}
    return {"Comment": NOTE + json.dumps(notes, ensure_ascii=False), "StartAt": PREPARED, "States": states}


def retry_states(terms: PolicyTerms) -> list[dict[str, Any]]:
    """Return a policy's repetitions. Whole seconds, and no share of jitter: the note has the rest."""
    if terms.retry is None or terms.retry.max_attempts < 2:
        return []
    errors = [ALL_ERRORS] if "*" in terms.retry.retry_on else list(terms.retry.retry_on)
    told: dict[str, Any] = {"ErrorEquals": errors, "MaxAttempts": terms.retry.max_attempts - 1}
    if (waits := terms.backoff) is not None:
        first = max(1, ceil(waits.base))
        told |= {"IntervalSeconds": first, "BackoffRate": 1.0 if waits.mode == "fixed" else 2.0}
        if ceil(waits.cap) > first:
            told["MaxDelaySeconds"] = ceil(waits.cap)
        told["JitterStrategy"] = "FULL" if waits.jitter else "NONE"
    never = {"ErrorEquals": [REFUSED], "MaxAttempts": 0}
    return [told] if REFUSED in errors else [never, told]


def caught_first(terms: PolicyTerms) -> list[tuple[list[str], str]]:
    """Return which errors lead to which handler, up to the clause that takes all of them."""
    found: list[tuple[list[str], str]] = []
    for each in terms.catch:
        takes_all = "*" in each.errors
        found.append(([ALL_ERRORS] if takes_all else list(each.errors), each.handler))
        if takes_all:
            break
    return found


def key_text(key: KeyTerms, node: str, in_map: bool) -> str:
    """Return how a state makes its key: of the run, the node, and in a map the member."""
    if key.path is not None:
        return key.path
    index = "/{}" if in_map else ""
    made = f"States.Format('{{}}/{node.replace(chr(39), '')}{index}', $$.Execution.Name{', $.index' if in_map else ''})"
    return f"States.Hash({made}, 'SHA-256')" if (key.template or "").startswith("uuid(") else made


class _Writer:
    def __init__(self, document: Document, resource: str) -> None:
        self._document = document
        self._resource = resource
        self._containers = {each.id for each in nodes_in(document.graph) if each.type in (NodeType.PARALLEL, NodeType.MAP)}

    # -- forward -----------------------------------------------------------------------------------------------------------

    def chain(self, graph: Graph, states: States, back: str, first: str, last: str, *, in_map: bool = False) -> None:
        """Add the graph's states after the state `first`. `last`: the state after them; empty for the end of the machine."""
        by_id = {each.id: each for each in graph.nodes}
        open_ends = [first]
        certain: set[str] = set()
        for name in in_order(graph.needs):
            node, into = by_id[name], graph.into(name)
            is_certain = not into or any(
                each.kind is EdgeKind.SEQUENCE and each.source in certain and not self._handles(graph, each) for each in into
            )
            guarded = [] if is_certain else [f"{name}?"]
            begins = guarded[0] if guarded else self._first_of(node)
            self._lead(states, open_ends, begins)
            open_ends = self._add(node, graph, states, back, in_map=in_map)
            if guarded:
                rules = [self._taken(graph, each) for each in into]
                rule = rules[0] if all(each == rules[0] for each in rules) else {"Or": rules}
                self._put(states, guarded[0], {"Type": "Choice", "Choices": [{**rule, "Next": self._first_of(node)}]})
                open_ends = [*open_ends, guarded[0]]
            elif not self._document.policy_of(node).catch:
                certain.add(name)
            if node.capabilities.get("kind") == ActionKind.PIVOT:
                back = STUCK  # past the point of no return: what fails now waits for a person, and undoes nothing
        self._lead(states, open_ends, last)

    def _put(self, states: States, name: str, state: dict[str, Any]) -> None:
        if name in states or len(name) > 80:
            raise InvalidInputError(f"{name!r} would be the name of two states, or is too long for one", field="nodes")
        states[name] = state

    def _lead(self, states: States, names: Iterable[str], target: str) -> None:
        for name in names:
            is_choice = states[name]["Type"] == "Choice"
            if is_choice and not target:  # the end of a machine is a state, where a choice may lead
                target_of = f"{name} no"
                states[target_of] = {"Type": "Pass", "End": True}
                states[name]["Default"] = target_of
            elif is_choice:
                states[name]["Default"] = target
            else:
                states[name] |= {"Next": target} if target else {"End": True}

    def _first_of(self, node: Node) -> str:
        is_listed = node.type is NodeType.MAP and not reference_in(node.items)
        return f"{node.id} items" if is_listed else node.id

    def _handles(self, graph: Graph, edge: Edge) -> bool:
        source = next(each for each in graph.nodes if each.id == edge.source)
        return any(each.handler == edge.target for each in self._document.policy_of(source).catch)

    def _taken(self, graph: Graph, edge: Edge) -> Rule:
        source = next(each for each in graph.nodes if each.id == edge.source)
        if source.type is NodeType.CHOICE:
            chosen = {"Variable": path_text(("done", source.id, "chosen")), "StringEquals": edge.target}
            return {"And": [present(("done", source.id)), chosen]}
        if edge.guard is not None:
            return rule_of(edge.guard, self._containers)
        codes = [code for each in self._document.policy_of(source).catch if each.handler == edge.target for code in each.errors]
        if codes:
            return present(("errors", source.id)) if "*" in codes else failed_with(("errors", source.id), codes)
        return present(("done", source.id))

    def _add(self, node: Node, graph: Graph, states: States, back: str, *, in_map: bool) -> list[str]:
        """Add the states of one node; returns those from which the chain goes on."""
        match node.type:
            case NodeType.TASK:
                self._put(states, node.id, self._task(node, back, in_map=in_map))
                handled = [each["Next"] for each in states[node.id]["Catch"] if each["Next"] != back]
                for each in dict.fromkeys(handled):
                    self._put(states, each, {"Type": "Pass"})
                return [node.id, *dict.fromkeys(handled)]
            case NodeType.CHOICE:
                return self._choice(node, graph, states, back)
            case NodeType.PARALLEL:
                ways = [self._branch(each, f"{node.id} {number}") for number, each in enumerate(node.branches)]
                self._put(states, node.id, {"Type": "Parallel", "Branches": ways, "ResultPath": path_text(("done", node.id))})
                return self._checked(node, states, back)
            case NodeType.MAP:
                return self._map(node, states, back)

    def _task(self, node: Node, back: str, *, in_map: bool) -> dict[str, Any]:
        terms = self._document.policy_of(node)
        given: dict[str, Any] = {}
        whole = reference_in(node.params)
        if whole is not None:
            given["request.$"] = path_text(place_of(*whole, self._containers))
        else:
            given["request"] = parameters(node.params, self._containers)
        if terms.idempotency_key is not None:
            given["idempotencyKey.$"] = key_text(terms.idempotency_key, node.id, in_map)
        state: dict[str, Any] = {"Type": "Task", "Resource": self._resource + (node.action or node.role), "Parameters": given}
        state["ResultPath"] = path_text(("done", node.id))
        if terms.timeout is not None:
            state["TimeoutSeconds"] = max(1, ceil(terms.timeout.seconds))
        if repeated := retry_states(terms):
            state["Retry"] = repeated
        kept = path_text(("errors", node.id))
        clauses = [(errors, f"{node.id} caught {handler}") for errors, handler in caught_first(terms)]
        if not any(ALL_ERRORS in errors for errors, _next in clauses):
            clauses.append(([ALL_ERRORS], back))
        state["Catch"] = [{"ErrorEquals": errors, "ResultPath": kept, "Next": after} for errors, after in clauses]
        return state

    def _choice(self, node: Node, graph: Graph, states: States, back: str) -> list[str]:
        rules, ends, default = [], [], back
        for edge in graph.out_of(node.id):
            way = f"{node.id} → {edge.target}"
            self._put(
                states, way, {"Type": "Pass", "Result": {"chosen": edge.target}, "ResultPath": path_text(("done", node.id))}
            )
            ends.append(way)
            if edge.guard is not None:
                rules.append({**rule_of(edge.guard, self._containers), "Next": way})
            else:
                default = way
        never = {"Not": present(("done",)), "Next": ends[0]}
        self._put(states, node.id, {"Type": "Choice", "Choices": rules or [never], "Default": default})
        return ends

    def _branch(self, graph: Graph, name: str, *, in_map: bool = False) -> dict[str, Any]:
        begin, failed, end = f"{name} begin", f"{name} failed", f"{name} end"
        states: States = {begin: {"Type": "Pass"}}
        self.chain(graph, states, failed, begin, end, in_map=in_map)
        states[failed] = {"Type": "Pass", "Result": True, "ResultPath": "$.failed", "End": True}
        states[end] = {"Type": "Pass", "End": True}
        return {"StartAt": begin, "States": states}

    def _map(self, node: Node, states: States, back: str) -> list[str]:
        own = reference_in(node.items)
        if own is None:
            listed = {"Type": "Pass", "Result": node.items, "ResultPath": path_text(("done", node.id)), "Next": node.id}
            self._put(states, f"{node.id} items", listed)
        body = self._branch(node.body, f"{node.id} each", in_map=True) if node.body else {}
        selected = {"item.$": "$$.Map.Item.Value", "index.$": "$$.Map.Item.Index", "input.$": "$.input", "done.$": "$.done"}
        state = {
            "Type": "Map",
            "ItemsPath": path_text(place_of(*own, self._containers) if own else ("done", node.id)),
            "ItemSelector": {**selected, "errors": {}, "failed": False},
            "ItemProcessor": {"ProcessorConfig": {"Mode": "INLINE"}, **body},
            "ResultPath": path_text(("done", node.id)),
        }
        self._put(states, node.id, state)
        return self._checked(node, states, back)

    def _checked(self, node: Node, states: States, back: str) -> list[str]:
        """Add the choice that goes back if a branch or a member has failed."""
        told, name = f"{node.id} told", f"{node.id} all"
        states[node.id]["Next"] = told
        found = {"any.$": f"States.ArrayContains({path_text(('done', node.id))}[*].failed, true)"}
        self._put(states, told, {"Type": "Pass", "Parameters": found, "ResultPath": "$.check", "Next": name})
        self._put(states, name, {"Type": "Choice", "Choices": [{"Variable": "$.check.any", "BooleanEquals": True, "Next": back}]})
        return [name]

    # -- back ----------------------------------------------------------------------------------------------------------------

    def chain_back(self, graph: Graph, base: str, after: str, states: States) -> str:
        """Add the chain that goes back through a graph; returns its first state. `base`: where the graph's data are."""
        by_id = {each.id: each for each in graph.nodes}
        for name in in_order(graph.needs):  # what comes last in order is undone first: each state leads to the one before
            after = self._undo(by_id[name], base, after, states)
        return after

    def _undo(self, node: Node, base: str, after: str, states: States) -> str:
        name, place = f"Undo {node.id}", path_text(("done", node.id), base)
        inner: str = after
        if self._document.handler_of(node):
            self._put(states, name, {**self._undoing(node, base, place), "Next": after})
            inner = name
        elif node.type is NodeType.PARALLEL:
            for number, each in enumerate(node.branches):
                inner = self.chain_back(each, path_text((number,), place), inner, states)
        elif node.type is NodeType.MAP and node.body and any(map(self._document.handler_of, nodes_in(node.body))):
            end = f"{name} end"
            body: States = {end: {"Type": "Pass", "End": True}}
            first = self.chain_back(node.body, "$", end, body)
            processor = {"ProcessorConfig": {"Mode": "INLINE"}, "StartAt": first, "States": body}
            state = {"Type": "Map", "ItemsPath": place, "MaxConcurrency": 1, "ItemProcessor": processor, "ResultPath": None}
            self._put(states, name, {**state, "Next": after})
            inner = name
        if inner == after:
            return after
        self._put(states, f"{name}?", {"Type": "Choice", "Choices": [{**present((), place), "Next": inner}], "Default": after})
        return f"{name}?"

    def _undoing(self, node: Node, base: str, place: str) -> dict[str, Any]:
        terms = self._document.policy_of(node)
        whole = reference_in(node.params)
        request = (
            {"request": parameters(node.params, self._containers, base)}
            if whole is None
            else {"request.$": path_text(place_of(*whole, self._containers), base)}
        )
        given = {**request, "result.$": place}
        if terms.idempotency_key is not None and terms.idempotency_key.path is None:
            given["idempotencyKey.$"] = f"States.Format('{{}}/{node.id.replace(chr(39), '')}/undo', $$.Execution.Name)"
        return {
            "Type": "Task",
            "Resource": self._resource + self._document.handler_of(node),
            "Parameters": given,
            "ResultPath": None,
            "Retry": _UNDO_RETRY,
        }
