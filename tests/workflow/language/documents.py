"""Documents drawn by Hypothesis: graphs with choices, maps and parallel branches inside each other, and every kind of policy."""

from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import strategies as st

from sagagraph.workflow.language.document import Document, read_document

names = st.sampled_from(["book", "pay", "ask_people", "a b", "λ"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "x", "it's", "a,b", "\\"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["one", "two"]), inner, max_size=2),
    max_leaves=3,
)
comparisons = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])


@st.composite
def policies(draw: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if draw(st.booleans()):
        found["retry"] = {"maxAttempts": draw(st.integers(0, 5)), "retryOn": draw(st.sampled_from([["*"], ["Busy", "Slow"]]))}
        mode = draw(st.sampled_from(["fixed", "exponential"]))
        found["backoff"] = {
            "mode": mode,
            "base": draw(st.sampled_from([0.1, 1.0, 2.5])),
            "cap": 8.0,
            "jitter": draw(st.sampled_from([0.0, 0.5])),
        }
    if draw(st.booleans()):
        found["timeout"] = {"seconds": draw(st.sampled_from([0.5, 30.0, 90.0]))}
    if draw(st.booleans()):
        found["idempotencyKey"] = {"template": draw(st.sampled_from(["{runId}/{nodeId}", "uuid({runId}/{nodeId}/{generation})"]))}
    if draw(st.booleans()):
        trigger = draw(st.sampled_from(["onFailure", "onFailure", "manual"]))
        found["compensation"] = {"handler": draw(names) + "/undo", "safeReinvoke": True, "trigger": trigger}
    if draw(st.booleans()):
        found["loopGuards"] = {"maxIters": draw(st.integers(1, 50)), "timeBudget": 9.5}
    return found


@st.composite
def guards(draw: Any, before: list[str], depth: int = 1) -> dict[str, Any]:
    node = draw(st.sampled_from(before))
    kind = draw(st.sampled_from(["succeeded", "failed", "output", *(["all", "any", "not"] if depth else [])]))
    if kind == "failed":
        return {"kind": kind, "operation": node, "codes": draw(st.sampled_from([[], ["Full"], ["Full", "Gone"]]))}
    if kind == "output":
        value = draw(st.integers(-3, 3) | st.sampled_from(["x", "y"]))
        return {
            "kind": kind,
            "operation": node,
            "path": ["fare", 0, "total"][: draw(st.integers(1, 3))],
            "comparison": draw(comparisons),
            "value": value,
        }
    if kind == "not":
        return {"kind": kind, "condition": draw(guards(before, 0))}
    if kind in ("all", "any"):
        return {"kind": kind, "conditions": [draw(guards(before, 0)) for _each in range(draw(st.integers(1, 2)))]}
    return {"kind": kind, "operation": node}


@st.composite
def graphs(draw: Any, number: count[int], known: dict[str, Any], refs: list[str], depth: int = 2) -> dict[str, Any]:
    """A graph whose nodes' numbers grow along its edges. `known`: names of policies; `refs`: what references may name."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    types: dict[str, str] = {}
    earlier: dict[str, list[str]] = {}
    for _each in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["task", "task", "task", "choice", *(["parallel", "map"] if depth else [])]))
        name = f"n{next(number)}"
        before = list(types)
        node: dict[str, Any] = {
            "id": name,
            "type": kind,
            "policyRef": draw(st.sampled_from(["", *(each for each in known if each.startswith("p"))])),
        }
        sources = draw(st.lists(st.sampled_from(before), unique=True, max_size=3)) if before else []
        past = sorted({*sources, *(old for each in sources for old in earlier[each])})
        earlier[name] = past
        inner = [*refs, *past]
        if kind == "task":
            params = {"x": draw(values), "all": [draw(values)]}
            if inner and draw(st.booleans()):
                params["from"] = {"$from": draw(st.sampled_from(inner)), "path": draw(st.sampled_from([[], ["a"], ["a-b", 2]]))}
            if len(inner) > 1 and draw(st.booleans()):
                params["many"] = [{"$from": each, "path": ["id"]} for each in inner[:2]] + ["it's"]
            node |= {"action": draw(names), "params": params}
            if draw(st.booleans()):
                node |= {"name": "told", "io": {"output": {"type": "object"}}}
        elif kind == "parallel":
            node["branches"] = [draw(graphs(number, known, inner, depth - 1)) for _way in range(draw(st.integers(1, 2)))]
        elif kind == "map":
            items = {"$from": draw(st.sampled_from(inner)), "path": ["list"]} if inner and draw(st.booleans()) else [1, "two"]
            node |= {"items": items, "body": draw(graphs(number, known, [*inner, "item"], depth - 1)), "policyRef": "mapped"}
        for each in sources:
            edge = {"from": each, "to": name, "repairable": draw(st.sampled_from(["time", "order", "resource", "none"]))}
            if types[each] == "choice":
                ways = [way for way in edges if way["from"] == each]
                has_default = any(way["kind"] == "default" for way in ways)
                kind_of_way = "default" if ways and not has_default and draw(st.booleans()) else "branch"
                edge["kind"] = kind_of_way
                if kind_of_way == "branch":
                    edge["guard"] = draw(guards(past))
            elif draw(st.integers(0, 4)) == 0:
                edge |= {"kind": "branch", "guard": draw(guards(past))}
            else:
                edge["kind"] = "sequence"
                if types[each] == "task" and draw(st.integers(0, 3)) == 0:
                    own = known.setdefault(f"of {each}".replace(" ", "-"), {"timeout": {"seconds": 5.0}, "catch": []})
                    own["catch"].append({"errors": draw(st.sampled_from([["*"], ["Full"], ["Full", "Gone"]])), "handler": name})
                    nodes = [node if node["id"] != each else {**node, "policyRef": f"of-{each}"} for node in nodes]
            edges.append(edge)
        types[name] = kind
        nodes.append(node)
    for each in [name for name, kind in types.items() if kind == "choice"]:
        if not any(edge["from"] == each for edge in edges):
            nodes = [node if node["id"] != each else {"id": each, "type": "task", "action": "book"} for node in nodes]
    return {"nodes": nodes, "edges": edges}


@st.composite
def documents(draw: Any) -> Document:
    told = {f"p{number}": draw(policies()) for number in range(draw(st.integers(0, 3)))}
    told["mapped"] = {"loopGuards": {"maxIters": 9}}
    graph = draw(graphs(count(), told, ["input"]))
    return read_document({"name": "drawn", **graph, "policies": told, "meta": {"seed": draw(st.integers(0, 9))}})
