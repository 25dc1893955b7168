"""Agents that propose the parts of a plan, each from its own slice."""
