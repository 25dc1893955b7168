"""Planning: how planners run, and what a domain is to the engine: planner, validator, translation of plans into operations."""
