"""Rules of a cooking plan, by concern: each validator is shown slices of its own; a fault is reported once, at its own row."""
