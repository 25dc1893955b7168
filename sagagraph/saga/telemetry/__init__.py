"""Telemetry: log lines and spans that show operators a running saga (docs/telemetry.md). Nothing is decided here."""
