"""Rules of a cooking plan: one function for each; a fault is reported once, at its own row."""
