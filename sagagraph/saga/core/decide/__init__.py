"""Decisions: the events that a command causes, or the error that says why it is not allowed."""
