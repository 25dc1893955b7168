"""Where journals live: in memory, in SQLite, in PostgreSQL."""
