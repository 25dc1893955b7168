"""Rules that a trip must keep, each a small function from a case to what breaks the rule there."""
