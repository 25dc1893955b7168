"""Identity: whether two terms are the same once an artifact's values are put in, by multiplying out."""

from __future__ import annotations

from collections.abc import Mapping

from sagagraph.harness.language.core import CoreForm, NotSupportedError, TooLargeError
from sagagraph.harness.language.polynomials import TooManyError, polynomial
from sagagraph.harness.language.tree import Call, Node
from sagagraph.harness.registry.harness import Value


def identical(left: Node, right: Node, values: Mapping[str, Value | None], derived: Mapping[str, Node]) -> bool:
    """Tell whether both sides are the same number by the rules of algebra alone."""
    fixed = {name: value for name, value in values.items() if value is not None}
    form = CoreForm(fixed, {}, derived)
    try:
        difference = form.number(Call("-", (left, right)))
        return difference is not None and not polynomial(difference)
    except (NotSupportedError, TooLargeError, TooManyError, RecursionError):
        return False
