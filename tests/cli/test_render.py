"""What others said is shown on a terminal, and does not steer it."""

from __future__ import annotations

import pytest
from rich.table import Table

from sagagraph.cli.console import Printer, escape

HOSTILE = "sold out\x1b[2J\x1b]0;all is well\x07\x9b1A\rcommitted"


@pytest.mark.quick
def test_words_of_a_provider_do_not_steer_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    printer = Printer()
    table = Table("error", box=None)
    table.add_row(HOSTILE)
    printer.print(HOSTILE, markup=False)
    printer.print(table)
    printer.print(f"[dim]{escape(HOSTILE)}[/dim]")
    out = capsys.readouterr().out
    assert "\x1b[1m" in out, "the heading of a table is bold, as on a terminal"
    shown = out.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "")
    assert shown.count("sold out") == 3
    assert not set("\x1b\x07\x9b\r") & set(shown)


@pytest.mark.quick
def test_brackets_are_colours_only_where_they_are_meant(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Printer(stderr=True)
    printer.print("stops[0].nights: [green]more[/green]", markup=False)
    printer.print(f"{escape('stops[green]')}: [green]more[/green]")
    assert capsys.readouterr().err == "stops[0].nights: [green]more[/green]\nstops[green]: more\n"
