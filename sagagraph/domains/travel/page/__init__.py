"""Trips on a page."""
