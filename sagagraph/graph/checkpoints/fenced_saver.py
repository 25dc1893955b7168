"""Fenced saver: the user's checkpointer, through which a superseded worker cannot move a thread (docs/protocol.md L4)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from operator import attrgetter
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple

from sagagraph.errors import NotAllowedError, SupersededError
from sagagraph.graph.running.run import RUN
from sagagraph.graph.running.waiting import Waiting
from sagagraph.saga.engine.coordinator import Coordinator

_NOT_OF_A_RUN: Final = ("acopy_thread", "adelete_for_runs", "aprune", "copy_thread", "delete_for_runs", "prune")
"""Methods that a saver may have and that no run calls: they need no fence."""


class FencedSaver(BaseCheckpointSaver[Any]):
    """Fence around `inner`: everything works as there, but writing to a thread requires holding its saga.

    A saver without asynchronous methods runs on a thread.
    """

    def __new__(cls, inner: Any = None) -> FencedSaver:
        """Make a class with those methods of `inner`, because LangGraph looks at the class of a saver to see what else it
        can do.
        """
        own = [each for each in _NOT_OF_A_RUN if getattr(type(inner), each, None) not in (None, getattr(cls, each))]
        return super().__new__(type(cls.__name__, (cls,), {each: property(attrgetter(f"inner.{each}")) for each in own}))

    def __init__(self, inner: Any) -> None:
        super().__init__(serde=inner.serde)
        self.inner = inner
        self._holders: dict[str, Coordinator | None] = {}
        self._is_async = True
        self._takes_path = "task_path" in signature(inner.put_writes).parameters

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # for a saver that is being copied
            raise AttributeError(name)
        return getattr(self.inner, name)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> FencedSaver:
        """Return the same fence around a saver that reads more types; LangGraph asks for it under `LANGGRAPH_STRICT_MSGPACK`."""
        allowing = FencedSaver(self.inner.with_allowlist(extra_allowlist))
        allowing._holders = self._holders
        return allowing

    @contextmanager
    def held_by(self, thread: str, coordinator: Coordinator | None) -> Iterator[None]:
        """Allow writing to `thread` while entered, for as long as `coordinator` holds its saga; None: it has no saga yet."""
        self._holders[thread] = coordinator
        try:
            yield
        finally:
            if self._holders.get(thread) is coordinator:
                del self._holders[thread]

    async def _check(self, config: RunnableConfig) -> None:
        thread = str(config["configurable"]["thread_id"])
        run = config["configurable"].get(RUN)
        if run is None and thread not in self._holders:  # a graph that a node runs may have a thread of its own
            raise SupersededError(f"thread {thread!r} is not held by this worker: its checkpoint is not written", saga_id=thread)
        coordinator = self._holders[thread] if run is None else run.coordinator
        if coordinator is not None:
            await coordinator.check_still_held()

    # -- writing ---------------------------------------------------------------------------------------------------------

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        await self._check(config)
        run = config["configurable"].get(RUN)
        if run is not None:  # LangGraph writes a checkpoint beside the last writes of the tasks in it
            await run.is_journalled()
        written: RunnableConfig = await self._call("put", config, checkpoint, metadata, new_versions)
        return written

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        run = config["configurable"].get(RUN)
        if run is not None:
            await run.task_ends(task_id, writes)
            await run.coordinator.flush()
        await self._check(config)
        if self._takes_path:
            await self._call("put_writes", config, writes, task_id, task_path)
        else:  # written before LangGraph had paths; its inherited asynchronous method may take them
            await asyncio.to_thread(self.inner.put_writes, config, writes, task_id)

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """Write for a graph that a plain function calls with `invoke`, in a thread of its own."""
        return self._waiting(config).wait(self.aput(config, checkpoint, metadata, new_versions))

    def put_writes(self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        self._waiting(config).wait(self.aput_writes(config, writes, task_id, task_path))

    def _waiting(self, config: RunnableConfig) -> Waiting:
        run = config["configurable"].get(RUN)
        if run is None:
            raise NotAllowedError("only a graph that a node of a SagaGraph runs writes its checkpoints here")
        return Waiting(run.loop)

    # -- reading ---------------------------------------------------------------------------------------------------------

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found: CheckpointTuple | None = await self._call("get_tuple", config)
        return found

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found: CheckpointTuple | None = self.inner.get_tuple(config)
        return found

    def list(self, config: RunnableConfig | None, **options: Any) -> Iterator[CheckpointTuple]:
        yield from self.inner.list(config, **options)

    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        if self._is_async:
            async for each in self.inner.alist(config, **options):
                yield each
        else:
            for each in await asyncio.to_thread(lambda: [*self.inner.list(config, **options)]):
                yield each

    async def adelete_thread(self, thread_id: str) -> None:
        await self._call("delete_thread", thread_id)

    def delete_thread(self, thread_id: str) -> None:
        self.inner.delete_thread(thread_id)

    def get_delta_channel_history(self, **options: Any) -> Any:
        return self.inner.get_delta_channel_history(**options)

    async def aget_delta_channel_history(self, **options: Any) -> Any:
        return await self._call("get_delta_channel_history", **options)

    # -- what both are made of -------------------------------------------------------------------------------------------

    @property
    def config_specs(self) -> Any:
        return self.inner.config_specs

    def get_next_version(self, current: Any, channel: None) -> Any:
        return self.inner.get_next_version(current, channel)

    async def _call(self, method: str, *arguments: Any, **options: Any) -> Any:
        if self._is_async:
            try:
                return await getattr(self.inner, f"a{method}")(*arguments, **options)
            except NotImplementedError:  # the saver defines the method only to raise
                self._is_async = False
        return await asyncio.to_thread(getattr(self.inner, method), *arguments, **options)
