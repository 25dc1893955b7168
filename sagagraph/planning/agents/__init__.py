"""Agents: who proposes the parts of a plan, each from its own slice."""
