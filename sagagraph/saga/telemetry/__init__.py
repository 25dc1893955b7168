"""What operators see of a saga while it runs: log lines and spans (docs/telemetry.md). Nothing is decided in here."""
