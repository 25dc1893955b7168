"""Rules: designs that must pass a harness: what breaks which rule, and a design that passes. Harnesses: those of the package."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Final

from sagagraph.errors import InvalidInputError, Refused
from sagagraph.extras import needing
from sagagraph.workflow.values import Json

_SECONDS: Final = 10.0


def broken_rules(output: Json, name: str) -> Iterator[str]:
    """Yield the rules of a harness that a design breaks, with its margins."""
    harness = _harness(name)
    from sagagraph.harness.judging.check import checked_json

    if not isinstance(output, Mapping):
        yield "it is no design: say a value for each variable"
        return
    for each in checked_json(harness, dict(output))["rules"]:
        if each["verdict"] != "PASS":
            yield f"{each['rule']} is broken, by {each['margin']}" if each["margin"] is not None else str(each["reason"])


def design_for(name: str) -> dict[str, Any]:
    """Return a design that passes. Raises `Refused` if none can, or none was found in time."""
    harness = _harness(name)
    from sagagraph.harness.proof.explain import explain, explanation_json

    until = time.monotonic() + _SECONDS
    said = explanation_json(harness, explain(harness, expired=lambda: time.monotonic() > until))
    if not said.get("witness"):
        raise Refused(f"nothing passes the rules of {name}: {said['status']}", code="invalid_input")
    return dict(said["witness"])


def _harness(name: str) -> Any:
    """Return a harness; its type needs an extra. Raises `InvalidInputError` for a name that there is not."""
    with needing("harness"):
        from sagagraph.harness.registry.loading import harness_from
    file = files("sagagraph.harness.examples") / f"{name}.yaml"
    if not name.isidentifier() or not file.is_file():
        raise InvalidInputError(f"there is no harness {name!r}", field="harness")
    return harness_from(file.read_text(encoding="utf-8"))
