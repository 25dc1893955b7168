"""Sharing: links that cannot be guessed, each of which shows one plan to whoever has it, until somebody ends it."""

from __future__ import annotations

from sagagraph.errors import UnknownSagaError
from sagagraph.saga.stores.port import Document, Documents

SHARED_PATH = "/shared/"
_SHARED = "shared"
"""The kind of documents about links: those of a saga, and, under the link, which saga it is of and that it was ended."""


class Sharing:
    """Links in the store of the sagas: a document is written once, so a link that was ended stays so."""

    def __init__(self, store: Documents) -> None:
        self._store = store

    async def begin(self, saga_id: str, token: str) -> str:
        """Return the secret of the saga's link; `token` is taken for it if there is none."""
        if known := await self.of(saga_id):
            return known
        await self._store.put(Document(_owner(token), _SHARED, "saga", saga_id))
        await self._store.put(Document(saga_id, _SHARED, token, None))
        return token

    async def of(self, saga_id: str) -> str:
        """Return the secret of the saga's link; empty if there is none."""
        for each in await self._store.documents(saga_id, _SHARED):
            if await self._open(each.key):
                return each.key
        return ""

    async def end(self, saga_id: str) -> None:
        if token := await self.of(saga_id):
            await self._store.put(Document(_owner(token), _SHARED, "ended", saga_id))

    async def saga_of(self, token: str) -> str:
        """Return the saga that a link is of. Raises `UnknownSagaError` if there is no such link, or it was ended."""
        if not (saga_id := await self._open(token)):
            raise UnknownSagaError("there is no such link, or sharing was ended: ask whoever sent it for another one")
        return saga_id

    async def _open(self, token: str) -> str:
        found = {each.key: str(each.data) for each in await self._store.documents(_owner(token), _SHARED)}
        return "" if "ended" in found else found.get("saga", "")


def _owner(token: str) -> str:
    return f"{_SHARED} {token}"
