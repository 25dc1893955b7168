"""Stores: journals in memory, in SQLite or in PostgreSQL."""
