"""Doubt: what may be done about operations whose outcome nobody knows, and what would settle them. Pure."""
