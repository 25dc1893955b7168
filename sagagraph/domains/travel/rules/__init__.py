"""Rules that a trip must keep, each a small function that yields what breaks the rule in a case."""
