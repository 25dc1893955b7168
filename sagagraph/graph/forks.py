"""Forks: a thread that continues from another point, once it is decided what becomes of its effects (docs/protocol.md L2)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from langchain_core.runnables import RunnableConfig

from sagagraph.errors import ForkDecisionRequired, InvalidInputError, NotAllowedError
from sagagraph.graph.checkpoints.fenced_saver import FencedSaver
from sagagraph.graph.running.run import BRANCH, abandoned, live_branch, remove, write_down
from sagagraph.saga.core.dependencies import is_closed
from sagagraph.saga.core.state import FINAL, Saga, Stage
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.engine.engine import Engine
from sagagraph.workflow.values import Json

KEEP, COMPENSATE = "keep", "compensate"


def fork_point(config: RunnableConfig | None, head: str | None) -> str | None:
    """Return the checkpoint that `config` names, if it is not the thread's newest."""
    named = (config or {}).get("configurable", {}).get("checkpoint_id")
    return str(named) if named is not None and named != head else None


async def decide_fork(
    engine: Engine, saver: FencedSaver, saga: Saga, point: str | None, head: str | None, effects: Mapping[str, str] | None
) -> None:
    """Begin the branch with the decision about each effect, and carry it out.

    `point` None: the branch begins at the next checkpoint to be written.
    """
    decisions = _checked(saga, effects)
    if saga.stage in FINAL:
        await _decide_on_ended(engine, saga, decisions)
        return
    async with engine.hold(saga.id) as coordinator:
        coordinator.asked = set()
        decisions = _checked(coordinator.saga, effects)
        count = sum(each.startswith(BRANCH) and "/" not in each for each in coordinator.saga.operations)
        name = f"{BRANCH}{count + 2}"
        coordinator.asked = {name}
        await write_down(coordinator, name, {"point": point, "head": head, "effects": decisions}, what="branch")
        await _carry_out(coordinator, decisions)


def fork_ahead(saga: Saga, head: str | None) -> Json:
    """Return what was decided about the live branch, if the thread is still at `head`: nothing has been written for it yet."""
    branch = saga.operations.get(live_branch(saga))
    return branch.output if branch is not None and branch.output["head"] == head else None


async def settle_fork(coordinator: Coordinator, head: str | None) -> None:
    """Carry out the rest of what was decided by a process that died before it had finished."""
    saga = coordinator.saga
    ahead = fork_ahead(saga, head)
    goes_forward = saga.stage is Stage.RUNNING and not saga.cancel_by and saga.body_fault is None
    if goes_forward and ahead is not None and ahead["point"] is not None:
        await _carry_out(coordinator, ahead["effects"])


async def _carry_out(coordinator: Coordinator, decisions: Mapping[str, str]) -> None:
    """Carry out what was decided at the live branch. Safe to repeat."""
    coordinator.asked = set()
    live = f"{live_branch(coordinator.saga)}/"
    await remove(coordinator, (each for each in abandoned(coordinator.saga) if not each.startswith(live)))
    await _undo(coordinator, [name for name, said in decisions.items() if said == COMPENSATE])


@asynccontextmanager
async def forked(
    engine: Engine,
    saver: FencedSaver,
    thread: str,
    saga: Saga | None,
    head: str | None,
    effects: Mapping[str, str] | None,
    *,
    point: str | None = None,
) -> AsyncIterator[None]:
    """Allow the thread's checkpoint to be written while entered. `saga`: that of its latest run; `point`: as for
    `decide_fork`.
    """
    if saga is None:
        with saver.held_by(thread, None):
            yield
        return
    await decide_fork(engine, saver, saga, point, head, effects)
    async with engine.hold(saga.id) as coordinator:
        coordinator.asked = set()
        with saver.held_by(thread, coordinator):
            yield


def standing(saga: Saga) -> tuple[str, ...]:
    """Return the effects that a fork must decide on."""
    return tuple(each.id for each in saga.in_order() if each.has_effect and each.succeeded and not each.removed)


def _checked(saga: Saga, effects: Mapping[str, str] | None) -> dict[str, str]:
    open_ones = [each for each in saga.in_order() if each.has_effect and not each.succeeded and not is_closed(each)]
    if open_ones and saga.stage not in FINAL:
        raise NotAllowedError(
            f"saga {saga.id!r}: operation {open_ones[0].id!r} is {open_ones[0].status.value}: settle it before you fork",
            saga_id=saga.id,
            operation_id=open_ones[0].id,
        )
    names = standing(saga) if saga.stage is not Stage.COMPENSATED else ()
    decisions = dict(effects or {})
    for name, said in decisions.items():
        was_removed = name in saga.operations and saga.operations[name].removed  # by the same decision, in a process that died
        if said not in (KEEP, COMPENSATE) or (name not in names and not (was_removed and said == COMPENSATE)):
            raise InvalidInputError(f"{name!r}: {said!r}; say keep or compensate for each of {list(names)}", field="effects")
    if missing := [name for name in names if name not in decisions]:
        raise ForkDecisionRequired(
            f"saga {saga.id!r} has effects: say effects={{{', '.join(f'{name!r}: ...' for name in missing)}}}, each "
            '"keep" or "compensate"; a fork does not undo what happened',
            saga_id=saga.id,
            effects=tuple(missing),
        )
    return decisions


async def _decide_on_ended(engine: Engine, saga: Saga, decisions: dict[str, str]) -> None:
    """Decide on an ended saga: what has committed is undone as a whole, or kept."""
    if COMPENSATE not in decisions.values():
        return
    if KEEP in decisions.values():
        raise NotAllowedError(
            f"saga {saga.id!r} has committed: it can be cancelled as a whole; keep all of its effects or compensate all",
            saga_id=saga.id,
        )
    await engine.cancel(saga.id, by="fork")


async def _undo(coordinator: Coordinator, names: list[str]) -> None:
    await remove(coordinator, (name for name in names if not coordinator.saga.operations[name].removed))
    saga = await coordinator.until(lambda now: all(is_closed(now.operations[name]) or _is_stuck(now, name) for name in names))
    for name in names:
        if _is_stuck(saga, name):
            raise NotAllowedError(
                f"saga {saga.id!r}: operation {name!r} cannot be compensated ({saga.operations[name].hold}): resolve it first",
                saga_id=saga.id,
                operation_id=name,
            )


def _is_stuck(saga: Saga, name: str) -> bool:
    return saga.operations[name].waits_for_person
