"""Reader: a state machine as a document, whoever wrote it.

Types, order, requests, guards, policies and compensations are read from the states. What the language has no field for is in
the note of an export; it is believed as far as the states say the same: a machine that somebody changed reads as it was changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import structs

from sagagraph.errors import InvalidInputError
from sagagraph.workflow.asl.paths import ALL_ERRORS, condition_in, node_at, read_parameters, read_path
from sagagraph.workflow.asl.writer import FAILED, LAMBDA, NOTE, STUCK, caught_first, key_text, retry_states, state_machine
from sagagraph.workflow.condition import Failed, Succeeded, operations_named
from sagagraph.workflow.language.document import (
    BINDINGS,
    BackoffTerms,
    CatchTerms,
    CompensationTerms,
    Document,
    Edge,
    EdgeKind,
    Graph,
    KeyTerms,
    LoopTerms,
    Node,
    NodeType,
    PolicyTerms,
    RetryTerms,
    TimeoutTerms,
    Trigger,
    named,
    read_document,
)
from sagagraph.workflow.language.terms import OWN_KEY, OWN_UUID
from sagagraph.workflow.operation import reference

_TYPES: Final = {"Task": NodeType.TASK, "Choice": NodeType.CHOICE, "Parallel": NodeType.PARALLEL, "Map": NodeType.MAP}
_MOST_MEMBERS: Final = 1000
State = dict[str, Any]


def read_machine(machine: Mapping[str, Any], resource: str = LAMBDA) -> Document:
    """Return the document. Raises `InvalidInputError` for a state or a path that documents do not express."""
    try:
        plain = _Reader(machine, resource).document()
    except (KeyError, TypeError, AttributeError) as exc:
        raise InvalidInputError(f"this is no state machine: {exc!r}", field="FILE") from exc
    notes = _notes_in(machine)
    if notes is None:
        return plain
    noted = _with_notes(plain, notes)
    try:
        whole = _with_edges(noted, notes)
        is_as_written = state_machine(whole, resource)["States"] == machine["States"]
    except (InvalidInputError, StopIteration, KeyError, ValueError):
        return noted
    return whole if is_as_written else noted


class _Reader:
    def __init__(self, machine: Mapping[str, Any], resource: str) -> None:
        self._machine = machine
        self._resource = resource
        self._policies: dict[str, PolicyTerms] = {}
        every = list(_every_state(machine))
        self._containers = {name for name, each in every if each.get("Type") in ("Parallel", "Map")}
        self._undone = {
            name.removeprefix("Undo "): each for name, each in every if name.startswith("Undo ") and "Resource" in each
        }

    def document(self) -> Document:
        graph = self._graph(self._machine)
        return Document(str(self._machine.get("Name", "workflow")), graph.nodes, graph.edges, self._policies)

    def _graph(self, machine: Mapping[str, Any]) -> Graph:
        states: dict[str, State] = machine["States"]
        forward = _Forward(states, machine["StartAt"])
        edges: list[Edge] = []
        certain = ""
        for name in forward.nodes:
            earlier = forward.nodes[: forward.nodes.index(name)]
            rule = states[f"{name}?"]["Choices"][0] if forward.is_guarded(name) else None
            into = [] if rule is None else list(self._guarded(name, rule, states, earlier))
            into = into or [each for each in edges if each.target == name]
            if not into and certain:
                into = [Edge(certain, name)]
            edges += (each for each in into if each not in edges)
            edges += (each for each in self._out_of(name, states, forward) if each not in edges)
            if (
                not forward.is_guarded(name)
                and states[name]["Type"] != "Choice"
                and all(e.kind is EdgeKind.SEQUENCE for e in into)
            ):
                certain = name
        nodes = [self._node(name, states) for name in forward.nodes]
        return Graph(tuple(nodes), tuple(edges))

    def _guarded(self, name: str, rule: State, states: Mapping[str, State], earlier: list[str]) -> Iterator[Edge]:
        """Yield the edges that the choice before a node stands for."""
        rules = rule["Or"] if "Or" in rule else [{key: each for key, each in rule.items() if key != "Next"}]
        for each in rules:
            match each:
                case {"And": [{"IsPresent": True}, {"Variable": str(told), "StringEquals": str(chosen)}]} if (
                    chosen == name and told.endswith(".chosen")
                ):
                    choice = node_at(read_path(told), self._containers)[0]
                    yield from (way for way in self._ways(choice, states) if way.target == name)
                case _:
                    yield from self._conditional(name, each, states, earlier)

    def _conditional(self, name: str, rule: State, states: Mapping[str, State], earlier: list[str]) -> Iterator[Edge]:
        """Yield an edge from each node that the rule asks about. Out of a choice it would be one of its branches: where the rule
        asks about nothing else, it comes after any node before.
        """
        condition = condition_in(rule, self._containers)
        named = sorted(operations_named(condition) - set(BINDINGS))
        sources = [each for each in named if states.get(each, {}).get("Type") != "Choice"]
        if isinstance(condition, Succeeded | Failed) and sources:
            yield Edge(sources[0], name)
            return
        others = [each for each in earlier if states[each]["Type"] != "Choice"]
        for each in sources or others[-1:] or named:
            yield Edge(each, name, EdgeKind.BRANCH, condition)

    def _ways(self, choice: str, states: Mapping[str, State]) -> Iterator[Edge]:
        """Yield the edges out of a choice of an export, whose branches lead over `CHOICE → NODE`."""
        told = states[choice]
        for each in told["Choices"]:
            target = each["Next"].removeprefix(f"{choice} → ")
            if each["Next"] != told.get("Default"):
                yield Edge(choice, target, EdgeKind.BRANCH, condition_in(_bare(each), self._containers))
        if told.get("Default", "").startswith(f"{choice} → "):
            yield Edge(choice, told["Default"].removeprefix(f"{choice} → "), EdgeKind.DEFAULT)

    def _out_of(self, name: str, states: Mapping[str, State], forward: _Forward) -> Iterator[Edge]:
        state = states[name]
        if state["Type"] == "Choice":
            if any(each["Next"].startswith(f"{name} → ") for each in state["Choices"]):
                yield from self._ways(name, states)
                return
            for each in state["Choices"]:
                guard = condition_in(_bare(each), self._containers)
                yield from (Edge(name, target, EdgeKind.BRANCH, guard) for target in forward.after(each["Next"]))
            if "Default" in state:
                yield from (Edge(name, target, EdgeKind.DEFAULT) for target in forward.after(state["Default"]))
            return
        if "Next" in state:
            yield from (Edge(name, target) for target in forward.after(state["Next"]) if not forward.is_guarded(target))
        for caught in state.get("Catch", ()):
            yield from (Edge(name, target) for target in forward.handlers(caught["Next"]))

    # -- nodes -------------------------------------------------------------------------------------------------------------

    def _node(self, name: str, states: Mapping[str, State]) -> Node:
        state = states[name]
        kind = _TYPES[state["Type"]]
        node = Node(name, kind, policy_ref=named(self._terms(name, state), self._policies))
        if kind is NodeType.TASK:
            given = state.get("Parameters", state.get("Arguments"))
            request = given.get("request") if isinstance(given, Mapping) and "request" in given else None
            whole = given.get("request.$") if isinstance(given, Mapping) else None
            if whole is not None:
                own, path = node_at(read_path(whole), self._containers)
                request = reference(own, *path)
            elif request is None and given and "request" not in given:
                request = given
            params = read_parameters(request, self._containers) if whole is None else request
            return structs.replace(node, action=self._action(state["Resource"]), params=params)
        if kind is NodeType.PARALLEL:
            return structs.replace(node, branches=tuple(self._graph(each) for each in state["Branches"]))
        if kind is NodeType.MAP:
            body = self._graph(state.get("ItemProcessor") or state["Iterator"])
            return structs.replace(node, items=self._items(name, state, states), body=body)
        return node

    def _items(self, name: str, state: State, states: Mapping[str, State]) -> Any:
        if f"{name} items" in states:
            return states[f"{name} items"]["Result"]
        own, path = node_at(read_path(state.get("ItemsPath", "$")), self._containers)
        return reference(own, *path)

    def _action(self, resource: str) -> str:
        return resource.removeprefix(self._resource) if resource.startswith(self._resource) else resource

    def _terms(self, name: str, state: State) -> PolicyTerms:
        terms = _repetition(state.get("Retry", ()))
        caught = [
            CatchTerms(_errors(each), each["Next"].removeprefix(f"{name} caught "))
            for each in state.get("Catch", ())
            if not _goes_back(each["Next"])
        ]
        undo = self._undone.get(name)
        key = str((state.get("Parameters") or {}).get("idempotencyKey.$", ""))
        return structs.replace(
            terms,
            catch=tuple(caught),
            timeout=TimeoutTerms(state["TimeoutSeconds"]) if "TimeoutSeconds" in state else None,
            idempotency_key=_key(key),
            compensation=CompensationTerms(self._action(undo["Resource"]), safe_reinvoke=True) if undo else None,
            loop_guards=LoopTerms(max_iters=_MOST_MEMBERS) if state["Type"] == "Map" else None,
        )


class _Forward:
    """The states of one graph that are nodes, in an order in which they follow each other; what only helps is passed over."""

    def __init__(self, states: Mapping[str, State], start: str) -> None:
        self._states = states
        self.nodes: list[str] = []
        self._walk(start)

    def is_guarded(self, name: str) -> bool:
        return f"{name}?" in self._states

    def _walk(self, start: str) -> None:
        """Depth first, and each node after all that lead to it: the reverse of the order in which they are finished."""
        finished: list[str] = []
        seen: set[str] = set()
        stack = [(start, iter(self._next(start)))]
        seen.add(start)
        while stack:
            name, following = stack[-1]
            step = next((each for each in following if each not in seen), None)
            if step is None:
                finished.append(name)
                stack.pop()
            else:
                seen.add(step)
                stack.append((step, iter(self._next(step))))
        self.nodes = [each for each in reversed(finished) if self._is_node(each)]

    def _next(self, name: str) -> list[str]:
        state = self._states[name]
        kind = state.get("Type")
        if kind not in (*_TYPES, "Pass", "Succeed", "Fail"):
            raise InvalidInputError(f"state {name!r} is a {kind}, which documents do not express", field="States")
        found = [state["Next"]] if "Next" in state else []
        found += [each["Next"] for each in state.get("Choices", ())]
        found += [state["Default"]] if "Default" in state else []
        found += [each["Next"] for each in state.get("Catch", ())]
        return [each for each in reversed(found) if not _goes_back(each)]

    def _is_node(self, name: str) -> bool:
        state = self._states[name]
        return state["Type"] in _TYPES and not self._helps(name, state)

    def _helps(self, name: str, state: State) -> bool:
        is_check = name.endswith(" all") and name.removesuffix(" all") in self._states
        return state["Type"] == "Choice" and (is_check or (name.endswith("?") and name[:-1] in self._states))

    def after(self, name: str) -> list[str]:
        """Return the nodes to which a state leads, itself if it is one."""
        if _goes_back(name):
            return []
        state = self._states[name]
        if self._is_node(name):
            return [name]
        if self._helps(name, state):
            return self.after(state["Default"])
        return self.after(state["Next"]) if "Next" in state else []

    def handlers(self, name: str) -> list[str]:
        return [name] if not _goes_back(name) and self._is_node(name) and not self.is_guarded(name) else []


def _every_state(machine: Mapping[str, Any]) -> Iterator[tuple[str, State]]:
    for name, state in machine.get("States", {}).items():
        yield name, state
        for inner in (*state.get("Branches", ()), *(state[key] for key in ("ItemProcessor", "Iterator") if key in state)):
            yield from _every_state(inner)


def _goes_back(name: str) -> bool:
    return name.startswith("Undo ") or name in (FAILED, STUCK) or name.endswith(" failed")


def _errors(clause: State) -> tuple[str, ...]:
    return tuple("*" if each == ALL_ERRORS else each for each in clause["ErrorEquals"])


def _bare(rule: Mapping[str, Any]) -> State:
    return {key: each for key, each in rule.items() if key != "Next"}


def _repetition(told: Any) -> PolicyTerms:
    if not told:
        return PolicyTerms()
    first = told[-1]
    interval = float(first.get("IntervalSeconds", 1))
    backoff = BackoffTerms(
        "fixed" if first.get("BackoffRate", 2.0) == 1.0 else "exponential",
        interval,
        float(first.get("MaxDelaySeconds", interval)),
        1.0 if first.get("JitterStrategy") == "FULL" else 0.0,
    )
    return PolicyTerms(RetryTerms(first.get("MaxAttempts", 3) + 1, _errors(first)), backoff)


def _key(text: str) -> KeyTerms | None:
    if not text:
        return None
    if text.startswith("$") and not text.startswith("$$"):
        return KeyTerms(path=text)
    return KeyTerms(template=OWN_UUID if text.startswith("States.Hash") else OWN_KEY)


# -- notes -----------------------------------------------------------------------------------------------------------------


def _notes_in(machine: Mapping[str, Any]) -> dict[str, Any] | None:
    text = machine.get("Comment", "")
    if not isinstance(text, str) or not text.startswith(NOTE):
        return None
    try:
        notes = json.loads(text.removeprefix(NOTE))
    except ValueError:
        return None
    return notes if isinstance(notes, dict) and isinstance(notes.get("nodes"), dict) else None


def as_states_say(terms: PolicyTerms, node: str) -> tuple[Any, ...]:
    """Return what states say of a policy: two that say the same are one as far as the language goes."""
    key = terms.idempotency_key
    return (
        retry_states(terms),
        max(1, -int(-terms.timeout.seconds // 1)) if terms.timeout else None,
        key_text(key, node, False) if key else None,
        terms.compensation.handler if terms.compensation and terms.compensation.trigger is Trigger.ON_FAILURE else None,
        caught_first(terms),
    )


def _with_notes(plain: Document, notes: Mapping[str, Any]) -> Document:
    """Return the document with names, roles, schemas and policies as noted, where the states do not say otherwise."""
    try:
        told = read_document({**{k: v for k, v in notes.items() if k not in ("nodes", "edges", "order")}, "nodes": []})
    except InvalidInputError:
        return plain
    kept = dict(told.policies)

    def node_with(node: Node) -> Node:
        noted = notes["nodes"].get(node.id, {})
        changed = {key: each for key, each in noted.items() if key != "policyRef"}
        terms, believed = plain.policy_of(node), told.policies.get(noted.get("policyRef") or "default", PolicyTerms())
        is_same = node.type is not NodeType.TASK or as_states_say(terms, node.id) == as_states_say(believed, node.id)
        name = noted.get("policyRef", "") if is_same else f"read-{node.policy_ref or 'none'}"
        if not is_same:
            kept[name] = terms
        if changed.get("role") == node.action:
            changed["action"] = ""
        document = msgspec.to_builtins(structs.replace(node, branches=(), body=None))
        fresh = msgspec.convert({**document, **changed, "policyRef": name}, Node)
        return structs.replace(fresh, branches=node.branches, body=node.body)

    return structs.replace(told, nodes=plain.graph.changed(node_with).nodes, edges=plain.edges, policies=kept)


def _with_edges(noted: Document, notes: Mapping[str, Any]) -> Document:
    """Return the document with nodes and edges in the order and of the kind in which they are noted."""
    place = {name: number for number, name in enumerate(notes["order"])}
    edges = msgspec.convert(notes["edges"], tuple[Edge, ...])

    def graph_with(graph: Graph) -> Graph:
        own = {each.id for each in graph.nodes}
        nodes = sorted(graph.nodes, key=lambda each: place[each.id])
        inner = tuple(
            structs.replace(
                each, branches=tuple(map(graph_with, each.branches)), body=graph_with(each.body) if each.body else None
            )
            for each in nodes
        )
        return Graph(inner, tuple(each for each in edges if each.source in own))

    whole = graph_with(noted.graph)
    return structs.replace(noted, nodes=whole.nodes, edges=whole.edges)
