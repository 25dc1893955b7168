"""Inner tasks: what plain graphs, agents and `@task`s do for a node, which LangGraph checkpoints by itself.

If LangGraph has the writes of an inner task, it does not run the task again. So the operations of such a task are still wanted,
even if no later pass of the node asks for them: the journal says which tasks were about to be checkpointed, and with which
operations. If the process died in between, LangGraph runs the task again, and its new operations replace the old ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph._internal._constants import CONFIG_KEY_TASK_ID  # not a public name; distinguishes a node from what it runs
from langgraph.checkpoint.base import WRITES_IDX_MAP

from sagagraph.graph.nested.frontier import RECORD
from sagagraph.saga.core.state import Operation, Saga

CONSUMED = "consumed"


@dataclass(frozen=True, slots=True)
class InnerTask:
    """Inner task below a node. `root`: LangGraph's id of the node's own task, which changes when its checkpoint is lost."""

    id: str
    node: str
    root: str


@dataclass(slots=True)
class _Said:
    """Record that the journal has of a task."""

    task: InnerTask
    operations: frozenset[str]
    revision: int


@dataclass(slots=True)
class InnerTasks:
    """Inner tasks of a run; `saga` is read once, at the start."""

    saga: Saga
    _running: dict[str, tuple[InnerTask, set[str]]] = field(default_factory=dict)
    _said: dict[str, _Said] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for operation in self.saga.in_order():
            if operation.succeeded and operation.spec.action == RECORD + CONSUMED:
                self._learn(operation)

    def _learn(self, operation: Operation) -> None:
        said = operation.output
        task = InnerTask(said["task"], operation.id.rpartition("/")[0], said["root"])
        known = self._said.get(task.id)
        self._said[task.id] = _Said(task, frozenset(said["operations"]), known.revision + 1 if known else 1)

    def begin_pass(self, node: str) -> None:
        """Forget what an earlier pass of `node` in this process asked for and did not finish."""
        for name in [name for name, (task, _asked) in self._running.items() if task.node == node]:
            del self._running[name]

    def asked(self, tasks: Iterable[InnerTask], operation: str) -> None:
        for task in tasks:
            self._running.setdefault(task.id, (task, set()))[1].add(operation)

    def consumed(self, node: str, root: str, *, but_for: Iterable[InnerTask] = ()) -> dict[str, None]:
        """Return what finished tasks below this pass of `node` asked for, in order; `but_for`: tasks that are running again."""
        again = {each.id for each in but_for}
        return {
            name: None
            for said in self._said.values()
            if said.task.node == node and said.task.root == root and said.task.id not in again
            for name in sorted(said.operations)
        }

    def ending(self, task_id: str, writes: Sequence[tuple[str, Any]]) -> tuple[str, Mapping[str, Any]] | None:
        """Return the record to journal before LangGraph keeps the `writes` of a task: its name and value."""
        if all(channel in WRITES_IDX_MAP for channel, *_rest in writes):
            return None  # it waits, or it failed: it will run again
        task, asked = self._running.get(task_id, (None, set[str]()))
        known = self._said.get(task_id)
        if (task is None and known is None) or (known is not None and known.operations == asked):
            return None
        task = task or known.task  # type: ignore[union-attr]  # one of them is there
        revision = known.revision + 1 if known else 1
        self._said[task_id] = _Said(task, frozenset(asked), revision)
        name = f"{task.node}/{CONSUMED}-{task_id[:13]}" + (f".{revision}" if known else "")
        return name, {"task": task_id, "root": task.root, "operations": sorted(asked)}


def tasks_of(config: RunnableConfig, node: str, root: str, namespace: str) -> tuple[InnerTask, ...]:
    """Return the inner tasks in which code with this `config` runs, outermost first. `namespace`: where the node itself runs."""
    configurable = config.get("configurable", {})
    names = _below(str(configurable.get("checkpoint_ns", "")), namespace)
    found = [InnerTask(each.rpartition(":")[2], node, root) for each in names if ":" in each]
    own = configurable.get(CONFIG_KEY_TASK_ID)
    if own and own != root and own not in {each.id for each in found}:
        found.append(InnerTask(str(own), node, root))
    return tuple(each for each in found if each.id != root)


def place_of(config: RunnableConfig) -> str:
    """Return where in an inner graph code runs: equal in every pass, whatever runs alongside it."""
    metadata = config.get("metadata", {})
    path = metadata.get("langgraph_path", ())
    number = next((each for each in reversed(path) if isinstance(each, int) and not isinstance(each, bool)), None)
    return f"{metadata.get('langgraph_node', '')}.{metadata.get('langgraph_step', 0)}" + ("" if number is None else f"#{number}")


def called_graph(namespace: str, within: str) -> list[str]:
    """Return the parts of `namespace` between the node at `within` and the node of a graph that it runs: numbers of calls, inner
    tasks.
    """
    return _below(namespace, within)[:-1]


def _below(namespace: str, within: str) -> list[str]:
    parts, outer = namespace.split("|") if namespace else [], within.split("|") if within else []
    while parts and outer and parts[0] in (outer[0], outer[0].partition(":")[0]):  # a graph with threads of its own has no ids
        parts, outer = parts[1:], outer[1:]
    return parts
