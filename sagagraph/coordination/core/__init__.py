"""Core: what a mission is and what follows from it, in PRD-102's terms. Pure."""
