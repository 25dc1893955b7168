"""Values as journals hold them."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A JSON value: None, a bool, a number, a text, a list or an object of these. Code that takes one apart knows its form from where
it was written. A recursive type would have to be narrowed at every step, and msgspec, which reads these fields, knows none.
"""
