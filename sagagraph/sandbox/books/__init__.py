"""Books: what was booked, paid and given back, what is left, and what is remembered of every call."""
