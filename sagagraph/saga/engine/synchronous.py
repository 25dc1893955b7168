"""The synchronous form of the engine, for scripts: the same methods without `await`, on an event loop in a thread of its own."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from sagagraph.saga.core.events import Resolution
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.maintenance.replay import Replay
from sagagraph.saga.engine.maintenance.retention import Retirement
from sagagraph.saga.engine.opening import EngineOpening
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.saga.engine.views.view import SagaView


class SyncEngine:
    def __init__(self, opening: EngineOpening) -> None:
        self._opened = start_blocking_portal()
        self._portal: BlockingPortal = self._opened.__enter__()
        try:
            self._engine_context = self._portal.wrap_async_context_manager(opening)
            self._engine: Engine = self._engine_context.__enter__()
        except BaseException:
            self._opened.__exit__(None, None, None)
            raise

    @property
    def portal(self) -> BlockingPortal:
        """Into the thread of the event loop that the engine lives on."""
        return self._portal

    @property
    def engine(self) -> Engine:
        return self._engine

    def close(self) -> None:
        try:
            self._engine_context.__exit__(None, None, None)
        finally:
            self._opened.__exit__(None, None, None)

    def saga(self, saga_id: str) -> SyncSaga:
        return SyncSaga(self._portal, self._engine.saga(saga_id))

    def status(self, saga_id: str) -> SagaView:
        return self._portal.call(self._engine.status, saga_id)

    def state_at(self, saga_id: str, version: int) -> SagaView:
        return self._portal.call(self._engine.state_at, saga_id, version)

    def replay(self, saga_id: str) -> Replay:
        return self._portal.call(self._engine.replay, saga_id)

    def retire(
        self, saga_id: str | None = None, *, older_than: timedelta | None = None, archive: Path | None, dry_run: bool = False
    ) -> Retirement:
        return self._portal.call(lambda: self._engine.retire(saga_id, older_than=older_than, archive=archive, dry_run=dry_run))

    def redact(self, saga_id: str, fields: Iterable[str], *, by: str = "user") -> SagaView:
        return self._portal.call(lambda: self._engine.redact(saga_id, fields, by=by))

    def resume(self, saga_id: str) -> SagaView:
        return self._portal.call(self._engine.resume, saga_id)

    def cancel(self, saga_id: str, *, preview: bool = False, by: str = "user") -> SagaView | CancelPreview:
        return self._portal.call(lambda: self._engine.cancel(saga_id, preview=preview, by=by))

    def resolve(
        self, saga_id: str, operation_id: str, resolution: Resolution | str, *, output: Any = None, by: str = "user"
    ) -> SagaView:
        return self._portal.call(lambda: self._engine.resolve(saga_id, operation_id, resolution, output=output, by=by))


class SyncSaga:
    def __init__(self, portal: BlockingPortal, saga: BodySaga) -> None:
        self._portal = portal
        self._saga = saga
        self._context: AbstractContextManager[BodySaga] = portal.wrap_async_context_manager(saga)
        self.id = saga.id

    def __enter__(self) -> SyncSaga:
        self._context.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        self._context.__exit__(kind, exc, trace)

    def run(self, action: Action, request: Any = None, *, id: str | None = None, after: Iterable[Any] | None = None) -> Any:  # noqa: A002 - the contract's name
        """See `BodySaga.run`."""
        return self._portal.call(lambda: self._saga.run(action, request, id=id, after=after))
