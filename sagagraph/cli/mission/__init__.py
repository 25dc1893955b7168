"""Missions on the command line."""
