"""Collector: Python's cyclic garbage collector, set for a process that serves many sagas at once."""

from __future__ import annotations

import gc

_YOUNG = 50_000
"""New objects between two collections. By default, 700: with 1,000 sagas under way, each of which keeps thousands of objects
alive, every one of those collections finds almost nothing, and they take a quarter of the time.
"""


def collect_seldom() -> None:
    """Collect garbage seldom, and never look at what is alive now. For the program itself to call, once it has imported and
    built what it keeps: it changes the whole process, so no engine does it by itself. Safe to repeat.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])
