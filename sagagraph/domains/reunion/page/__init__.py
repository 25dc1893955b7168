"""Reunions on a page."""
