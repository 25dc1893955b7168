"""docs/services: its table is what the sheets say, each service has a document, and each example runs on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from sagagraph.services.catalogue import services
from tests.services.servers import Server, StripeServer, make_bucket
from tests.services.table import DOCUMENT, written
from tests.test_readme import _BLOCK


def test_the_table_is_what_the_sheets_say() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == written(text), "write it with: python -m tests.services.table"


@pytest.mark.parametrize("name", [each.name for each in services()])
def test_an_example_runs_as_it_stands(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mails: Server,
    calendars: Server,
    stripe: StripeServer,
    rooms: Server,
    buckets: Server,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOP_MAIL", f"smtp://127.0.0.1:{mails.port}")
    monkeypatch.setenv("ALEX_CALENDAR", f"http://alex@127.0.0.1:{calendars.port}/alex/work/")
    monkeypatch.setenv("STRIPE_URL", stripe.url)
    monkeypatch.setenv("STRIPE_SECRET_KEY", "sk_test_example")
    monkeypatch.setenv("HOTEL_URL", f"http://127.0.0.1:{rooms.port}")
    monkeypatch.setenv("HOTEL_DESCRIPTION", str(DOCUMENT.with_name("examples") / "rooms.yaml"))
    monkeypatch.setenv("NOTES_BUCKET", f"http://alex@127.0.0.1:{buckets.port}/notes")
    make_bucket(buckets, "notes")
    calendars.make_calendar("alex", "work")
    text = DOCUMENT.with_name(f"{name}.md").read_text(encoding="utf-8")
    runs = [found for found in _BLOCK.finditer(text) if "no-run" not in found["words"]]
    assert runs
    for found in runs:
        line = text.count("\n", 0, found.start("code"))
        exec(compile("\n" * line + found["code"], f"{name}.md", "exec", dont_inherit=True), {"__name__": "__main__"})
