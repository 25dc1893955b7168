"""Python's judge: the assertions of the paper's files as its own code evaluates them, to compare with."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from sagagraph.harness.judging.check import RuleVerdict, check
from sagagraph.harness.registry.harness import Harness


def differences(harness: Harness, artifacts: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield random artifacts with the rule that is judged otherwise, unless floats cannot tell on which side it is."""
    rng = random.Random(harness.rules[0].id)
    fields = sorted({field for rule in harness.rules for field in harness.fields_of(rule)})
    for _ in range(artifacts):
        artifact = {field: round(rng.uniform(0.5, 200), 2) for field in fields}
        for rule, result in zip(harness.rules, check(harness, artifact).rules, strict=True):
            try:
                expected = eval(rule.assertion, {"__builtins__": {}}, {"input": artifact})
            except (OverflowError, ZeroDivisionError):
                continue
            is_close = result.margin is not None and abs(result.margin) < 1e-9
            if not is_close and (result.verdict is RuleVerdict.PASS) is not expected:
                yield artifact, rule.id
