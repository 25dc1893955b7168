"""Coordination: missions, in which a team of agents works towards a goal within a budget (PRD-102)."""
