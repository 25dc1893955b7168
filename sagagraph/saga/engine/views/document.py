"""Documents: journals and states as JSON and as lines, for every door that shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime

from msgspec import Struct, structs

from sagagraph.saga.core import events as e
from sagagraph.workflow.values import Json


def plain(value: object) -> Json:
    """Return every field, including those that are left out in storage."""
    if isinstance(value, Struct):
        config = value.__struct_config__
        kind = {config.tag_field: config.tag} if config.tag_field else {}
        return plain({**structs.asdict(value), **kind})
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def entry_json(entry: e.Entry) -> dict[str, Json]:
    return {
        "version": entry.version,
        "epoch": entry.epoch,
        "at": _instant(entry),
        "type": type(entry.event).__name__,
        "data": plain(entry.event),
    }


def _instant(entry: e.Entry) -> str:
    return datetime.fromtimestamp(entry.at, UTC).isoformat(timespec="milliseconds")


def log_line(entry: e.Entry) -> str:
    """Return one line; of a plan that agents made, one more for what each of them said."""
    agents = entry.event.agents if isinstance(entry.event, e.PlanProposed) else ()
    return "\n".join([f"{_instant(entry)} {describe(entry)}", *map(_agent_line, agents)])


def _agent_line(said: Json) -> str:
    chosen = "; ".join(f"{part}: {some[0]['choose']} ({some[0]['reason']})" for part, some in said.get("candidates", {}).items())
    shown = f"{said.get('by', 'search')}, shown {said['slice_tokens']} tokens ({said['slice_hash']})"
    return f"      {said['agent']} agent, {shown}: {' '.join(chosen.split()) or 'nothing to choose'}"


_NAMED = (
    *("operation", "saga", "generation", "attempt", "key", "answer", "via", "reason", "cause", "detail", "by", "plan_hash"),
    "store_epoch",
)


def describe(entry: e.Entry) -> str:
    """Describe one line of a journal, with the reason."""
    event = entry.event
    words = [f"{entry.version:4d}", type(event).__name__]
    for name in _NAMED:
        value = getattr(event, name, None)
        if value not in (None, ""):
            words.append(f"{name}={value}" if name != "operation" or not hasattr(value, "id") else f"operation={value.id}")
    if isinstance(event, e.LocksAwaited):
        words += [f"{each.key} (saga {each.saga}, operation {each.operation})" for each in event.blockers]
    fault = getattr(event, "fault", None)
    if isinstance(fault, e.Fault):
        words.append(f"fault={fault.code}: {fault.message}")
    return " ".join(words)
