"""Temporal: keeps the timers, queues and versions of a fleet. It learns ids and instants, and nothing of what sagas do."""
