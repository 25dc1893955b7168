"""Logs: log lines of the commands go to standard error, and nowhere unless they are requested; a worker's warnings always go there."""

from __future__ import annotations

import sys
from enum import StrEnum


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    OFF = "off"


def warn_at_least(*, as_json: bool) -> None:
    """Show warnings, if nobody has asked for anything else."""
    import structlog

    if not structlog.is_configured():
        configure_logs(LogLevel.WARNING, as_json=as_json)


def configure_logs(level: LogLevel, *, as_json: bool) -> None:
    """Configure lines of at least `level`: one JSON document each, or text for people."""
    if level is LogLevel.OFF:
        return
    import structlog  # not needed, and slow to import, for most commands

    for_people = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    render = structlog.processors.JSONRenderer(ensure_ascii=False) if as_json else for_people
    structlog.configure(
        processors=[structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True), render],
        wrapper_class=structlog.make_filtering_bound_logger(level.value),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
