"""Undone effects: what the state of a thread says once the effects of its run were compensated."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.pregel._checkpoint import create_checkpoint  # as `update_state` copies one

from sagagraph.graph.checkpoints.fenced_saver import FencedSaver
from sagagraph.graph.state.items import thread_id
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import OperationStatus

OnUndone = Callable[[Any, tuple[str, ...]], Any] | Literal["reset"]
RESET: Literal["reset"] = "reset"
_OF = "saga_reset"
"""In the metadata of a checkpoint: the saga whose effects were undone."""


def undone_in(saga: Saga) -> tuple[str, ...]:
    """Return the operations with effects that were undone, in the order in which they were made."""
    undone = (OperationStatus.COMPENSATED, OperationStatus.VOIDED)
    return tuple(each.id for each in saga.in_order() if each.has_effect and each.status in undone)


async def update_of(on_undone: OnUndone | None, state: Any, saga: Saga) -> Any:
    """Return the update of the state that the hook returns; None if there is no hook."""
    if not callable(on_undone):
        return None
    update = on_undone(state, undone_in(saga))
    return await update if isawaitable(update) else update


def is_reset(metadata: Any, saga: Saga) -> bool:
    """Tell whether a checkpoint, of which this is the metadata, is the one from before the run of `saga`."""
    return (metadata or {}).get(_OF) == saga.id


async def reset(saver: FencedSaver, saga: Saga) -> None:
    """Make the state from before the run the thread's newest; the caller holds `saga`. Safe to repeat."""
    thread: RunnableConfig = {"configurable": {"thread_id": thread_id(saga), "checkpoint_ns": ""}}
    newest = await saver.aget_tuple(thread)
    if newest is None or is_reset(newest.metadata, saga):
        return
    before = saga.request["after"]
    point: RunnableConfig = {"configurable": {**thread["configurable"], "checkpoint_id": before}}
    found = await saver.aget_tuple(point) if before else None
    step = newest.metadata["step"] + 1
    checkpoint = create_checkpoint(found.checkpoint, None, step) if found else empty_checkpoint()
    metadata: Any = {"source": "fork", "step": step, "parents": {}, _OF: saga.id}
    await saver.aput(found.config if found else thread, checkpoint, metadata, {})
