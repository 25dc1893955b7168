"""Nested graphs: plain graphs, agents and tasks that run inside a node, and what they did there."""
