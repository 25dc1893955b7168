"""The world outside: stalls that sell fruit. It remembers keys for good, as files in a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from sagagraph.errors import Refused
from sagagraph.files import file_name, write_whole

PRICES = {"apples": {"Ann": 0.5, "Bob": 0.75}, "pears": {"Bob": 1.0, "Cleo": 1.5}, "plums": {"Cleo": 0.25}}


class Stalls:
    def __init__(self, folder: Path) -> None:
        self._sold = folder / "sold"
        self._closed = folder / "closed.txt"
        """The names of stalls that have packed up."""

    def sell(self, key: str, what: dict[str, object]) -> None:
        """Again under the same key: nothing is sold twice."""
        if self.sale(key) is None:
            if self._closed.exists() and what["stall"] in self._closed.read_text(encoding="utf-8").split():
                raise Refused(f"{what['stall']} has packed up", code="closed")
            self._write(key, what)

    def take_back(self, key: str) -> None:
        if sale := self.sale(key):
            self._write(key, {**sale, "returned": True})

    def sale(self, key: str) -> dict[str, object] | None:
        path = self._path(key)
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def sold(self) -> Iterator[dict[str, object]]:
        """All that is not returned."""
        sales = (json.loads(each.read_text(encoding="utf-8")) for each in sorted(self._sold.glob("*.json")))
        return (each for each in sales if not each.get("returned"))

    def _write(self, key: str, what: dict[str, object]) -> None:
        self._sold.mkdir(parents=True, exist_ok=True)
        write_whole(self._path(key), json.dumps(what).encode())

    def _path(self, key: str) -> Path:
        return self._sold / f"{file_name(key)}.json"
