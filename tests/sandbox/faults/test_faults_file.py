from __future__ import annotations

import json
from pathlib import Path

import pytest

from sagagraph.errors import InvalidInputError
from sagagraph.sandbox.books.faults import load_faults

GOOD = {"kind": "hotel", "call": "book", "nth": 1, "fault": "late", "seconds": 3}


def test_every_documented_entry_is_understood(tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    kinds = ["flight", "hotel", "train", "payment", "*"]
    calls = ["search", "book", "cancel", "capture", "refund", "find", "void"]
    faults = ["refuse", "before", "after", "hang", "late", "price_up", 429, 500]
    entries = [GOOD | {"kind": kind, "call": call, "fault": fault} for kind in kinds for call in calls for fault in faults]
    path.write_text(json.dumps(entries))
    assert len(load_faults(path).rules) == len(entries)


def test_number_and_seconds_need_not_be_given(tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    path.write_text(json.dumps([{"kind": "*", "call": "book", "fault": fault} for fault in ("hang", "late")]))
    hang, late = load_faults(path).rules
    assert (hang.nth, hang.duration.total_seconds(), late.duration.total_seconds()) == (1, 30, 3)


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ({"kind": "boat"}, "entry 2, kind"),
        ({"call": "sing"}, "entry 2, call"),
        ({"fault": "explode"}, "entry 2, fault"),
        ({"fault": 418}, "entry 2, fault"),
        ({"fault": "429"}, "entry 2, fault"),
        ({"nth": 0}, "entry 2, nth"),
        ({"nth": "1"}, "entry 2, nth"),
        ({"nth": 1.5}, "entry 2, nth"),
        ({"seconds": -1}, "entry 2, seconds"),
        ({"seconds": "3"}, "entry 2, seconds"),
        ({"seconds": 86401}, "entry 2, seconds"),
        ({"colour": "red"}, "entry 2, colour"),
    ],
)
def test_a_broken_entry_is_named_with_its_field_on_one_line(tmp_path: Path, entry: dict[str, object], named: str) -> None:
    path = tmp_path / "faults.json"
    path.write_text(json.dumps([GOOD, GOOD | entry]))
    with pytest.raises(InvalidInputError, match=named) as raised:
        load_faults(path)
    assert raised.value.field == "--faults"
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("missing", ["kind", "call", "fault"])
def test_a_missing_field_is_named(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "faults.json"
    path.write_text(json.dumps([{name: value for name, value in GOOD.items() if name != missing}]))
    with pytest.raises(InvalidInputError, match=f"entry 1, {missing}: "):
        load_faults(path)


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"5", b"[5]", b"\xff\xfe", b"[" * 100_000, b'[{"seconds": NaN}]'])
def test_what_is_no_list_of_entries_is_refused_on_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "faults.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"^--faults: ") as raised:
        load_faults(path)
    assert "\n" not in str(raised.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path):
        with pytest.raises(InvalidInputError, match=r"^--faults: .* cannot be read: "):
            load_faults(path)
