"""Fleet: many workers that drive the sagas of one store (docs/fleet.md)."""
