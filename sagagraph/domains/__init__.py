"""Domains: one folder for each; its entry point makes it known to the registry."""
