"""Conformance: what another engine's language keeps of a document, found out feature by feature (ALAS appendix A.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from sagagraph.errors import InvalidInputError
from sagagraph.workflow.language.document import Document, document_json, nodes_in, read_document
from sagagraph.workflow.language.terms import OWN_KEY, OWN_UUID
from sagagraph.workflow.operation import reference

Write = Callable[[Document], dict[str, Any]]
Read = Callable[..., Document]


class Kept(StrEnum):
    NATIVE = "its own fields"
    """Read back from what the language itself says, without the note."""
    NOTE = "the note"
    """Read back from the note that an export carries; the other engine does not know it."""
    LOST = "lost"


_TASK: Final = {"id": "a", "type": "task", "action": "f"}
_NEXT: Final = {"id": "b", "type": "task", "action": "g"}


def _with_policy(**terms: Any) -> dict[str, Any]:
    return {"nodes": [{**_TASK, "policyRef": "p0"}], "policies": {"p0": terms}}


def _repeated(mode: str = "fixed", base: float = 2, cap: float = 2, jitter: float = 0, **more: Any) -> dict[str, Any]:
    return _with_policy(retry={"maxAttempts": 3, **more}, backoff={"mode": mode, "base": base, "cap": cap, "jitter": jitter})


def _edge(**more: Any) -> dict[str, Any]:
    return {"nodes": [_TASK, _NEXT], "edges": [{"from": "a", "to": "b", **more}]}


def _inside(**node: Any) -> dict[str, Any]:
    return {"nodes": [{"id": "n", **node}], "policies": {"p0": {"loopGuards": {"maxIters": 9}}}}


_CATCH: Final = {"catch": [{"errors": ["Full"], "handler": "b"}]}
_UNDONE: Final = {"compensation": {"handler": "f/undo", "safeReinvoke": True}}
_GUARD: Final = {"kind": "output", "operation": "a", "path": ["n"], "comparison": ">", "value": 1}
_CHOICE: Final = {
    "nodes": [_TASK, {"id": "c", "type": "choice"}, _NEXT, {"id": "d", "type": "task", "action": "h"}],
    "edges": [
        {"from": "a", "to": "c"},
        {"from": "c", "to": "b", "kind": "branch", "guard": _GUARD},
        {"from": "c", "to": "d", "kind": "default"},
    ],
}
FEATURES: Final[Mapping[str, tuple[dict[str, Any], str]]] = {
    "task": (_edge(), "type"),
    "choice": (_CHOICE, "type"),
    "parallel": (_inside(type="parallel", branches=[{"nodes": [_TASK]}, {"nodes": [_NEXT]}]), "type"),
    "map": (_inside(type="map", items=["x"], body={"nodes": [_TASK]}, policyRef="p0"), "type"),
    "order": (_edge(), "edges"),
    "order of a graph that forks": (
        {"nodes": [_TASK, _NEXT, {"id": "c", "type": "task", "action": "h"}], "edges": [{"from": "a", "to": "c"}]},
        "edges",
    ),
    "guard of a choice": (_CHOICE, "guards"),
    "guard of another edge": (_edge(kind="branch", guard=_GUARD), "guards"),
    "repairability": (_edge(repairable="order"), "repairable"),
    "request": ({"nodes": [{**_TASK, "params": {"x": 1}}]}, "params"),
    "reference": ({**_edge(), "nodes": [_TASK, {**_NEXT, "params": {"x": reference("a", "id")}}]}, "params"),
    "reference in a list": ({**_edge(), "nodes": [_TASK, {**_NEXT, "params": {"x": [reference("a", "id"), 1]}}]}, "params"),
    "retry": (_repeated(), "retry"),
    "retry of some errors": (_repeated(retryOn=["Busy"]), "retry"),
    "back-off": (_repeated("exponential", 2, 8), "backoff"),
    "back-off below a second": (_repeated("fixed", 0.5, 1), "backoff"),
    "share of jitter": (_repeated(jitter=0.5), "backoff"),
    "catch": ({**_edge(), "nodes": [{**_TASK, "policyRef": "p0"}, _NEXT], "policies": {"p0": _CATCH}}, "catch"),
    "timeout": (_with_policy(timeout={"seconds": 30}), "timeout"),
    "idempotency key": (_with_policy(idempotencyKey={"template": OWN_KEY}), "idempotencyKey"),
    "idempotency key as a UUID": (_with_policy(idempotencyKey={"template": OWN_UUID}), "idempotencyKey"),
    "compensation": (_with_policy(**_UNDONE), "compensation"),
    "compensation in a map": (
        {
            "nodes": [{"id": "m", "type": "map", "items": ["x"], "body": {"nodes": [{**_TASK, "policyRef": "p0"}]}}],
            "policies": {"p0": _UNDONE, "default": {"loopGuards": {"maxIters": 9}}},
        },
        "compensation",
    ),
    "compensation by a person": (
        _with_policy(compensation={"handler": "f/undo", "safeReinvoke": True, "trigger": "manual"}),
        "compensation",
    ),
    "loop guards": (_with_policy(loopGuards={"maxIters": 7}), "loopGuards"),
    "schemas": ({"nodes": [{**_TASK, "io": {"output": {"type": "object"}}}]}, "io"),
    "log schemas": ({"nodes": [{**_TASK, "logSchemaRef": "l"}], "logSchemas": {"l": {"required": ["ts"]}}}, "logSchemaRef"),
}
"""Feature → a document that has it, and the field in which it is seen."""


def kept(feature: str, write: Write, read: Read) -> Kept:
    """Return how a language keeps a feature: write it, take the note away, and see whether it can still be read."""
    content, field = FEATURES[feature]
    document = read_document({"name": "w", **content})
    written = write(document)
    if _is_read(field, document, _without_note(written), read):
        return Kept.NATIVE
    return Kept.NOTE if _is_read(field, document, written, read) else Kept.LOST


def _is_read(field: str, document: Document, written: Mapping[str, Any], read: Read) -> bool:
    try:
        return bool(_seen(read(written), field) == _seen(document, field))
    except InvalidInputError:
        return False


def _without_note(written: Mapping[str, Any]) -> dict[str, Any]:
    bare = {name: each for name, each in written.items() if name != "Comment"}
    if "metadata" in bare:
        bare["metadata"] = {name: each for name, each in bare["metadata"].items() if name != "annotations"}
    return bare


def _seen(document: Document, field: str) -> Any:
    told = document_json(document)
    if field in ("edges", "guards", "repairable"):
        pick = {"edges": (), "guards": ("kind", "guard"), "repairable": ("repairable",)}[field]
        return sorted(((e["from"], e["to"], [str(e.get(each)) for each in pick]) for e in told.get("edges", ())), key=str)
    nodes = {each.id: each for each in nodes_in(document.graph)}
    if field in ("type", "params", "io", "logSchemaRef"):
        return {name: msgspec.to_builtins(each).get(field) for name, each in nodes.items()}
    own = {"idempotencyKey": "idempotency_key", "loopGuards": "loop_guards"}.get(field, field)
    return {name: getattr(document.policy_of(each), own) for name, each in nodes.items() if each.action}


def matrix(languages: Mapping[str, tuple[Write, Read]]) -> dict[str, dict[str, str]]:
    """Return feature → language → how it is kept."""
    return {
        feature: {name: kept(feature, write, read).value for name, (write, read) in languages.items()} for feature in FEATURES
    }
