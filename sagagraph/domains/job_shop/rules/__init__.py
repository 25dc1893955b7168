"""Rules of a schedule: one function for each; a fault is reported once, at its own row."""
