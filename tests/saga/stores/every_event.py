"""Values of every class of event, made from their annotations: a new event is covered as soon as it exists."""

from __future__ import annotations

import types
import typing
from enum import Enum
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from msgspec import Struct

from sagagraph.saga.core.events import Event
from sagagraph.workflow.lock import Lock, LockMode

KINDS: tuple[type[Any], ...] = typing.get_args(Event)

_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
_NUMBER = st.floats(allow_nan=False, allow_infinity=False, min_value=0, max_value=4e9)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _NUMBER | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
    max_leaves=4,
)


def events_of(kind: type[Any]) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(kind)
    return st.builds(kind, **{each: _values(kind, each, hints[each]) for each in kind.__struct_fields__})


def examples_of(kind: type[Any], count: int) -> list[Any]:
    """As many different ones, the same in every run."""
    found: list[Any] = []

    @seed(1)
    @settings(max_examples=count, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None)
    @given(events_of(kind))
    def collect(event: Any) -> None:
        found.append(event)

    collect()
    return found


def _values(owner: type[Any], name: str, hint: Any) -> st.SearchStrategy[Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if name == "condition":
        return st.none()
    if name in ("policy", "guarantees"):
        return st.just(hint())
    if hint is Lock:
        return st.builds(Lock, st.text("ab", min_size=1), st.sampled_from(LockMode), st.none(), st.none() | _NUMBER)
    if hint is Any:
        return _JSON
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*(_values(owner, name, each) for each in arguments))
    if origin is tuple:
        return st.lists(_values(owner, name, arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(_TEXT, _values(owner, name, arguments[1]), max_size=2)
    if hint is type(None):
        return st.none()
    if isinstance(hint, type) and issubclass(hint, Struct):
        return events_of(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    return {str: _TEXT, bool: st.booleans(), int: st.integers(0, 10**6), float: _NUMBER}[hint]
