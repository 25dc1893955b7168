"""What others said is shown on a terminal, and does not steer it."""

from __future__ import annotations

import io

import pytest
from rich.table import Table

from sagagraph.cli.render import _Console


@pytest.mark.quick
def test_words_of_a_provider_do_not_steer_the_terminal() -> None:
    out = io.StringIO()
    console = _Console(file=out, force_terminal=True, emoji=False, highlight=False, soft_wrap=True)
    hostile = "sold out\x1b[2J\x1b]0;all is well\x07\x9b1A\rcommitted"
    table = Table("error", box=None)
    table.add_row(hostile)
    console.print(hostile, markup=False)
    console.print(table)
    shown = out.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert "sold out" in shown
    assert not set("\x1b\x07\x9b\r") & set(shown)
