"""LangGraph's own conformance suite for checkpointers, on each of ours and behind the fence."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.report import CapabilityReport
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from sagagraph import Engine
from sagagraph.errors import SupersededError
from sagagraph.graph.checkpoints.checkpointer import Saver, open_checkpointer
from sagagraph.graph.checkpoints.fenced_saver import FencedSaver


@dataclass(frozen=True)
class Flight:
    number: str


class HeldByEverybody(FencedSaver):
    """The suite has threads and no sagas; who may write to a thread is a matter of other tests."""

    async def _check(self, config: RunnableConfig) -> None:
        pass


async def reports(url: str) -> tuple[CapabilityReport, CapabilityReport]:
    """Of the saver for a store as it is, and behind the fence."""

    async def opened() -> AsyncIterator[Saver]:
        async with Engine.open(url), open_checkpointer(url) as saver:
            if hasattr(saver, "setup"):
                await saver.setup()
            yield saver

    async def fenced() -> AsyncIterator[Saver]:
        async for saver in opened():
            yield HeldByEverybody(saver)

    plain, ours = [await validate(checkpointer_test(name=url)(made)) for made in (opened, fenced)]
    return plain, ours


def passed(report: CapabilityReport) -> dict[str, int]:
    counted = {name: each.tests_passed for name, each in report.results.items()}
    assert sum(counted.values()) > 50
    return counted


@pytest.mark.parametrize("store", ["memory", "sqlite", "postgresql"])
async def test_a_fenced_saver_passes_what_the_saver_below_it_passes(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    urls = {"memory": "memory:", "sqlite": f"sqlite:///{tmp_path / 'saga.db'}"}
    plain, ours = await reports(urls.get(store) or request.getfixturevalue("database"))
    assert passed(ours) == passed(plain)
    assert [failure for each in ours.results.values() for failure in each.failures or ()] == []


async def test_types_that_are_let_in_are_let_in_behind_the_fence() -> None:
    strict = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=[]))
    fenced = FencedSaver(strict)
    allowing = fenced.with_allowlist([(Flight.__module__, Flight.__name__)])
    written = allowing.serde.dumps_typed(Flight("LH1"))
    assert (fenced.inner.serde.loads_typed(written), allowing.inner.serde.loads_typed(written)) == (
        {"number": "LH1"},
        Flight("LH1"),
    )
    with allowing.held_by("a", None):
        await fenced.aput({"configurable": {"thread_id": "a", "checkpoint_ns": ""}}, empty_checkpoint(), {}, {})
    with pytest.raises(SupersededError):
        await allowing.aput({"configurable": {"thread_id": "a", "checkpoint_ns": ""}}, empty_checkpoint(), {}, {})
