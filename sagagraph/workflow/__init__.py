"""Workflows: operations, policies, conditions and well-formedness. Pure."""
