"""Decisions: the events that a command causes, or the error that says why it cannot be."""
