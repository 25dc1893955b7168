"""The words, tables and the plot that are made of the cases."""

from __future__ import annotations

from collections import Counter


def totals(cases):
    return [str(Counter((c["trip"], c["status"]) for c in cases))]


def written(cases, out):
    pass
