"""Inputs: documents and texts that were right until something in them was changed, and what never was one."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 1.5, -0.0, 10**18, 2**63, -(2**70), 10**400, 1e308, math.inf, -math.inf, math.nan,
    "", " ", "0", "-1", "1e999", "NaN", "x", "ä", "\0", "\ud800", "\u202e", "a\nb", "../../etc/passwd", "{{7*7}}", "<b>",
    "🚲" * 30,
    "9999-12-31", "0001-01-01", "2025-02-30", "2025-06-04T25:00", "2025-06-04T10:00:00+14:00", "24:00", "12:60", "P1D",
    "9" * 5000,
    [], {}, [[]], [None], {"": ""}, {"x": None},
)  # fmt: skip
"""What programs of others write, and people who want to see something break."""
ODD_WORDS: tuple[str, ...] = tuple(each for each in ODD if isinstance(each, str))
_WORDS = (
    "not", "no", "and", "or", "then", "instead of", "at most", "$", "$5", "€1e9", "-1", "0", "100000000000000000000", "nights",
    "from", "to", "by", "in", "June", "31 June 2025", "29 Feb", "next year", "tomorrow", "24:00", "25:99", "12 pm", "noon",
    "?", "!", "...", ",", ";", "(", ")", "[", "]", "{", "}", "'", '"', "\\", "\n", "\0", "\u202e", "\ud800", "٣", "½", "²",
    "①", "ß", "İ",
    "minutes", "hours", "km", "everybody", "nobody", "Sarah", "James", "Berlin", "BER", "Paris", "and back", "==", "<=", "**",
    "^", "1e400", "1/0", "abs(", "sum(", "forall x in", "!!python/object", "&a", "*a", "- ", ": ", "|", ">", "#", "---",
)  # fmt: skip


def _odd() -> st.SearchStrategy[Any]:
    return st.sampled_from(ODD)


json_values = st.recursive(
    _odd() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places(document: Any, most: int = 4000) -> list[tuple[Any, ...]]:
    """The paths to everything in it."""
    found: list[tuple[Any, ...]] = [()]
    for path in found:
        here = at(document, path)
        keys = list(here) if isinstance(here, dict) else range(len(here)) if isinstance(here, list) else ()
        found += [(*path, key) for key in keys]
        if len(found) > most:
            break
    return found[1:]


def at(document: Any, path: Sequence[Any]) -> Any:
    for key in path:
        document = document[key]
    return document


@st.composite
def changed(draw: st.DrawFn, documents: Sequence[Any]) -> Any:
    """One of `documents` with one to three changes: something lost, doubled, renamed, put elsewhere, or another value."""
    document = copy.deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 3))):
        paths = places(document)
        if not paths:
            return draw(json_values)
        *way, key = draw(st.sampled_from(paths))
        parent = at(document, way)
        match draw(st.integers(0, 9)):
            case 0:
                del parent[key]
            case 1:
                parent[key] = copy.deepcopy(at(document, draw(st.sampled_from(paths))))
            case 2 if isinstance(parent, list):
                parent.insert(draw(st.integers(0, len(parent))), copy.deepcopy(parent[key]))
            case 3 if isinstance(parent, dict):
                parent[draw(st.text(max_size=5))] = parent.pop(key)
            case 4:
                parent[key] = draw(json_values)
            case 5 if isinstance(parent[key], (int, float)) and not isinstance(parent[key], bool):
                parent[key] = draw(st.sampled_from([parent[key] + 1, parent[key] - 1, -parent[key], parent[key] * 10**6]))
            case 6 if isinstance(parent[key], str):
                parent[key] = draw(changed_texts([parent[key]]))
            case _:
                parent[key] = copy.deepcopy(draw(_odd()))
    return document


def documents(known: Sequence[Any]) -> st.SearchStrategy[Any]:
    """Mostly almost right."""
    almost = changed(known)
    return st.integers(0, 9).flatmap(lambda drawn: json_values if drawn == 0 else almost)


@st.composite
def changed_texts(draw: st.DrawFn, texts: Sequence[str]) -> str:
    """One of `texts` with words lost, doubled, exchanged or put in."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 3))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.sampled_from([0, 0, 1, 2, 5, 20])))
        put = draw(st.sampled_from(_WORDS) | st.text(max_size=6) | st.just(text[begin : end + 20]))
        text = text[:begin] + put + text[end:]
    return text


def texts(known: Sequence[str]) -> st.SearchStrategy[str]:
    almost = changed_texts(known)
    return st.integers(0, 9).flatmap(lambda drawn: st.text(max_size=60) if drawn == 0 else almost)


def written(known: Sequence[Any]) -> st.SearchStrategy[bytes]:
    """Documents as bytes: as JSON, which may hold what JSON must not, and with bytes exchanged."""
    as_json = documents(known).map(lambda each: json.dumps(each).encode())
    broken = st.tuples(as_json, st.integers(0, 10**6), st.binary(max_size=3)).map(_with_bytes)
    return st.integers(0, 9).flatmap(lambda drawn: st.binary(max_size=40) if drawn == 0 else broken if drawn < 3 else as_json)


def _with_bytes(given: tuple[bytes, int, bytes]) -> bytes:
    content, place, put = given
    place %= len(content) + 1
    return content[:place] + put + content[place + len(put) :]
