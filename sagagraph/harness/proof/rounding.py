"""Rounding: points near a point, with few digits or on the variables' steps, to be tried before it."""

from __future__ import annotations

from collections.abc import Iterator

from flint import fmpq

from sagagraph.harness.proof.system import Box, Numbers, Span, System

_DIGITS = (2, 3, 4, 6, 9, 13)


def rounded_points(numbers: Numbers, box: Box, system: System) -> Iterator[Numbers]:
    """Yield it on its steps first, then with more and more digits, then as it is."""
    seen: set[tuple[fmpq, ...]] = set()
    for digits in (0, *_DIGITS, 99):
        point = {name: _rounded(name, value, digits, box, system) for name, value in numbers.items()}
        key = tuple(point.values())
        if key not in seen:
            seen.add(key)
            yield point


def _rounded(name: str, value: fmpq, digits: int, box: Box, system: System) -> fmpq:
    if name in system.integers:
        return inside(fmpq((value + fmpq(1, 2)).floor()), box.spans[name])
    listed = [each for each in system.harness.variables[name].choices if isinstance(each, fmpq)]
    if listed:
        return min(listed, key=lambda each: abs(each - value))
    if digits == 99:
        return value
    step = system.harness.variables[name].step if digits == 0 else None
    found = significant(value, digits or 2) if step is None else fmpq((value / step + fmpq(1, 2)).floor()) * step
    return inside(found, system.root.spans[name])


def inside(value: fmpq, span: Span) -> fmpq:
    """Return the nearest value in the span."""
    low, high = span
    value = value if low is None else max(low, value)
    return value if high is None else min(high, value)


def significant(value: fmpq, digits: int, *, upwards: bool | None = None) -> fmpq:
    """Return it with so many decimal digits; `upwards` or downwards, or to the nearest."""
    if value == 0:
        return value
    size = abs(value)
    power = len(str(int(size.p))) - len(str(int(size.q)))
    scale = fmpq(10) ** (digits - power)
    scaled = value * scale
    nearest = (scaled + fmpq(1, 2)).floor()
    return fmpq(nearest if upwards is None else scaled.ceil() if upwards else scaled.floor()) / scale
