"""Certificates: what a search has refuted, as a document that the checker replays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sagagraph.harness.proof.checker import Replayed, replay, seal, stated_domains
from sagagraph.harness.proof.search import Found
from sagagraph.harness.proof.system import System
from sagagraph.harness.registry.harness import Harness


def certificate_of(harness: Harness, system: System, found: Found, values: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the certificate of a refuted system. `harness`: as in its file; `values`: of parameters, where an overlay has
    others.
    """
    return seal(
        {
            "harness": harness.hash,
            "rules": list(system.rules),
            "values": dict(values or {}),
            "domains": stated_domains(harness),
            "tree": found.tree,
        }
    )


def accepted(harness: Harness, certificate: Mapping[str, Any]) -> Replayed:
    """Replay it at once: what the checker refuses is never called a proof."""
    return replay(harness, certificate)
