"""Drafted saver: reads a thread's checkpoints, and holds new ones back until everything is known to be right."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple


class DraftedSaver(BaseCheckpointSaver[Any]):
    """Saver of drafts. What LangGraph writes here can be read again here; `write` brings it to `inner`, in the same order."""

    def __init__(self, inner: BaseCheckpointSaver[Any]) -> None:
        super().__init__(serde=inner.serde)
        self._inner = inner
        self._drafts: dict[tuple[str, str], CheckpointTuple] = {}
        self._newest: dict[str, CheckpointTuple] = {}
        self._writes: list[tuple[str, tuple[Any, ...]]] = []

    async def write(self) -> None:
        for method, arguments in self._writes:
            await getattr(self._inner, method)(*arguments)

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        self._writes.append(("aput", (config, checkpoint, metadata, new_versions)))
        thread, namespace, _id = _place(config)
        written: RunnableConfig = {
            "configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint["id"]}
        }
        draft = CheckpointTuple(written, checkpoint, metadata, config, [])
        self._drafts[namespace, checkpoint["id"]] = self._newest[namespace] = draft
        return written

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self._writes.append(("aput_writes", (config, list(writes), task_id, task_path)))
        _thread, namespace, checkpoint_id = _place(config)
        draft = self._drafts.get((namespace, checkpoint_id or ""))
        if draft is not None and draft.pending_writes is not None:
            draft.pending_writes.extend((task_id, channel, value) for channel, value in writes)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        _thread, namespace, checkpoint_id = _place(config)
        draft = self._drafts.get((namespace, checkpoint_id)) if checkpoint_id else self._newest.get(namespace)
        return draft or await self._inner.aget_tuple(config)

    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        async for each in self._inner.alist(config, **options):
            yield each

    async def aget_delta_channel_history(self, **options: Any) -> Any:
        return await self._inner.aget_delta_channel_history(**options)

    @property
    def config_specs(self) -> Any:
        return self._inner.config_specs

    def get_next_version(self, current: Any, channel: None) -> Any:
        return self._inner.get_next_version(current, channel)


def _place(config: RunnableConfig) -> tuple[str, str, str | None]:
    configurable = config["configurable"]
    return str(configurable["thread_id"]), configurable.get("checkpoint_ns", ""), configurable.get("checkpoint_id")
