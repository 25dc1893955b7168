"""Readers take whatever they are given: some inputs for each; `make fuzz` runs as many as one likes."""

from __future__ import annotations

import pytest

from tests.fuzz.campaign import fuzz
from tests.fuzz.readers import READERS

INPUTS = 80
SLOW = {"a command line": 25, "a call of the app": 15, "a harness": 25, "a message of a conversation": 25}


@pytest.mark.quick
@pytest.mark.parametrize("reader", READERS)
def test_whatever_is_read_is_read_or_refused_in_our_words(reader: str) -> None:
    assert fuzz(reader, SLOW.get(reader, INPUTS)), "nothing was right: the inputs test no more than the first check"
