"""What a domain is to the engine: a planner, a validator and a translation of plans into operations."""
