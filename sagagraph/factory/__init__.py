"""Factory: workflows from blueprints, their roles filled from a roster, carried out as sagas (ALAS layers 1 to 3)."""
