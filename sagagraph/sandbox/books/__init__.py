"""Books: what was booked, paid and refunded, what is left, and what is remembered of every call."""
