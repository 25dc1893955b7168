"""Decomposition: a request as small tasks in an order, each of which sees only what it needs (CAAF section 5).

A model proposes; code here checks whether that makes sense. After three objections the rules' own dependency graph is the answer,
so no model can stop a run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from itertools import permutations
from typing import Annotated, Any, Final

import networkx as nx
from pydantic import BaseModel, Field, ValidationError

from sagagraph.harness.registry.harness import Harness

ROUNDS: Final = 3
_Word = Annotated[str, Field(min_length=1, max_length=100)]


class Task(BaseModel, frozen=True, extra="forbid", strict=True):
    """Task. `context_keys`: decided variables whose values it sees, those of all its ancestors. `expected_schema`: what it
    decides, as the properties of a schema or as names.
    """

    id: _Word
    parent_ids: list[_Word] = []
    description: str = Field(max_length=500)
    context_keys: list[_Word] = []
    expected_schema: list[_Word] | dict[_Word, Any]


class Tasks(BaseModel, frozen=True, extra="forbid", strict=True):
    nodes: list[Task] = Field(max_length=200)


def object_schema(properties: Mapping[str, Any], required: Iterable[str]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": [*required], "additionalProperties": False}


_WORDS: Final = {"type": "array", "items": {"type": "string"}}
_TASK: Final = {"id": {"type": "string"}, "parent_ids": _WORDS, "description": {"type": "string"}, "context_keys": _WORDS,
                "expected_schema": _WORDS}  # fmt: skip
_NODES: Final = {"nodes": {"type": "array", "items": object_schema(_TASK, _TASK)}}
SCHEMA: Final[Mapping[str, Any]] = {"title": "Tasks", **object_schema(_NODES, _NODES)}
"""The schema of a model's answer: providers accept no object with arbitrary keys."""


Decomposer = Callable[[Mapping[str, Any], str], Awaitable[Any]]
"""Function that answers a question with `{"nodes": [...]}`. The text names the round: no round is asked for twice in a saga."""


def order_of(harness: Harness) -> tuple[Task, ...]:
    """Return decided variables with their ancestors: one task each, along the rules' dependency graph. Needs no model."""
    decided = list(harness.decided)
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(decided)
    for fields in _related(harness):
        graph.add_edges_from(permutations(fields, 2))
    ordered = sorted(decided, key=lambda name: (-graph.degree(name), decided.index(name)))
    tasks: list[Task] = []
    for number, name in enumerate(ordered):
        sees = [each for each in ordered[:number] if graph.has_edge(name, each)]
        tasks.append(Task(id=name, description="", context_keys=sees, expected_schema=[name]))
    return tuple(tasks)


async def decompose(harness: Harness, request: str, decomposer: Decomposer) -> tuple[Task, ...]:
    """Have a request decomposed; after three rounds with objections, follow the rules instead."""
    asked, objections = _question(harness, request), tuple[str, ...]()
    for number in range(1, ROUNDS + 1):
        said = await decomposer({**asked, "objections": list(objections)}, f"decompose-{number}")
        tasks, objections = read_tasks(harness, said)
        if tasks:
            return tasks
    return order_of(harness)


def _question(harness: Harness, request: str) -> dict[str, Any]:
    """Return all that a model is shown: the request, and what is to be decided; no constant, no assertion."""
    decide = [{"variable": name, "unit": harness.variables[name].unit} for name in harness.decided]
    return {"request": request, "decide": decide, "related": [each for each in _related(harness) if len(each) > 1]}


def _related(harness: Harness) -> list[list[str]]:
    """Return the decided variables of each rule."""
    decided = harness.decided
    return [[name for name in harness.fields_of(rule) if name in decided] for rule in harness.rules]


def read_tasks(harness: Harness, said: Any) -> tuple[tuple[Task, ...], tuple[str, ...]]:
    """Return the tasks in their order, or what is wrong with them."""
    if isinstance(said, list):
        return (), ("the answer is a list: it must be one object with `nodes`",)
    try:
        tasks = Tasks.model_validate(said).nodes
    except ValidationError as exc:
        return (), tuple(f"{'.'.join(map(str, each['loc'])) or 'the answer'}: {each['msg']}" for each in exc.errors()[:5])
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(each.id for each in tasks)
    graph.add_edges_from((parent, each.id) for each in tasks for parent in each.parent_ids)
    objections = tuple(_objections(harness, tasks, graph))
    if objections:
        return (), objections
    known = {each.id: each for each in tasks}
    return tuple(known[each] for each in nx.lexicographical_topological_sort(graph)), ()


def _objections(harness: Harness, tasks: list[Task], graph: nx.DiGraph[str]) -> Iterator[str]:
    decided, known = harness.decided, {each.id for each in tasks}
    if len(known) < len(tasks):
        yield "two nodes have the same id"
    unknown = {parent for each in tasks for parent in each.parent_ids} - known
    if unknown:
        yield f"unknown parents: {', '.join(sorted(unknown))}"
    if not nx.is_directed_acyclic_graph(graph):
        yield "nodes are each other's parents in a circle"
    produced = [name for each in tasks for name in each.expected_schema]
    for name in dict.fromkeys(produced):
        if name not in decided:
            yield f"{name} is not a variable to decide"
        elif produced.count(name) > 1:
            yield f"{name} is produced twice"
    for name in decided:
        if name not in produced:
            yield f"nobody produces {name}"
    makers = {name: each.id for each in tasks for name in each.expected_schema}
    for each in tasks:
        above = nx.ancestors(graph, each.id)
        for key in each.context_keys:
            if makers.get(key) not in above:
                yield f"{each.id} sees {key}, which none of its ancestors produces"
