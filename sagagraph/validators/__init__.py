"""Validators: what they are, what they answer, how they run."""
