"""Plans of shipped domains as documents, in every language and back."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sagagraph.cli.workflow.judging import LANGUAGES, plan_of
from sagagraph.saga.engine.engine import Engine
from sagagraph.workflow.language.checks import findings
from sagagraph.workflow.language.document import document_json, read_document

pytestmark = pytest.mark.quick

GIVEN_UP = {"amended", "reversed~reversal"}
STORE = Path(__file__).parents[1] / "releases" / "0.2.0" / "sqlite" / "store.sql.gz"


async def test_plans_of_trips_and_days_round_trip_in_both_languages(tmp_path: Path) -> None:
    """Trips that committed, were amended, failed and were reversed; a reunion's day; and what programs made of their own."""
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        connection.executescript(gzip.decompress(STORE.read_bytes()).decode())
    seen = set()
    async with Engine.open(f"sqlite:///{tmp_path / 'store.db'}", create=False) as engine:
        for each in await engine.sagas():
            saga = await engine.load(each.saga_id)
            if not saga.operations:
                continue
            document = plan_of(saga)
            assert read_document(json.loads(json.dumps(document_json(document)))) == document
            if findings(document):  # what it uses was given up, with nothing in its place
                assert saga.id in GIVEN_UP
                continue
            seen.add(saga.domain)
            for write, read in LANGUAGES.values():
                assert document_json(read(json.loads(json.dumps(write(document))))) == document_json(document)
    assert {"travel", "reunion"} <= seen
