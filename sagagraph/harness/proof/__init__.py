"""Proof: whether any artifact can satisfy the rules; certificates, conflicts, relaxations."""
