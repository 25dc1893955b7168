"""A tracer whose spans are kept, and a structlog whose lines are kept."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Recorded:
    """The spans of a test, once they have ended."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = self.provider.get_tracer("test")

    @property
    def spans(self) -> list[ReadableSpan]:
        return sorted(self._exporter.get_finished_spans(), key=lambda span: span.start_time or 0)

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        (span,) = self.named(name)
        return span

    def tree(self) -> list[Any]:
        """`(name, operation, outcome or verdict, children)` of each span, in the order in which they began."""
        return self._below(None)

    def _below(self, parent: int | None) -> list[Any]:
        found = [span for span in self.spans if (span.parent.span_id if span.parent else None) == parent]
        return [(*_label(span), self._below(span.context.span_id)) for span in found]

    def text(self) -> str:
        """All that would be exported."""
        return "\n".join(span.to_json() for span in self.spans)


def _label(span: ReadableSpan) -> tuple[Any, ...]:
    about = span.attributes or {}
    return span.name, about.get("operation.id"), about.get("outcome") or about.get("verdict")


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


class Lines:
    def __init__(self) -> None:
        self.file = io.StringIO()

    def forget(self) -> None:
        self.file.seek(0)
        self.file.truncate()

    @property
    def text(self) -> str:
        return self.file.getvalue()

    @property
    def all(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    @property
    def events(self) -> list[str]:
        return [line["event"] for line in self.all]

    def one(self, event: str) -> dict[str, Any]:
        (line,) = [line for line in self.all if line["event"] == event]
        return line


@pytest.fixture
def lines() -> Iterator[Lines]:
    """All lines that are logged from debug on, as JSON."""
    written = Lines()
    structlog.configure(
        processors=[structlog.processors.add_log_level, structlog.processors.JSONRenderer()],
        logger_factory=structlog.PrintLoggerFactory(written.file),
    )
    yield written
    structlog.reset_defaults()
