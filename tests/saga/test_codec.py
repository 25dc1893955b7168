"""What is written is read again: by this release, and what earlier ones wrote (tests/saga/journals)."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

import pytest

from sagagraph.errors import JournalError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.codec import Record, decode, encode
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.engine.views.document import entry_json
from tests.saga.journals import EXAMPLES, JOURNALS, Journal

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("journal", JOURNALS, ids=str)
def test_rule_10_a_journal_of_an_earlier_release_folds_to_where_it_stood(journal: Journal) -> None:
    entries = journal.entries()
    saga = fold(journal.saga_id, entries)
    assert (saga.stage.value, saga.version, saga.domain) == (journal.stage, len(journal.rows), journal.domain)
    assert fold(journal.saga_id, [_again(each) for each in entries]) == saga


def _again(entry: e.Entry) -> e.Entry:
    return e.Entry(entry.version, entry.epoch, entry.at, decode(encode(entry.event), entry.at))


@pytest.mark.parametrize(("name", "row"), EXAMPLES, ids=lambda each: each if isinstance(each, str) else "")
def test_rule_10_an_event_of_an_earlier_release_is_read_with_all_its_fields(name: str, row: dict[str, Any]) -> None:
    event = decode(Record(row["type"], row["schema_version"], row["data"]), 7.5)
    complete = row["complete"]
    if row["schema_version"] == 1 and row["type"] == "OperationProbed" and complete["asked_at"] is None:
        complete = {**complete, "asked_at": 7.5}  # None meant "when this was written"
    assert as_it_was(entry_json(e.Entry(1, 1, 0.0, event))["data"], complete) == complete
    assert decode(encode(event), 7.5) == event
    hash_of(event)


BEFORE = {"unknown_probes": 3, "clock_margin_s": 1.0, "lock_wait_s": 30.0}
"""What was fixed before it could be chosen."""


def as_it_was(now: Any, then: Any) -> Any:
    """Without what later releases have added, which must say nothing."""
    if isinstance(now, dict) and isinstance(then, dict):
        added = {name: now[name] for name in now.keys() - then.keys()}
        assert not any(value for name, value in added.items() if BEFORE.get(name) != value), added
        return {name: as_it_was(now[name], then[name]) for name in now.keys() & then.keys()}
    if isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        return [as_it_was(*pair) for pair in zip(now, then, strict=True)]
    return now


def hash_of(event: e.Event) -> None:
    """Events hash as their fields do."""
    try:
        expected = all(hash(getattr(event, name)) is not None for name in event.__struct_fields__)
    except TypeError:
        with pytest.raises(TypeError):
            hash(event)
    else:
        assert expected
        assert isinstance(hash(event), int)


class Colour(StrEnum):
    RED = "red"


class Text(str):
    __slots__ = ()


class Number(float):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (2**70, 2**70),
        (-(2**70), -(2**70)),
        (1e300, 1e300),
        (0.1 + 0.2, 0.1 + 0.2),
        ((1, (2,)), [1, [2]]),
        (Text("x"), "x"),
        (Number(1.5), 1.5),
        ({Text("x"): Colour.RED}, {"x": "red"}),
        ('"\\\n\x00\u2028 日本 🚆', '"\\\n\x00\u2028 日本 🚆'),
    ],
    ids=repr,
)
def test_values_are_read_as_they_were_written(value: Any, read: Any) -> None:
    event = decode(encode(e.OperationVoided("T1", value)), 0.0)
    assert isinstance(event, e.OperationVoided)
    assert event.output == read
    assert type(event.output) is type(read)


def test_what_stands_at_its_default_is_not_written() -> None:
    assert json.loads(encode(e.OperationSucceeded("T1", None)).data) == {"operation": "T1", "output": None}


@pytest.mark.parametrize(
    ("record", "where"),
    [
        (Record("SagaBegun", 1, '{"driver": "body", "domain": ""'), "its data"),
        (Record("SagaBegun", 1, '{"domain": "", "request": null}'), "its data"),
        (Record("SagaBegun", 1, '{"driver": "nobody", "domain": "", "request": null}'), "driver"),
        (Record("SagaBegun", 1, ""), "its data"),
        (Record("SagaBegun", 1, "[]"), "its data"),
        (Record("AttemptLost", 1, '{"operation": "T1", "fault": {"code": 7, "message": ""}, "retry_at": 1}'), "fault.code"),
        (Record("BodyCompleted", 1, '{"removed": ["a", null]}'), "removed[1]"),
        (
            Record(
                "OperationPlanned",
                1,
                '{"operation": {"id": "a", "action": "a", "kind": "pivot", "inputs": 1, "condition": {"kind": "odd"}}}',
            ),
            "operation.condition.kind",
        ),
        (
            Record(
                "OperationPlanned",
                1,
                '{"operation": {"id": "a", "action": "a", "kind": "pivot", "inputs": 1, "policy": {"timeout_s": -1}}}',
            ),
            "its data",
        ),
        (Record("SagaBegun", 1, '{"driver": "body", "domain": "", "request": ' + "[" * 10**5 + "]" * 10**5 + "}"), "its data"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.type,
)
def test_what_is_damaged_is_named_in_one_line(record: Record, where: str) -> None:
    with pytest.raises(JournalError) as raised:
        decode(record, 0.0)
    said = str(raised.value)
    assert said.startswith(f"an event {record.type!r} is damaged at {where}: ")
    assert len(said.splitlines()) == 1


def test_every_journal_of_the_folder_is_tested() -> None:
    assert {each.release for each in JOURNALS} == {"0.1.0"}
    assert {each.saga_id for each in JOURNALS} >= {"finished", "killed", "waits", "compensated", "reversed", "held"}
