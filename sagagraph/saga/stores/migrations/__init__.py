"""Alembic migrations of the SQL stores, shipped with the package."""
