"""Variants: other ways to say what was said. They are guesses: read what one means before you use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sagagraph.domains.reunion.text.clauses import tagged
from sagagraph.domains.reunion.text.reader import Context, parts_of, read_sentence
from sagagraph.language.passage import form

_VALUES: Final = (form("{when}"), form("{amount}"))


def revised(old: str, new: str) -> Iterator[str]:
    """Return one sentence for both, where `new` changes a part of `old`."""
    yield new
    yield from _with_other_values(old, new)
    parts, others = parts_of(old), new.partition(" ")[2]
    for begin, end in _windows(parts):
        before, after = old[: parts[begin][0]], old[parts[end - 1][1] :]
        if begin and new.split()[0] == old.split()[0]:
            yield before + others + after
        yield before + new + after


def shortened(old: str) -> Iterator[str]:
    """Yield `old` without some of its parts, the shortest first."""
    yield ""
    parts = parts_of(old)
    for begin, end in sorted(_windows(parts), key=lambda each: each[0] - each[1]):
        yield old[parts[end][0] :] if begin == 0 else old[: parts[begin - 1][1]] + old[parts[end - 1][1] :]


def _with_other_values(old: str, new: str) -> Iterator[str]:
    """Yield variants with a time, an amount or a place of `new` instead of one of `old`."""
    was, now = tagged(old), tagged(new)
    for kind in _VALUES:
        for before in was.find(kind):
            head, tail = was.said(was.text[: before.start]), was.said(was.text[before.end :])
            yield from (head + after.said + tail for after in now.find(kind))
    for place in _places(old):
        head, found, tail = old.partition(place)
        yield from (head + other + tail for other in _places(new) if found)


def _places(sentence: str) -> dict[str, None]:
    said = (getattr(fact, "place", None) for fact in read_sentence(sentence, Context()).facts)
    return dict.fromkeys(place for place in said if place)


def _windows(parts: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Which of the parts, though not all, could be meant."""
    for begin in range(len(parts)):
        yield from ((begin, end) for end in range(begin + 1, len(parts) + 1) if end - begin < len(parts))
