"""Maintenance of journals: replay, redaction, retention."""
